/** A tool that runs in another place: in a worker process of its own, which polls another task queue. */
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from 'colloquy/dev';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = fileURLToPath(new URL('../fixtures/elsewhere.ts', import.meta.url));
const MESSAGE = 'where are you?';

let world: World;
let elsewhere: Child | undefined;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS });
  world.model.answer(MESSAGE, ({ results }) =>
    results.length === 0
      ? {
          calls: [
            { name: 'there', input: {} },
            { name: 'here', input: {} },
          ],
        }
      : { text: 'found' },
  );
});
afterAll(async () => {
  await elsewhere?.stop();
  await world.stop();
});

describe('a tool with its own task queue', () => {
  it('waits for a worker of that queue, runs in its process with its services, and may request a retry; the rest of the step runs at home', {
    ...promise('G120'),
  }, async () => {
    const talk = world.talk('elsewhere-1');
    await talk.begin('traveller', MESSAGE);
    const resultOf = async (name: string) =>
      (await talk.eventsOf('tool_result')).find((event) => event.name === name)?.result;
    await until('the tool at home has run', () => resultOf('here'), { timeoutMs: 60_000 });
    // Both workers have the same agents; only the queue decides.
    expect(await resultOf('there')).toBeUndefined();
    elsewhere = await startChild({
      name: 'elsewhere',
      args: ['worker', '--agents', AGENTS],
      env: { ...world.env, COLLOQUY_TASK_QUEUE: 'gpu', E2E_PLACE: 'gpu' },
    });
    await talk.ended();
    const home = world.stack.worker().pid;
    expect(elsewhere.pid).not.toBe(home);
    expect(await resultOf('there')).toMatchObject({
      envelope: { ok: true, result: { place: 'gpu', attempt: 2, pid: elsewhere.pid } },
    });
    expect(await resultOf('here')).toMatchObject({
      envelope: { ok: true, result: { place: 'home', pid: home } },
    });
    expect(world.model.asked(MESSAGE)).toBe(2);
  });
});
