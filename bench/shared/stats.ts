/** Medians over rounds, and the bar. */
import type { CellResult, PairResult, Workload } from './cells.js';

/** Engine relative to floor: the minimum of turns a second, the maximum of median latency. */
export const BAR = { throughput: 0.9, p50: 1.2 } as const;

/** One engine and one floor measurement of a cell, alternating. */
export type Pair = PairResult;

export interface Cell {
  readonly workload: Workload;
  readonly lanes: number;
  readonly pairs: readonly Pair[];
}

export interface SideSummary {
  readonly turnsPerSecond: number;
  readonly p50: number;
  readonly p95: number;
  /** Median of the rounds' medians for an SSE watcher. */
  readonly watchedP50?: number;
  readonly cpu: Readonly<Record<string, number>>;
}

export interface CellSummary {
  readonly workload: Workload;
  readonly lanes: number;
  readonly engine: SideSummary;
  readonly floor: SideSummary;
  /** Medians of the ratios of each pair, so that drift between rounds cancels. */
  readonly throughputRatio: number;
  readonly p50Ratio: number;
  readonly met: boolean;
  readonly foreignCpu: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The engine in c against a floor without lists: the strictest reading of the bar. */
export function strictest(cells: readonly Cell[]): readonly Cell[] {
  return cells.flatMap((cell) => {
    const pairs = cell.pairs.flatMap(({ engine, bare }) =>
      bare === undefined ? [] : [{ engine, floor: bare }],
    );
    return pairs.length === 0 ? [] : [{ ...cell, pairs }];
  });
}

export function summaryOf({ workload, lanes, pairs }: Cell): CellSummary {
  const throughputRatio = median(
    pairs.map(({ engine, floor }) => engine.turnsPerSecond / floor.turnsPerSecond),
  );
  const p50Ratio = median(pairs.map(({ engine, floor }) => engine.latency.p50 / floor.latency.p50));
  return {
    workload,
    lanes,
    engine: sideOf(pairs.map(({ engine }) => engine)),
    floor: sideOf(pairs.map(({ floor }) => floor)),
    throughputRatio,
    p50Ratio,
    met: throughputRatio >= BAR.throughput && p50Ratio <= BAR.p50,
    foreignCpu: Math.max(
      ...pairs.flatMap(({ engine, floor }) => [engine.foreignCpu, floor.foreignCpu]),
    ),
  };
}

function sideOf(results: readonly CellResult[]): SideSummary {
  const watched = results.flatMap((result) => result.watched?.p50 ?? []);
  const names = Object.keys(results[0]?.cpu ?? {});
  return {
    turnsPerSecond: median(results.map((result) => result.turnsPerSecond)),
    p50: median(results.map((result) => result.latency.p50)),
    p95: median(results.map((result) => result.latency.p95)),
    ...(watched.length === 0 ? {} : { watchedP50: median(watched) }),
    cpu: Object.fromEntries(
      names.map((name) => [name, median(results.map((result) => result.cpu[name] ?? 0))]),
    ),
  };
}
