/**
 * Sub-agents three levels deep wait for people while every worker is killed and another version is deployed: each call
 * is answered where it waits, in any order, and no call beside it runs again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Child, startChild } from 'colloquy/dev';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NestedPendingCall } from '../../../src/client/index.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { ROOT } from '../support/processes.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/nested.ts', import.meta.url).pathname;

let world: World;
let boss: Talk;
let patron: Talk;
let worker: Child | undefined;

const nested = async (talk: Talk): Promise<readonly NestedPendingCall[]> => {
  const { body } = await talk.call('/pending?nested=true');
  return (body['pending'] ?? []) as readonly NestedPendingCall[];
};

async function waiting(talk: Talk, count: number): Promise<readonly NestedPendingCall[]> {
  return await until(`${count} calls wait below ${talk.id}`, () => nested(talk), {
    holds: ({ length }) => length === count,
    timeoutMs: 60_000,
  });
}

/** Changes between the versions: the code of the tool, texts that the model reads, and the input schema. */
const CHANGES = (version: string) => [
  ["const VERSION = 'first'", `const VERSION = '${version}'`],
  ["'Removes a file.'", `'Removes a file, as the ${version} version does.'`],
  ["'Have files removed.'", `'Have files removed, as the ${version} version does.'`],
  ['path: z.string()', 'path: z.string().max(1_000)'],
];

/** Modules by the names that the source has, for a file outside of the repository. */
const MODULES = [
  ["'colloquy'", `'file://${ROOT}dist/index.js'`],
  ["'colloquy/testing'", `'file://${ROOT}dist/testing/index.js'`],
  ["'zod'", `'file://${ROOT}node_modules/zod/index.js'`],
];

/** The module of another version. */
async function versionOf(version: string): Promise<string> {
  let source = await readFile(AGENTS, 'utf8');
  for (const [old = '', changed = ''] of [...CHANGES(version), ...MODULES]) {
    expect(source).toContain(old);
    source = source.replace(old, changed);
  }
  const file = join(world.folder, `${version}.ts`);
  await writeFile(file, source);
  return file;
}

async function deploy(version: string): Promise<void> {
  const agents = await versionOf(version);
  await (worker ?? world.stack.worker()).kill();
  worker = await startChild({
    ...{ name: 'worker', args: ['worker', '--agents', agents] },
    env: { ...world.env },
  });
}

/** Answers a call in its own conversation. */
async function answer(call: NestedPendingCall | undefined, resolution: object): Promise<unknown> {
  const { conversationId = '', toolCallId = '' } = call ?? {};
  const reply = await until(
    'a worker judges the answer',
    () => world.talk(conversationId).resolve(toolCallId, resolution),
    { holds: ({ status }) => status === 200, timeoutMs: 60_000 },
  );
  return reply.body['verdict'];
}

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS });
  boss = world.talk('boss');
  patron = world.talk('patron');
  await boss.begin('boss', 'clean up');
  await patron.begin('patron', 'clean up later');
  await waiting(boss, 2);
  await waiting(patron, 1);
});
afterAll(async () => {
  await worker?.stop();
  await world.stop();
});

it(
  'two that wait at once are answered in either order, each across a kill and a deploy',
  promise('G317'),
  async () => {
    const calls = await waiting(boss, 2);
    expect(calls.map(({ agent, path }) => [agent, path.map(({ name }) => name)])).toEqual(
      expect.arrayContaining([
        ['deep', ['left', 'deep']],
        ['deep', ['right', 'deep']],
      ]),
    );
    const [left, right] = ['left', 'right'].map((name) =>
      calls.find(({ path }) => path[0]?.name === name),
    );
    await deploy('second');
    await answer(right, { type: 'approve', input: { path: 'edited' } });
    await waiting(boss, 1);
    const results = await until('it has reached the top', () => boss.eventsOf('tool_result'), {
      holds: ({ length }) => length > 0,
    });
    expect(results.map(({ name }) => name)).toEqual(['right']);
    await deploy('third');
    await answer(left, { type: 'deny', reason: 'keep it' });
    const { status, text } = await boss.ended();
    expect(status).toBe('completed');
    expect(text).toContain('keep it');
    expect(text).toContain('edited');
    // The sibling of the call that was answered last did not run again.
    expect(await world.lines('runs.jsonl')).toEqual([
      { name: 'files.remove', path: 'edited', version: 'second' },
    ]);
  },
);

it(
  'a detached one is answered by its own ref, and its answer is new input',
  promise('G317'),
  async () => {
    const [call] = await waiting(patron, 1);
    expect((await patron.ended()).text).toBe('goes on');
    await deploy('fourth');
    await answer(call, { type: 'approve' });
    expect((await patron.ended(2)).text).toContain('removed');
    expect(await nested(patron)).toEqual([]);
  },
);
