/** A person works with conversations from a terminal, with the commands that `colloquy` prints. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellQuote } from '../../../src/protocol/workflow/shown-text.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { colloquy, MAIN } from '../support/processes.js';
import { startWorld, type World } from '../support/world.js';

const run = promisify(execFile);
const MESSAGE =
  'My order arrived broken: please refund 75.00 for payment p_1. Look up the weather in Berlin, read my cart and ask me for my shoe size, all at once.';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const env = () => ({
  COLLOQUY_DATA: world.folder,
  TEMPORAL_ADDRESS: world.server.address,
  COLLOQUY_TASK_QUEUE: world.taskQueue,
});

/** The exit code and the output of a command, which writes no error. */
async function said(...args: readonly string[]): Promise<readonly [unknown, string]> {
  const command = colloquy(args, env());
  const code = await command.ended;
  expect(command.stderr()).toBe('');
  return [code, command.stdout()];
}

/** Runs a printed command in a shell in which `colloquy` is this one. */
async function typed(command: string): Promise<{ stdout: string; stderr: string }> {
  const bin = join(temporaryFolder(), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'colloquy'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(process.execPath, join(bin, 'node'));
  const path = `${bin}:${process.env['PATH'] ?? ''}`;
  return await run('sh', ['-c', command], { env: { ...process.env, ...env(), PATH: path } });
}

describe('the commands on conversations', promise('G338'), () => {
  it('send a message, list what waits, and answer it by the commands that were printed', async () => {
    const [, sent] = await said('send', 'order-1', MESSAGE, '--agent', 'support', '--as', 'ann');
    expect(sent).toContain('waits for: approval of payments.refund  default~order-1~call_2');
    expect(sent).toMatch(/next: colloquy pending order-1\n$/);
    const [, list] = await said('list', '--status', 'awaiting_input');
    expect(list).toMatch(
      /^ID +TITLE +AGENT +STATUS +WAITS FOR +UPDATED\norder-1 +My order arrived broken: .* +support +awaiting_input/,
    );

    const [, pending] = await said('pending');
    const commands = pending.split('\n').flatMap((line) => /colloquy resolve .*/.exec(line) ?? []);
    expect(commands).toHaveLength(3);
    for (const command of commands)
      expect(await typed(command)).toEqual({ stdout: 'accepted\n', stderr: '' });
    expect(await said('pending')).toEqual([0, 'Nothing waits.\n']);
    const late = await said('resolve', 'default~order-1~call_2', '--deny', 'too late');
    expect(late).toEqual([1, expect.stringMatching(/^stale: already_resolved, /)]);

    const [, whole] = await said('tail', 'order-1', '--until-idle');
    expect(whole).toMatch(/turn_ended +completed\n$/);
    const [, tail] = await said('tail', 'order-1', '--until-idle', '--last', '2');
    expect(tail).toMatch(
      /assistant_message +Here is where we are[^\n]*\n[^\n]*turn_ended +completed\n$/,
    );
    const [, log] = await said('export', 'order-1');
    const events = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const [, first] = await said('export', 'order-1');
    expect(first).toContain('"actor":{"id":"ann"');
    // Its reader has left before the first line.
    const unread = await typed('set -e; { colloquy export order-1; echo "$?" >&2; } | true');
    expect(unread).toEqual({ stdout: '', stderr: '0\n' });
  });

  it('show a conversation, follow it to its end, stop and close it; as JSON for programs', async () => {
    await said('send', 'order-2', MESSAGE, '--agent', 'support', '--wait', '0');
    await world.talk('order-2').waiting(3);
    const [, shown] = await said('show', 'order-2');
    expect(shown).toMatch(
      /^order-2 {2}awaiting_input\ntitle {5}My order arrived .*\nagent {5}support/,
    );
    expect(shown).toContain('colloquy resolve default~order-2~call_2 --approve');
    const following = colloquy(['tail', 'order-2', '--follow', '--json'], env());
    await following.prints(/"type":"suspension"/);
    expect((await said('cancel', 'order-2', '--reason', 'wrong order'))[1]).toMatch(
      /^cancelled turn turn_/,
    );
    expect(await said('cancel', 'order-2')).toEqual([0, 'No turn runs.\n']);
    const [, snapshot] = await said('show', 'order-2', '--json');
    expect(JSON.parse(snapshot)).toMatchObject({ status: 'idle', pending: [] });
    expect(await said('close', 'order-2')).toEqual([0, 'closed order-2\n']);
    expect(await following.ended).toBe(0);
    const last = following.stdout().trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ type: 'conversation_closed' });
    const [code, again] = await said('tail', 'order-2', '--follow', '--last', '1');
    expect([code, again]).toEqual([0, expect.stringContaining('conversation_closed')]);
  });

  it('list by pages what waits, and print verdicts and next commands for other programs', async () => {
    const folder = world.folder;
    for (const id of ['order-3', 'order-4'])
      await said('send', id, MESSAGE, '--agent', 'support', '--wait', '0', '--tenant', 'acme');
    const page = async (...more: readonly string[]) =>
      JSON.parse((await said('pending', '--tenant', 'acme', '--json', ...more))[1]) as {
        pending: readonly { conversationId: string; ref: string }[];
        nextCursor?: string;
      };
    await until('both conversations wait', () => page(), {
      holds: ({ pending }) => pending.length === 6,
    });
    const first = await page('--limit', '1');
    const second = await page('--limit', '1', '--cursor', first.nextCursor ?? '');
    expect([first, second].map(({ pending }) => pending.length)).toEqual([3, 3]);
    expect(first.pending[0]?.conversationId).not.toBe(second.pending[0]?.conversationId);
    const [, text] = await said('pending', '--tenant', 'acme', '--limit', '1');
    expect(text).toContain(`There are more: --cursor ${first.nextCursor ?? ''}\n`);
    const [, sent] = await said(
      ...['send', 'order-3', 'And?', '--tenant', 'acme', '--data', folder, '--wait', '1'],
    );
    expect(sent).toContain(`colloquy pending order-3 --tenant acme --data ${folder}\n`);
    const ref = first.pending[0]?.ref ?? '';
    const answers = await Promise.all([
      said('resolve', ref, '--deny', '--json', '--request-id', 'r1'),
      said('resolve', 'acme~order-3~none', '--deny', '--json'),
    ]);
    expect(answers.map(([code, json]) => [code, JSON.parse(json) as object])).toEqual([
      [0, expect.objectContaining({ verdict: 'accepted', httpStatus: 200, requestId: 'r1' })],
      [1, expect.objectContaining({ verdict: 'unknown', httpStatus: 404 })],
    ]);
  });

  it('talk to an agent in a chat, answer what waits there, and find the chat again', {
    ...promise('G350'),
  }, async () => {
    const chat = async (id: string, ...typedLines: readonly string[]) => {
      const text = typedLines.map((line) => `${line}\n`).join('');
      const command = `printf '%s' ${shellQuote(text)} | colloquy chat ${id} --agent support --as ann`;
      const { stdout, stderr } = await typed(command);
      expect(stderr).toBe('');
      return stdout;
    };
    const first = await chat('talk-1', MESSAGE, '/approve', '/bogus', '/answer 43', '/quit', 'x');
    expect(first).toContain('waits     talk-1: approval of `payments.refund`');
    expect(first).toMatch(/\/approve or \/deny \[reason\]\n/);
    expect(first).toMatch(/\n {2}accepted\n[^]*payments\.refund returned \{"refundId"/);
    expect(first).toContain('  /bogus is not known. /help lists the words\n');
    const again = await chat('talk-1', '/stop', '/approve');
    expect(again).toContain(`ann: ${MESSAGE}\n`);
    expect(again).toMatch(/\n {2}cancelled\n {2}nothing waits\n$/);
  });

  it('play a turn again, list the what-ifs, show one, and find that one is over', async () => {
    await said('send', 'order-5', MESSAGE, '--agent', 'support', '--wait', '0');
    await world.talk('order-5').waiting(3);
    expect(await said('what-ifs', 'order-5')).toEqual([0, 'No what-if.\n']);
    const [, played] = await said('what-if', 'order-5', '--instructions', 'Be brief.');
    expect(played).toMatch(
      /^what if, turn turn_\w+, agent support: diverged at step 1: .*\nstep 1: same\n/,
    );
    const list = await until('it is listed', () => said('what-ifs', 'order-5'), {
      holds: ([, text]) => / diverged /.test(text),
    });
    const [, id = ''] =
      /^ID +TURN .*\n(\S+) +turn_\w+ +support +diverged +1 +\d/.exec(list[1]) ?? [];
    expect(await said('what-ifs', 'order-5', '--show', id)).toEqual([0, played]);
    expect(await said('what-ifs', 'order-5', '--cancel', id)).toEqual([
      0,
      `${id} is over: diverged\n`,
    ]);
    const none = colloquy(['what-ifs', 'order-5', '--cancel', 'w-none'], env());
    expect(await none.ended).toBe(1);
    expect(none.stderr()).toContain('No what-if');
  });

  it.each([
    [['show', 'unknown'], 'No conversation "unknown"'],
    [['send', 'new', 'Hello'], 'agent: is needed to start a conversation'],
    [['resolve', 'default~a~b'], 'exactly one of --approve, --deny'],
    [['resolve', 'default~a~b', '--approve', '--deny'], 'exactly one of'],
    [['resolve', 'default~a~b', '--answer', 'yes'], '--answer must be JSON'],
    [['resolve', 'default~a~b', '--deny', '--input', '{}'], '--input edits the input of a call'],
    [['list', '--status', 'busy'], 'It must be one of idle, streaming'],
    [['list', '--limit', '101'], 'It must be a whole number from 0 to 100'],
    [['what-ifs', 'order-1', '--show', 'w', '--cancel', 'w'], 'cannot be used with'],
    [['what-ifs', 'order-1', '--cancel', 'w', '--limit', '2'], 'cannot be used with'],
  ])('say what is wrong with %j', async (args, problem) => {
    const command = colloquy(args, env());
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toContain(problem);
  });

  it('do nothing where there is no event log', async () => {
    const command = colloquy(['list'], { ...env(), COLLOQUY_DATA: temporaryFolder() });
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toContain('No event log at ');
  });
});
