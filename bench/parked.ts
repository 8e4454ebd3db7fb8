/** Conversations that wait for approvals: what they cost while they wait, and how fast all are answered at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BurstResult, ParkedResult, Stillness } from './long-cells.js';
import type { Bench } from './processes.js';

/** Requests in flight at once: as a busy API has them. */
const BURST_AT_ONCE = 100;

export interface ParkedOptions {
  readonly counts: readonly number[];
  /** Nobody touches the conversations for this long. */
  readonly stillMs: number;
}

export interface ParkedCell {
  readonly count: number;
  readonly parkedMs: number;
  readonly before: Stillness;
  readonly after: Stillness;
  /** With a new worker, which knows none of them. */
  readonly restarted: Stillness;
  readonly burst: BurstResult;
}

export interface ParkedSummary extends Omit<ParkedCell, 'before' | 'after' | 'restarted'> {
  /** Events that were added to the histories of conversations that wait. None is the bar. */
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
    console.error(`${count} conversations come to wait for an approval`);
    const { tookMs: parkedMs } = await bench.ask<ParkedResult>({ type: 'park-approvals', count });
    const look = (): Promise<Stillness> => bench.ask<Stillness>({ type: 'stillness' });
    const before = await look();
    await sleep(stillMs);
    const after = await look();
    await bench.restartWorker();
    const restarted = await look();
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
