/**
 * Conversations that wait for approvals: their cost while they wait, and the time in which all of them are approved at
 * once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BurstResult, ParkedResult, Stillness } from '../shared/long-cells.js';
import type { Bench } from './processes.js';

/** Parallel requests, as of a busy API. */
const BURST_AT_ONCE = 100;

export interface ParkedOptions {
  readonly counts: readonly number[];
  /** The conversations get no input for this long. */
  readonly stillMs: number;
}

export interface ParkedCell {
  readonly count: number;
  readonly parkedMs: number;
  readonly before: Stillness;
  readonly after: Stillness;
  /** The state with a new worker, which has none of them in its cache. */
  readonly restarted: Stillness;
  readonly burst: BurstResult;
}

export interface ParkedSummary extends Omit<ParkedCell, 'before' | 'after' | 'restarted'> {
  /** Events added to the histories of waiting conversations. The bar is zero. */
  readonly wakeUps: number;
  readonly parkedRssBytes: Readonly<Record<string, number>>;
  readonly restartedRssBytes: Readonly<Record<string, number>>;
  readonly met: boolean;
}

export async function measureParked(
  bench: Bench,
  { counts, stillMs }: ParkedOptions,
): Promise<readonly ParkedCell[]> {
  const cells: ParkedCell[] = [];
  for (const count of counts) {
    console.error(`${count} conversations wait for an approval`);
    const { tookMs: parkedMs } = await bench.ask<ParkedResult>({ type: 'park-approvals', count });
    const stillness = (): Promise<Stillness> => bench.ask<Stillness>({ type: 'stillness' });
    const before = await stillness();
    await sleep(stillMs);
    const after = await stillness();
    await bench.restartWorker();
    const restarted = await stillness();
    const burst = await bench.ask<BurstResult>({ type: 'burst', atOnce: BURST_AT_ONCE });
    const { verdictsMs, answersMs, verdicts } = burst;
    const seconds = [verdictsMs, answersMs].map((ms) => (ms / 1_000).toFixed(1)).join(' s, ');
    console.error(`verdicts and answers after ${seconds} s: ${JSON.stringify(verdicts)}`);
    cells.push({ count, parkedMs, before, after, restarted, burst });
  }
  return cells;
}

export function parkedSummary(cell: ParkedCell): ParkedSummary {
  const { before, after, restarted, ...rest } = cell;
  const wakeUps = restarted.historyEvents - before.historyEvents;
  const isStill = [before, after, restarted].every(
    ({ running, pendingTasks, pendingActivities }) =>
      running === cell.count && pendingTasks === 0 && pendingActivities === 0,
  );
  return {
    ...rest,
    wakeUps,
    parkedRssBytes: after.rssBytes,
    restartedRssBytes: restarted.rssBytes,
    met: isStill && wakeUps === 0,
  };
}
