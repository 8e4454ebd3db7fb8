/** A worker whose main thread is blocked reports it during the block, in its log, with the running work. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  const agents = fileURLToPath(new URL('../fixtures/blocking.ts', import.meta.url));
  world = await startWorld({ agents });
});
afterAll(async () => {
  await world.stop();
});

type Line = Readonly<Record<string, unknown>>;

function lines(): readonly Line[] {
  return world.stack
    .worker()
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

const lineThat = (what: RegExp): Line | undefined =>
  lines().find(({ msg }) => what.test(String(msg)));

it('a tool that blocks its worker is named with its conversation during the block, and again when the worker continues', {
  ...promise('G273'),
}, async () => {
  world.model.answer('spin', ({ results }) =>
    results.length === 0
      ? { calls: [{ name: 'spin.round', input: { label: 'enough' } }] }
      : { text: 'dizzy' },
  );
  const talk = world.talk('round-1');
  await talk.begin('spinner', 'spin');
  const said = await until('the block is said', () => lineThat(/has been blocked/), {
    timeoutMs: 40_000,
  });
  expect(said).toMatchObject({
    level: 50,
    name: 'colloquy-worker',
    code: 'main_thread_blocked',
    underWay: [
      expect.stringMatching(
        /^activity runTool spin\.round of default\/round-1, call \S+/,
      ) as string,
    ],
  });
  const saidMs = Number(said?.['blockedMs']);
  expect(saidMs).toBeGreaterThanOrEqual(2_000);
  // Released only now, which proves that the report came during the block.
  await world.release('enough');
  expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'dizzy' });
  const over = await until('its end is said', () => lineThat(/runs again/));
  expect(over).toMatchObject({ level: 40, blocks: 1, longestMs: over?.['lastMs'] });
  expect(Number(over?.['lastMs'])).toBeGreaterThanOrEqual(saidMs);
});
