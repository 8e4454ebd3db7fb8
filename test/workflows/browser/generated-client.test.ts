/** A client that a generator makes of the API's description: it compiles under strict rules, and drives a turn. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { startApi } from '../../support/started-engines/api.js';
import { temporaryFolder } from '../../support/temporary.js';

/** A backend's program, as its author writes it on the generated client. */
const PROGRAM = `
import { createClient } from './api/client/index.js';
import { createConversation, getTurn, resolveToolCall } from './api/index.js';

export async function drive(baseUrl: string, id: string): Promise<readonly string[]> {
  const client = createClient({ baseUrl, throwOnError: true });
  const body = { agent: 'desk', id, message: 'Pay 3, please.', requestId: 'first' };
  const { data: sent } = await createConversation({ client, body, query: { wait: 'result' }, throwOnError: true });
  if (sent.status !== 'waiting') throw new Error(sent.status);
  const [call] = sent.pending;
  if (call === undefined) throw new Error('nothing waits');
  const { data: reply } = await resolveToolCall({
    client,
    path: { id, callId: call.toolCallId },
    body: { resolution: { type: 'approve' }, requestId: 'second' },
    throwOnError: true,
  });
  const { data: turn } = await getTurn({ client, path: { turnId: sent.turnId }, query: { timeout: '20s' }, throwOnError: true });
  if (turn.status !== 'completed') throw new Error(turn.status);
  return [call.name, call.kind, reply.verdict, turn.text];
}
`;

interface Program {
  readonly drive: (baseUrl: string, id: string) => Promise<readonly string[]>;
}

const OPTIONS = {
  compilerOptions: {
    ...{ target: 'ES2023', lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: [] },
    ...{ module: 'NodeNext', strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true },
  },
  files: ['program.ts'],
};

/** Compiles the program with the client. @throws with what the compiler finds */
function compile(folder: string): void {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS));
  const manifest = fileURLToPath(import.meta.resolve('typescript7/package.json'));
  const tsc = join(dirname(manifest), 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
}

test('a client generated from the description compiles, and drives a turn with an approval', {
  ...promise('G340'),
  timeout: patient(120_000),
}, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'api'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await createClient({
    input: openApiDocument('0.0.0') as never,
    output: { path: join(folder, 'api'), module: { extension: '.js' } },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent', file: false },
  });
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  compile(folder);

  const pay = defineTool({
    ...{ name: 'pay', description: 'Pays.', input: z.object({ n: z.int() }), approval: 'required' },
    effects: 'once',
    run: ({ n }) => ({ paid: n }),
  });
  const model = script(calls('pay', { n: 3 }), says('Paid.'));
  const agent = defineAgent({ name: 'desk', instructions: 'Help.', model, tools: [pay] });
  const engine = await startEngine({ agents: [agent] });
  const url = await startApi(engine, [manifestOf(agent)]);
  const { drive } = (await import(pathToFileURL(join(folder, 'program.js')).href)) as Program;
  expect(await drive(url, engine.begin().id)).toEqual(['pay', 'approval', 'accepted', 'Paid.']);
});
