/**
 * Both sides of a cell alternately, in slices of some seconds: a shared machine changes its speed by half within a
 * minute, so later measurements would run on a different machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PairRequest, WINDOW_MS } from '../shared/cells.js';
import { type CpuReading, readCpu } from './cpu.js';
import type { Talk } from './sides.js';

export interface Turn {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly turnId: string | undefined;
}

/** The work of one side in its window, and around it. */
export interface Slice {
  readonly from: CpuReading;
  readonly until: CpuReading;
  /** All turns of the slice, including those that begin before the window or end after it. */
  readonly turns: readonly Turn[];
}

/**
 * The server checks every workflow task once more at its timeout, five seconds after its start: two slices later, so
 * that each side pays for its own tasks.
 */
const SLICE_MS = 2_500;
/** Time until all conversations of a slice are running and no longer in step. */
const RAMP_MS = 500;

interface Lane {
  talk: Talk | undefined;
  turns: number;
}

/** The conversations of one side, which continue from slice to slice. */
export class Lanes {
  readonly #begin: () => Talk;
  readonly #turnsPerConversation: number;
  readonly #lanes: readonly Lane[];
  readonly #talks: Talk[] = [];

  constructor(begin: () => Talk, request: Pick<PairRequest, 'lanes' | 'turnsPerConversation'>) {
    this.#begin = begin;
    this.#turnsPerConversation = request.turnsPerConversation;
    this.#lanes = Array.from({ length: request.lanes }, () => ({ talk: undefined, turns: 0 }));
  }

  /** Runs one turn after the other in every conversation until the window is over. @throws the error of a turn */
  async slice(pids: Readonly<Record<string, number>>): Promise<Slice> {
    const beganAt = performance.now();
    const turns: Turn[] = [];
    const stop = new AbortController();
    const running = Promise.all(
      this.#lanes.map(async (lane) => {
        while (!stop.signal.aborted) turns.push(await this.#turn(lane));
      }),
    );
    // A failed lane stops the others as well.
    running.catch((error: unknown) => {
      stop.abort(error);
    });
    const from = await readingIn(RAMP_MS, pids, stop.signal);
    const until = await readingIn(WINDOW_MS, pids, stop.signal);
    stop.abort();
    await running;
    await sleep(Math.max(0, beganAt + SLICE_MS - performance.now()));
    return { from, until, turns };
  }

  /** Ends the conversations outside of the measurement, a few at a time. */
  async end(): Promise<void> {
    for (let from = 0; from < this.#talks.length; from += 8)
      await Promise.all(this.#talks.slice(from, from + 8).map((talk) => talk.end()));
  }

  async #turn(lane: Lane): Promise<Turn> {
    if (lane.talk === undefined || lane.turns >= this.#turnsPerConversation) {
      lane.talk = this.#begin();
      lane.turns = 0;
      this.#talks.push(lane.talk);
    }
    lane.turns += 1;
    const startedAt = performance.now();
    const turnId = await lane.talk.turn();
    return { startedAt, endedAt: performance.now(), turnId };
  }
}

async function readingIn(
  milliseconds: number,
  pids: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<CpuReading> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  return readCpu(pids);
}
