/** Two tool workers and two API processes: one worker is killed each second, and an API process twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { type Child, startChild } from '../../support/servers/children.js';
import { until } from '../../support/until.js';
import { DEV_SECRET } from '../support/api.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const CONVERSATIONS = 10;
const CALLS = 60;
/** Kills of a tool worker, a second apart. */
const KILLS = 12;

interface Line {
  readonly type: 'end' | 'failure' | 'ready' | 'start';
  readonly at: number;
  readonly claimId: string;
  readonly ref: string;
}

let world: World;
beforeAll(async () => {
  world = await startWorld({
    agents: fileURLToPath(new URL('agents.ts', import.meta.url)),
  });
});
afterAll(() => world.stop());

/** A worker, and when it was killed. */
class RenderWorker {
  readonly child: Child;
  killedAt: number | undefined;

  constructor(apis: readonly string[]) {
    this.child = startChild(new URL('render-worker.ts', import.meta.url), [DEV_SECRET, ...apis]);
  }

  get lines(): readonly Line[] {
    return this.child.lines as readonly Line[];
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.child.ended;
    this.killedAt = Date.now();
  }
}

/** The claims of each call by its log, in order; each ends before the next begins, and the last one with the answer. */
async function holdersIn(talk: Talk): Promise<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>();
  const holding = new Map<string, string>();
  const answered = new Set<string>();
  for (const event of await talk.events()) {
    if (event.type === 'claimed') {
      const { toolCallId, claimId } = event;
      if (event.renewal === true) continue;
      expect(holding.has(toolCallId)).toBe(false);
      holding.set(toolCallId, claimId);
      holders.set(toolCallId, [...(holders.get(toolCallId) ?? []), claimId]);
    }
    if (event.type === 'lease_lost') holding.delete(event.toolCallId);
    if (event.type !== 'resolution') continue;
    const { toolCallId, resolution, requestId } = event;
    const claimId = holding.get(toolCallId);
    expect(answered.has(toolCallId)).toBe(false);
    expect(requestId).toBe(`tool-worker-${claimId ?? 'none'}`);
    expect(resolution).toMatchObject({ type: 'result', value: { claimId } });
    answered.add(toolCallId);
    holding.delete(toolCallId);
  }
  expect(answered.size).toBe(CALLS / CONVERSATIONS);
  return holders;
}

/** The times at which a handler ran for a claim: to its end, or to the kill of its process. */
function runsOf(workers: readonly RenderWorker[]) {
  return workers.flatMap(({ lines, killedAt }) =>
    lines
      .filter(({ type }) => type === 'start')
      .map(({ claimId, ref, at }) => {
        const end = lines.find((line) => line.type === 'end' && line.claimId === claimId)?.at;
        return { claimId, ref, from: at, to: end ?? killedAt ?? Number.POSITIVE_INFINITY };
      }),
  );
}

it('tool workers that are killed all the time answer every call once, each under the one claim of its moment', {
  ...promise('G363'),
}, async () => {
  let second = await world.startApi(0);
  const port = Number(new URL(second.url).port);
  const apis = [world.apiUrl, second.url];
  const workers = [new RenderWorker(apis), new RenderWorker(apis)];
  const running = [...workers];
  const talks = Array.from({ length: CONVERSATIONS }, (_, index) => world.talk(`film-${index}`));
  await until('both workers are ready', () => workers.every(({ lines }) => lines.length > 0));
  for (const talk of talks) await talk.begin('director', 'Six scenes, please.');

  for (let kill = 0; kill < KILLS; kill += 1) {
    // Not a wait for anything: the kills come while the work goes on.
    for (let part = 0; part < 20; part += 1) await sleep(50);
    const place = kill % running.length;
    await running[place]?.kill();
    const next = new RenderWorker(apis);
    running[place] = next;
    workers.push(next);
    if (kill !== 3 && kill !== 7) continue;
    await second.kill();
    second = await world.startApi(port);
  }
  for (const talk of talks) expect((await talk.ended()).status).toBe('completed');
  for (const worker of running) await worker.kill();

  const holders = new Map<string, readonly string[]>();
  for (const talk of talks)
    for (const [toolCallId, claimIds] of await holdersIn(talk))
      holders.set(`default~${talk.id}~${toolCallId}`, claimIds);
  expect(holders.size).toBe(CALLS);
  const runs = runsOf(workers);
  expect(new Set(runs.map(({ claimId }) => claimId)).size).toBe(runs.length);
  for (const [ref, claimIds] of holders) {
    const own = runs.filter((run) => run.ref === ref).toSorted((a, b) => a.from - b.from);
    expect(claimIds).toEqual(expect.arrayContaining(own.map(({ claimId }) => claimId)));
    for (const [index, { from }] of own.entries())
      if (index > 0) expect(from).toBeGreaterThanOrEqual(own[index - 1]?.to ?? 0);
  }
  // The kills came in the middle of the work.
  expect(runs.length).toBeGreaterThan(CALLS);
  const failures = workers.flatMap(({ lines }) => lines.filter(({ type }) => type === 'failure'));
  expect(failures).toEqual([]);
});
