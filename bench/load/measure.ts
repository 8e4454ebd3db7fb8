/** The results of the slices of a cell, and the shape of a turn's history. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type {
  CellResult,
  EngineWorkload,
  InlineRequest,
  InlineResult,
  PairRequest,
  PairResult,
  PartsRequest,
  ShapeResult,
  Side,
  Spread,
  Workload,
} from '../shared/cells.js';
import { PARTS } from '../shared/cells.js';
import { spreadOfWeighted } from '../shared/spread.js';
import { cpuBetween } from './cpu.js';
import type { Begin, Talk } from './sides.js';
import { Lanes, type Slice, type Turn } from './slices.js';

/** Watchers receive the end of the last turns of a slice a little later than the callers. */
const TRAILING_MS = 400;
/** Uncounted cycles: code is compiled, and delayed work of the slices before it is not complete. */
const WARM_UP_CYCLES = 2;

/**
 * In workload c the engine is also compared with a floor without lists. Delayed work of the server, two slices later,
 * for one of the two floors falls on the other.
 */
const ORDER: Readonly<Record<Workload, readonly Place[]>> = {
  a: ['engine', 'floor'],
  b: ['engine', 'floor'],
  c: ['engine', 'floor', 'engine', 'bare'],
  d: ['engine', 'floor'],
};

type Place = keyof PairResult;

/** The time at which a watcher saw a turn end; engine only. */
export type WatchedAt = (turnId: string) => number | undefined;

export async function measurePair(
  request: PairRequest,
  parts: {
    readonly sides: Readonly<Record<Side, Begin>>;
    readonly pids: Readonly<Record<string, number>>;
    readonly watchedAt: WatchedAt;
  },
): Promise<PairResult> {
  const { sides, pids, watchedAt } = parts;
  const { workload } = request;
  const slices: Record<Place, Slice[]> = { engine: [], floor: [], bare: [] };
  const lanes: Record<Place, Lanes> = {
    engine: new Lanes(() => sides.engine(workload), request),
    floor: new Lanes(() => sides.floor(workload), request),
    bare: new Lanes(() => sides.floor('d'), request),
  };
  const order = ORDER[workload];
  const perCycle = order.filter((place) => place === 'engine').length;
  for (let cycle = -WARM_UP_CYCLES; cycle < request.slices / perCycle; cycle += 1)
    for (const place of order) {
      const slice = await lanes[place].slice(pids);
      if (cycle >= 0) slices[place].push(slice);
    }
  await sleep(TRAILING_MS);
  const engine = { ...resultOf(slices.engine), watched: watchedIn(slices.engine, watchedAt) };
  const floor = resultOf(slices.floor);
  const bare = slices.bare.length === 0 ? {} : { bare: resultOf(slices.bare) };
  for (const side of Object.values(lanes)) await side.end();
  return { engine, floor, ...bare };
}

/** The engine against itself: the same turns, with reads as activities and inline in the model call. */
export async function measureInline(
  request: InlineRequest,
  parts: EngineParts,
): Promise<InlineResult> {
  const { case: which } = request;
  return await measureTwo(request, parts, { plain: which, inline: `${which}-inline` });
}

/** The engine against itself: the same work with parts and without. */
export async function measureParts(
  request: PartsRequest,
  given: EngineParts,
): Promise<InlineResult> {
  const { plain, parts } = PARTS[request.case];
  return await measureTwo(request, given, { plain, inline: parts });
}

export interface EngineParts {
  readonly engine: Begin<EngineWorkload>;
  readonly pids: Readonly<Record<string, number>>;
  readonly watchedAt: WatchedAt;
}

async function measureTwo(
  request: Omit<InlineRequest, 'case'>,
  { engine, pids, watchedAt }: EngineParts,
  of: Readonly<Record<'plain' | 'inline', EngineWorkload>>,
): Promise<InlineResult> {
  const lanes = {
    plain: new Lanes(() => engine(of.plain), request),
    inline: new Lanes(() => engine(of.inline), request),
  };
  const slices = { plain: [] as Slice[], inline: [] as Slice[] };
  for (let cycle = -WARM_UP_CYCLES; cycle < request.slices; cycle += 1)
    for (const place of ['plain', 'inline'] as const) {
      const slice = await lanes[place].slice(pids);
      if (cycle >= 0) slices[place].push(slice);
    }
  await sleep(TRAILING_MS);
  const seen = (place: 'plain' | 'inline'): CellResult => {
    const result = resultOf(slices[place]);
    // A turn that is several conversations has no watcher.
    const isOne = slices[place].every(({ turns }) =>
      turns.every(({ turnId }) => turnId !== undefined),
    );
    return isOne ? { ...result, watched: watchedIn(slices[place], watchedAt) } : result;
  };
  const result = { plain: seen('plain'), inline: seen('inline') };
  for (const side of Object.values(lanes)) await side.end();
  return result;
}

function resultOf(slices: readonly Slice[]): CellResult {
  const cpu: Record<string, number> = {};
  let [seconds, turns, foreign] = [0, 0, 0];
  for (const slice of slices) {
    const { byName, foreign: others } = cpuBetween(slice.from, slice.until);
    for (const [name, ms] of Object.entries(byName)) cpu[name] = (cpu[name] ?? 0) + ms;
    seconds += (slice.until.atMs - slice.from.atMs) / 1_000;
    turns += slice.turns.reduce((sum, turn) => sum + partInside(turn, slice), 0);
    foreign += others / slices.length;
  }
  for (const name of Object.keys(cpu)) cpu[name] = (cpu[name] ?? 0) / Math.max(1, turns);
  return {
    turns: Math.round(turns),
    turnsPerSecond: turns / seconds,
    latency: spreadInside(slices, ({ startedAt, endedAt }) => endedAt - startedAt),
    cpu,
    foreignCpu: foreign,
  };
}

/** The part of a turn that lies in the window, because a slice contains only a few turns. */
function partInside({ startedAt, endedAt }: Turn, { from, until }: Slice): number {
  const inside = Math.min(endedAt, until.atMs) - Math.max(startedAt, from.atMs);
  return Math.max(0, inside) / (endedAt - startedAt);
}

function watchedIn(slices: readonly Slice[], watchedAt: WatchedAt): Spread {
  const seenAt = ({ turnId }: Turn): number | undefined =>
    turnId === undefined ? undefined : watchedAt(turnId);
  const turns = slices.flatMap((slice) => slice.turns);
  const seen = turns.filter((turn) => seenAt(turn) !== undefined).length;
  if (seen < turns.length * 0.9)
    throw new Error(`watchers saw ${seen} of ${turns.length} turns end`);
  return spreadInside(slices, (turn) => (seenAt(turn) ?? Number.NaN) - turn.startedAt);
}

/** Weights each turn by its part in the window, because the truncated turns are the long ones. */
function spreadInside(slices: readonly Slice[], valueOf: (turn: Turn) => number): Spread {
  const weighted = slices.flatMap((slice) =>
    slice.turns.map((turn) => ({ value: valueOf(turn), weight: partInside(turn, slice) })),
  );
  return spreadOfWeighted(
    weighted.filter(({ value, weight }) => weight > 0 && !Number.isNaN(value)),
  );
}

/** Runs one conversation alone and reads its history after the first and after the last turn. */
export async function measureShape(
  temporal: Client,
  begin: () => Talk,
  what: { readonly turns: number },
): Promise<ShapeResult> {
  const talk = begin();
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
