/** One conversation that grows: the cost of a turn at its end, against that at its beginning. */
import {
  GROWTH_VARIANTS,
  type GrowthRequest,
  type GrowthResult,
  type GrowthSample,
} from '../shared/long-cells.js';
import { median } from '../shared/stats.js';
import type { Bench } from './processes.js';

/** Last turns against first ones, history against new content, and the replay of the longest run. */
export const GROWTH_BAR = {
  p50: 1.1,
  historyDrift: 0.1,
  historyPerContent: 2.5,
  /** Memory after a collection: the largest against the smallest of the last three quarters. */
  held: 1.03,
  replayMs: 1_000,
} as const;

/** The number of compared turns at each end, at most half of all. */
const COMPARED_TURNS = 100;
/** Compared parts of a conversation: each contains some roll-overs. */
const PARTS = 4;
const SAMPLES = 20;

export interface GrowthOptions {
  readonly turns: number;
  /** The size of one tool's result. */
  readonly bytes: number;
}

export interface GrowthCell {
  readonly title: string;
  readonly request: GrowthRequest;
  readonly result: GrowthResult;
}

/** The growth of a turn, as the mean over a part of the conversation. */
export interface GrowthPart {
  /** The last turn of the part. */
  readonly through: number;
  readonly p50: number;
  readonly rollOvers: number;
  readonly historyEvents: number;
  readonly historyBytes: number;
  readonly contentBytes: number;
  readonly modelBytesPerCall: number;
  readonly storeBytes: number;
  readonly logEvents: number;
  /** CPU time of a turn, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** The size at the end of the part. */
  readonly snapshotBytes: number;
  /** Medians of the samples within the part. */
  readonly workerRssBytes: number;
  readonly workerHeldBytes: number;
}

export interface GrowthSummary {
  readonly title: string;
  readonly turns: number;
  readonly calls: number;
  readonly parts: readonly GrowthPart[];
  readonly firstP50: number;
  readonly lastP50: number;
  readonly bars: readonly {
    readonly name: string;
    readonly value: string;
    readonly met: boolean;
  }[];
}

export async function measureGrowth(
  bench: Bench,
  options: GrowthOptions,
): Promise<readonly GrowthCell[]> {
  const cells: GrowthCell[] = [];
  for (const { title, ...variant } of GROWTH_VARIANTS) {
    console.error(`growth with ${title}`);
    const request = { ...variant, ...options, samples: SAMPLES };
    const result = await bench.ask<GrowthResult>({ type: 'growth', request });
    cells.push({ title, request, result });
  }
  return cells;
}

export function growthSummary({ title, request, result }: GrowthCell): GrowthSummary {
  const { latencies, samples } = result;
  const compared = Math.min(COMPARED_TURNS, Math.floor(latencies.length / 2));
  const firstP50 = median(latencies.slice(0, compared));
  const lastP50 = median(latencies.slice(-compared));
  const parts = partsOf(samples, latencies);
  const { turns, calls } = request;
  return {
    ...{ title, turns, calls, parts, firstP50, lastP50 },
    bars: barsOf({ parts, p50Ratio: lastP50 / firstP50, longestRun: result.longestRun }),
  };
}

function partsOf(samples: readonly GrowthSample[], latencies: readonly number[]): GrowthPart[] {
  const parts: GrowthPart[] = [];
  for (let part = 0; part < PARTS; part += 1) {
    const first = Math.floor(((samples.length - 1) * part) / PARTS);
    const last = Math.floor(((samples.length - 1) * (part + 1)) / PARTS);
    if (last > first) parts.push(partOf(samples.slice(first, last + 1), latencies));
  }
  return parts;
}

/** `samples`: the last one before the part, and those within it. */
function partOf(samples: readonly GrowthSample[], latencies: readonly number[]): GrowthPart {
  const [from, ...within] = samples;
  const to = within.at(-1);
  if (from === undefined || to === undefined) throw new Error('a part needs two samples');
  const turns = to.turns - from.turns;
  const perTurn = (
    name: 'historyEvents' | 'historyBytes' | 'contentBytes' | 'storeBytes' | 'logEvents',
  ) => (to[name] - from[name]) / turns;
  return {
    through: to.turns,
    p50: median(latencies.slice(from.turns, to.turns)),
    // The first run is not a roll-over.
    rollOvers: to.runs - Math.max(1, from.runs),
    historyEvents: perTurn('historyEvents'),
    historyBytes: perTurn('historyBytes'),
    contentBytes: perTurn('contentBytes'),
    storeBytes: perTurn('storeBytes'),
    logEvents: perTurn('logEvents'),
    modelBytesPerCall: (to.modelBytes - from.modelBytes) / (to.modelCalls - from.modelCalls),
    cpuMs: Object.fromEntries(
      Object.entries(to.cpu).map(([name, ms]) => [name, (ms - (from.cpu[name] ?? 0)) / turns]),
    ),
    snapshotBytes: to.snapshotBytes,
    workerRssBytes: median(within.map((sample) => sample.workerRssBytes)),
    workerHeldBytes: median(within.map((sample) => sample.workerHeldBytes)),
  };
}

function barsOf(of: {
  readonly parts: readonly GrowthPart[];
  readonly p50Ratio: number;
  readonly longestRun: GrowthResult['longestRun'];
}): GrowthSummary['bars'] {
  const { parts, p50Ratio, longestRun } = of;
  // The first part contains the only run without carried state, and the worker's cache still fills in it.
  const [first, ...later] = parts;
  const last = later.at(-1);
  if (first === undefined || last === undefined) return [];
  const history = last.historyBytes / first.historyBytes;
  const perContent = Math.max(...parts.map((part) => part.historyBytes / part.contentBytes));
  const sizes = later.map(({ workerHeldBytes }) => workerHeldBytes);
  const held = Math.max(...sizes) / Math.min(...sizes);
  const { events, bytes, replayMs } = longestRun;
  const kilobytes = (bytes / 1_024).toFixed(0);
  return [
    {
      name: `turn p50, last to first at most ${GROWTH_BAR.p50}`,
      value: p50Ratio.toFixed(2),
      met: p50Ratio <= GROWTH_BAR.p50,
    },
    {
      name: `history bytes a turn, last part to first within ${100 * GROWTH_BAR.historyDrift} %`,
      value: history.toFixed(2),
      met: Math.abs(history - 1) <= GROWTH_BAR.historyDrift,
    },
    {
      name: `history to new content at most ${GROWTH_BAR.historyPerContent}`,
      value: perContent.toFixed(2),
      met: perContent <= GROWTH_BAR.historyPerContent,
    },
    {
      name: `memory of the worker after a collection, largest to smallest of the last parts at most ${GROWTH_BAR.held}`,
      value: held.toFixed(2),
      met: held <= GROWTH_BAR.held,
    },
    {
      name: `replay of the longest run (${events} events, ${kilobytes} KB) under ${GROWTH_BAR.replayMs} ms`,
      value: replayMs.toFixed(0),
      met: replayMs < GROWTH_BAR.replayMs,
    },
  ];
}
