/** Drives one cell and counts what falls into its window; and the shape of a turn's history. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { CellRequest, CellResult, ShapeResult, Spread, Workload } from '../cells.js';
import { type CpuReading, cpuBetween, readCpu } from './cpu.js';
import type { Begin, Talk } from './sides.js';

interface Turn {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly turnId: string | undefined;
}

/** Watchers get what the last turns of a window decided a little after those who wait. */
const TRAILING_MS = 400;

export async function measureCell(
  request: CellRequest,
  parts: {
    readonly begin: Begin;
    readonly pids: Readonly<Record<string, number>>;
    readonly watchedAt?: (turnId: string) => number | undefined;
  },
): Promise<CellResult> {
  const { begin, pids, watchedAt } = parts;
  const turns: Turn[] = [];
  const talks: Talk[] = [];
  const stop = new AbortController();
  const isOver = (): boolean => stop.signal.aborted;
  const lane = async (): Promise<void> => {
    while (!isOver()) {
      const talk = begin(request.workload);
      talks.push(talk);
      for (let count = 0; count < request.turnsPerConversation; count += 1) {
        if (isOver()) break;
        const startedAt = performance.now();
        const turnId = await talk.turn();
        turns.push({ startedAt, endedAt: performance.now(), turnId });
      }
    }
  };
  const lanes = Array.from({ length: request.lanes }, () =>
    lane().catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  const running = Promise.all(lanes);
  running.catch(() => undefined);
  const from = await readingIn(request.warmUpMs, pids, stop.signal);
  const until = await readingIn(request.windowMs, pids, stop.signal);
  stop.abort();
  await running;
  const inside = turns.filter(({ endedAt }) => endedAt >= from.atMs && endedAt < until.atMs);
  if (watchedAt !== undefined) await sleep(TRAILING_MS);
  const result = resultOf(inside, { from, until, watchedAt });
  await inBatches(talks, (talk) => talk.end());
  return result;
}

async function readingIn(
  milliseconds: number,
  pids: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<CpuReading> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  return readCpu(pids);
}

function resultOf(
  turns: readonly Turn[],
  window: {
    readonly from: CpuReading;
    readonly until: CpuReading;
    readonly watchedAt: ((turnId: string) => number | undefined) | undefined;
  },
): CellResult {
  const { from, until, watchedAt } = window;
  const { byName, foreign } = cpuBetween(from, until);
  const cpu = Object.fromEntries(
    Object.entries(byName).map(([name, ms]) => [name, ms / Math.max(1, turns.length)]),
  );
  const watched = turns.flatMap(({ startedAt, turnId }) => {
    const at = turnId === undefined ? undefined : watchedAt?.(turnId);
    return at === undefined ? [] : [at - startedAt];
  });
  if (watchedAt !== undefined && watched.length < turns.length * 0.9)
    throw new Error(`watchers saw ${watched.length} of ${turns.length} turns end`);
  return {
    turns: turns.length,
    turnsPerSecond: turns.length / ((until.atMs - from.atMs) / 1_000),
    latency: spreadOf(turns.map(({ startedAt, endedAt }) => endedAt - startedAt)),
    ...(watchedAt === undefined ? {} : { watched: spreadOf(watched) }),
    cpu,
    foreignCpu: foreign,
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** Closing is not measured, and must not pile up. */
async function inBatches<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += 8)
    await Promise.all(items.slice(from, from + 8).map(work));
}

/** Runs one conversation alone and looks at its history after the first and after the last turn. */
export async function measureShape(
  temporal: Client,
  begin: Begin,
  what: { readonly workload: Workload; readonly turns: number },
): Promise<ShapeResult> {
  const talk = begin(what.workload);
  const handle = temporal.workflow.getHandle(talk.workflowId);
  await talk.turn();
  const first = await handle.describe();
  for (let count = 1; count < what.turns; count += 1) await talk.turn();
  const last = await handle.describe();
  const { events } = await handle.fetchHistory();
  await talk.end();
  const later = what.turns - 1;
  const types: Record<string, number> = {};
  for (const event of events ?? []) {
    const type = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? 'other';
    const name = type.replace('EventAttributes', '');
    types[name] = (types[name] ?? 0) + 1 / what.turns;
  }
  return {
    eventsPerTurn: (last.historyLength - first.historyLength) / later,
    bytesPerTurn: ((last.historySize ?? 0) - (first.historySize ?? 0)) / later,
    types,
  };
}
