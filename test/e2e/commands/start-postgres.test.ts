/** `npm start -- --postgres`: the development stack with a Postgres server of its own. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';
import { temporaryFolderForAll } from '../../support/temporary.js';
import { call } from '../support/api.js';
import { type Command, processesWith, ROOT, start, untilNoneLeft } from '../support/processes.js';
import { Talk } from '../support/talk.js';

const SCRIPT = join(ROOT, 'dist', 'examples', 'demo', 'start.js');

interface Started {
  readonly command: Command;
  readonly api: string;
  readonly database: string;
}

function npmStart(data: string, mark: string, address: string): Command {
  return start(
    process.execPath,
    [SCRIPT, '--postgres', '--port', '0', '--data', data],
    // A process group of its own, as in a terminal.
    { env: { COLLOQUY_E2E_MARK: mark, TEMPORAL_ADDRESS: address }, leads: true },
  );
}

async function started(data: string, mark: string, address?: string): Promise<Started> {
  const command = npmStart(data, mark, address ?? `127.0.0.1:${await freePort()}`);
  const said = await command.prints(/^Ctrl-C stops everything/m);
  const database = /^postgres {2}(postgres:\S+) {2}data/m.exec(said)?.[1] ?? '';
  const api = /http:\/\/127\.0\.0\.1:\d+(?= {2}\(development)/.exec(said)?.[0] ?? '';
  return { command, api, database };
}

const ANSWERS: Readonly<Record<string, object>> = {
  approval: { type: 'deny' },
  elicitation: { type: 'answer', value: { answer: '42' } },
  client_execution: { type: 'result', value: { items: [] } },
};

/** Runs a whole turn of the demo's agent and answers all of its calls. */
async function talkThrough(api: string, id: string): Promise<void> {
  const talk = new Talk(id, () => api);
  await talk.begin('support', 'hello');
  for (const { toolCallId, kind } of await talk.waitingCalls(3)) {
    const reply = await talk.resolve(toolCallId, ANSWERS[kind] ?? {});
    expect(reply.body).toMatchObject({ verdict: 'accepted' });
  }
  expect(await talk.ended()).toMatchObject({ status: 'completed' });
}

async function rowsOf(database: string, id: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    const { rows } = await client.query<{ type: string }>(
      'SELECT type FROM colloquy.events WHERE conversation_id = $1 ORDER BY seq',
      [id],
    );
    return rows.map(({ type }) => type);
  } finally {
    await client.end();
  }
}

it('after a SIGKILL continues with the database and the Temporal server that it left running; a second start on the same data is refused', {
  ...promise('G231'),
}, async () => {
  const mark = randomUUID();
  const data = temporaryFolderForAll();
  const address = `127.0.0.1:${await freePort()}`;
  const first = await started(data, mark, address);
  await talkThrough(first.api, 'before');
  const before = await rowsOf(first.database, 'before');

  const another = npmStart(data, mark, address);
  expect(await another.ended).toBe(1);
  expect(another.stderr()).toMatch(
    /^colloquy: Postgres serves \S+ already \(process \d+, started by \d+\)\. Stop that first, or use another folder: --data\n$/,
  );
  await talkThrough(first.api, 'undisturbed');

  first.command.kill('SIGKILL');
  await first.command.ended;
  const second = await started(data, mark, address);
  expect(await rowsOf(second.database, 'before')).toEqual(before);
  await talkThrough(second.api, 'after');

  const ended = async ({ command }: Started): Promise<void> => {
    command.kill('SIGINT');
    expect(await command.ended).toBe(0);
  };
  await ended(second);
  const stop = /^temporal {2}runs on\. Stop it: (.+)$/m.exec(second.command.stdout())?.[1] ?? '';
  expect(stop).toContain(join(data, 'temporal.db'));

  const third = await started(data, mark, address);
  const [, temporal] =
    /^pid=(\d+)$/m.exec(readFileSync(join(data, 'temporal.db.run'), 'utf8')) ?? [];
  process.kill(Number(temporal), 'SIGKILL');
  const said = await third.command.prints(/^temporal {2}does not answer at .+$/m);
  const again = /Start it again: (.+)$/m.exec(said)?.[1] ?? '';
  const shell = (line: string) => start('bash', ['-c', line], { env: { COLLOQUY_E2E_MARK: mark } });
  expect(await shell(again).ended).toBe(0);
  await third.command.prints(/^temporal {2}answers again$/m);
  await ended(third);
  expect(await shell(stop).ended).toBe(0);
  await untilNoneLeft(`COLLOQUY_E2E_MARK=${mark}`);
});

it('keeps the log in Postgres over two starts, and each Ctrl-C leaves no process, also when it reaches the whole process group', {
  ...promise('G230'),
}, async () => {
  const variable = `COLLOQUY_E2E_MARK`;
  const mark = randomUUID();
  const data = temporaryFolderForAll();

  const first = await started(data, mark);
  await talkThrough(first.api, 'before');
  const before = await rowsOf(first.database, 'before');
  expect(before[0]).toBe('conversation_started');
  expect(before.at(-1)).toBe('turn_ended');
  expect(processesWith(`${variable}=${mark}`).some((line) => line.includes('postgres'))).toBe(true);
  first.command.kill('SIGINT');
  expect([await first.command.ended, first.command.stderr()]).toEqual([0, '']);
  await untilNoneLeft(`${variable}=${mark}`);

  const second = await started(data, mark);
  expect(await rowsOf(second.database, 'before')).toEqual(before);
  await talkThrough(second.api, 'after');
  expect((await rowsOf(second.database, 'after')).at(-1)).toBe('turn_ended');
  const listed = await call(`${second.api}/v1/conversations`);
  expect(listed.body['conversations']).toMatchObject([
    { conversationId: 'after' },
    { conversationId: 'before' },
  ]);
  // A terminal signals the database as well, which ends at once.
  process.kill(-second.command.pid, 'SIGINT');
  expect(await second.command.ended).toBe(0);
  await untilNoneLeft(`${variable}=${mark}`);
});
