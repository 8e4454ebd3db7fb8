/** A worker or API whose main thread is blocked reports it during the block, in its log, with the running work. */
import { fileURLToPath } from 'node:url';
import type { Child } from 'colloquy/dev';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { call } from '../support/api.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/blocking.ts', import.meta.url);
const STALLING = new URL('../fixtures/stalling-store.ts', import.meta.url);
const STALLED = 'stalled-1';

let world: World;
beforeAll(async () => {
  const preload = `--import=${STALLING.href}`;
  world = await startWorld({
    agents: fileURLToPath(AGENTS),
    env: { NODE_OPTIONS: preload, E2E_STALLED: STALLED },
  });
});
afterAll(async () => {
  await world.stop();
});

type Line = Readonly<Record<string, unknown>>;

function lineThat(what: RegExp, child: Child): Line | undefined {
  return child
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .find(({ msg }) => what.test(String(msg)));
}

/** Waits for the line during a block, and checks it and the line after its end. */
async function expectReported(
  child: Child,
  { name, underWay, release }: { name: string; underWay: RegExp; release: () => Promise<unknown> },
): Promise<void> {
  const said = await until('the block is said', () => lineThat(/has been blocked/, child), {
    timeoutMs: 40_000,
  });
  expect(said).toMatchObject({
    level: 50,
    name,
    code: 'main_thread_blocked',
    underWay: [expect.stringMatching(underWay) as string],
  });
  const saidMs = Number(said?.['blockedMs']);
  expect(saidMs).toBeGreaterThanOrEqual(2_000);
  // Released only now, which proves that the report came during the block.
  await release();
  const over = await until('its end is said', () => lineThat(/runs again/, child));
  expect(over).toMatchObject({ level: 40, name, blocks: 1, longestMs: over?.['lastMs'] });
  expect(Number(over?.['lastMs'])).toBeGreaterThanOrEqual(saidMs);
}

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
  await expectReported(world.stack.worker(), {
    name: 'colloquy-worker',
    underWay: /^activity runTool spin\.round of default\/round-1, call \S+/,
    release: () => world.release('enough'),
  });
  expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'dizzy' });
});

it('a request that blocks the API is named during the block, without its query, and again when the API continues', {
  ...promise('G273'),
}, async () => {
  const asked = call(`${world.apiUrl}/v1/conversations/${STALLED}?atLeastSeq=1`);
  await expectReported(world.stack.api, {
    name: 'colloquy-api',
    underWay: new RegExp(`^request GET /v1/conversations/${STALLED}$`),
    release: () => world.release(STALLED),
  });
  expect((await asked).status).toBe(404);
});
