/** Resolution latency: from the request to the verdict, against a bare update of a bare workflow on the same server. */
import type {
  ParkResult,
  ResolutionKind,
  ResolutionPath,
  ResolutionResult,
} from '../shared/cells.js';
import { LANES, RESOLUTION_KINDS, RESOLUTION_PATHS } from '../shared/cells.js';
import { median } from '../shared/stats.js';
import type { Bench } from './processes.js';
import { undisturbed } from './undisturbed.js';

/** The engine's 95th percentile relative to that of the bare update. */
export const RESOLUTION_BAR = { p95: 1.3 } as const;

/** Parallel waits in one conversation; one of them is never resolved. */
const WAITS = 40;

/**
 * Uncounted resolutions of each kind on each path, because new processes have not compiled their code yet, on either
 * side.
 */
const WARM_UP_SAMPLES = 100;

export interface ResolutionOptions {
  readonly rounds: number;
  /** The number in one measurement. */
  readonly samples: number;
  readonly lanes?: readonly number[];
  /** Conversations that wait beside the measured ones, in the second half. */
  readonly parked: number;
  readonly patienceMs: number;
}

export interface ResolutionCell {
  readonly kind: ResolutionKind;
  readonly lanes: number;
  readonly parked: number;
  /** The results of each round, by path. */
  readonly rounds: readonly Readonly<Record<ResolutionPath, ResolutionResult>>[];
}

export interface ResolutionSummary extends Omit<ResolutionCell, 'rounds'> {
  readonly path: ResolutionPath;
  /** Medians of the rounds, in milliseconds. */
  readonly p50: number;
  readonly p95: number;
  /** Medians of the ratios of each round, relative to the bare update. */
  readonly p50Ratio: number;
  readonly p95Ratio: number;
  /** The same relative to the bare update behind a bare HTTP server, for the HTTP API only. */
  readonly p95OfBareHttp?: number;
  readonly met: boolean;
}

export async function measureResolutions(
  bench: Bench,
  options: ResolutionOptions,
): Promise<readonly ResolutionCell[]> {
  const cells: ResolutionCell[] = [];
  console.error('resolutions, warming up');
  for (const kind of RESOLUTION_KINDS)
    for (const path of RESOLUTION_PATHS) {
      const request = { path, kind, lanes: 1, waits: WAITS, samples: WARM_UP_SAMPLES };
      await bench.ask<ResolutionResult>({ type: 'resolution', request });
    }
  for (const parked of [0, options.parked]) {
    if (parked > 0) {
      const done = await bench.ask<ParkResult>({ type: 'park', count: parked });
      console.error(`${done.parked} conversations are parked`);
    }
    const rounds = new Map<string, ResolutionCell>();
    for (let round = 1; round <= options.rounds; round += 1) {
      console.error(`resolutions, round ${round} of ${options.rounds}`);
      for (const kind of RESOLUTION_KINDS)
        for (const lanes of options.lanes ?? LANES) {
          const name = `${kind} ${lanes}`;
          const before = rounds.get(name) ?? { kind, lanes, parked, rounds: [] };
          const measured = await measureRound(bench, options, { kind, lanes, round });
          rounds.set(name, { ...before, rounds: [...before.rounds, measured] });
        }
    }
    cells.push(...rounds.values());
  }
  return cells;
}

type Measured = ResolutionResult & { readonly path: ResolutionPath };

async function measureRound(
  bench: Bench,
  options: ResolutionOptions,
  cell: { readonly kind: ResolutionKind; readonly lanes: number; readonly round: number },
): Promise<Readonly<Record<ResolutionPath, ResolutionResult>>> {
  const { kind, lanes, round } = cell;
  // Each path is first, second and last equally often.
  const first = round % RESOLUTION_PATHS.length;
  const order = [...RESOLUTION_PATHS.slice(first), ...RESOLUTION_PATHS.slice(0, first)];
  const { results, notes } = await undisturbed<Measured>(options.patienceMs, async () => {
    const measured: Measured[] = [];
    for (const path of order) {
      const request = { path, kind, lanes, waits: WAITS, samples: options.samples };
      const result = await bench.ask<ResolutionResult>({ type: 'resolution', request });
      measured.push({ ...result, path });
    }
    return measured;
  });
  const of = (path: ResolutionPath): ResolutionResult => {
    const found = results.find((result) => result.path === path);
    if (found === undefined) throw new Error(`${path} was not measured`);
    return found;
  };
  const p95 = RESOLUTION_PATHS.map((path) => of(path).latency.p95.toFixed(1)).join(', ');
  const paths = RESOLUTION_PATHS.join(', ');
  console.error([`${kind} x ${lanes}: p95 ${paths} ${p95} ms`, ...notes].join('; '));
  const [client, http, floor] = [of('client'), of('http'), of('floor')];
  return { client, http, floor, 'floor-http': of('floor-http') };
}

export function resolutionSummaries(
  cells: readonly ResolutionCell[],
): readonly ResolutionSummary[] {
  return cells.flatMap(({ rounds, ...cell }) =>
    RESOLUTION_PATHS.map((path) => {
      const ratio = (part: 'p50' | 'p95', to: 'floor' | 'floor-http' = 'floor'): number =>
        median(rounds.map((round) => round[path].latency[part] / round[to].latency[part]));
      const p95Ratio = ratio('p95');
      return {
        ...cell,
        path,
        p50: median(rounds.map((round) => round[path].latency.p50)),
        p95: median(rounds.map((round) => round[path].latency.p95)),
        p50Ratio: ratio('p50'),
        p95Ratio,
        ...(path === 'http' ? { p95OfBareHttp: ratio('p95', 'floor-http') } : {}),
        met: p95Ratio <= RESOLUTION_BAR.p95,
      };
    }),
  );
}
