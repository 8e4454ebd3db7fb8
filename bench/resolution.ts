/** Resolution latency: from the request to the verdict, against a bare update of a bare workflow on the same server. */
import type { ParkResult, ResolutionDoor, ResolutionKind, ResolutionResult } from './cells.js';
import { LANES, RESOLUTION_DOORS, RESOLUTION_KINDS } from './cells.js';
import type { Bench } from './processes.js';
import { median } from './stats.js';
import { undisturbed } from './undisturbed.js';

/** The engine's 95th percentile against the bare update's. */
export const RESOLUTION_BAR = { p95: 1.3 } as const;

/** Calls that wait side by side in one conversation; one of them is never resolved. */
const WAITS = 40;

/** Of each kind through each door before anything counts: new processes have not compiled what they run, on neither side. */
const WARM_UP_SAMPLES = 100;

export interface ResolutionOptions {
  readonly rounds: number;
  /** Of one measurement. */
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
  /** Of each round, by door. */
  readonly rounds: readonly Readonly<Record<ResolutionDoor, ResolutionResult>>[];
}

export interface ResolutionSummary extends Omit<ResolutionCell, 'rounds'> {
  readonly door: ResolutionDoor;
  /** Medians of the rounds, in milliseconds. */
  readonly p50: number;
  readonly p95: number;
  /** Medians of the ratios of each round, to the bare update. */
  readonly p50Ratio: number;
  readonly p95Ratio: number;
  /** The same to the bare update behind a bare HTTP server, for what came through the HTTP API. */
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
    for (const door of RESOLUTION_DOORS) {
      const request = { door, kind, lanes: 1, waits: WAITS, samples: WARM_UP_SAMPLES };
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

type Measured = ResolutionResult & { readonly door: ResolutionDoor };

async function measureRound(
  bench: Bench,
  options: ResolutionOptions,
  cell: { readonly kind: ResolutionKind; readonly lanes: number; readonly round: number },
): Promise<Readonly<Record<ResolutionDoor, ResolutionResult>>> {
  const { kind, lanes, round } = cell;
  // Each is first, second and last as often as the others.
  const first = round % RESOLUTION_DOORS.length;
  const order = [...RESOLUTION_DOORS.slice(first), ...RESOLUTION_DOORS.slice(0, first)];
  const { results, notes } = await undisturbed<Measured>(options.patienceMs, async () => {
    const measured: Measured[] = [];
    for (const door of order) {
      const request = { door, kind, lanes, waits: WAITS, samples: options.samples };
      const result = await bench.ask<ResolutionResult>({ type: 'resolution', request });
      measured.push({ ...result, door });
    }
    return measured;
  });
  const of = (door: ResolutionDoor): ResolutionResult => {
    const found = results.find((result) => result.door === door);
    if (found === undefined) throw new Error(`${door} was not measured`);
    return found;
  };
  const p95 = RESOLUTION_DOORS.map((door) => of(door).latency.p95.toFixed(1)).join(', ');
  const doors = RESOLUTION_DOORS.join(', ');
  console.error([`${kind} x ${lanes}: p95 ${doors} ${p95} ms`, ...notes].join('; '));
  const [client, http, floor] = [of('client'), of('http'), of('floor')];
  return { client, http, floor, 'floor-http': of('floor-http') };
}

export function resolutionSummaries(
  cells: readonly ResolutionCell[],
): readonly ResolutionSummary[] {
  return cells.flatMap(({ rounds, ...cell }) =>
    RESOLUTION_DOORS.map((door) => {
      const ratio = (part: 'p50' | 'p95', to: 'floor' | 'floor-http' = 'floor'): number =>
        median(rounds.map((round) => round[door].latency[part] / round[to].latency[part]));
      const p95Ratio = ratio('p95');
      return {
        ...cell,
        door,
        p50: median(rounds.map((round) => round[door].latency.p50)),
        p95: median(rounds.map((round) => round[door].latency.p95)),
        p50Ratio: ratio('p50'),
        p95Ratio,
        ...(door === 'http' ? { p95OfBareHttp: ratio('p95', 'floor-http') } : {}),
        met: p95Ratio <= RESOLUTION_BAR.p95,
      };
    }),
  );
}
