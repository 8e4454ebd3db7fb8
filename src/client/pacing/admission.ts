/**
 * Bounds how many conversations this process asks for an answer at the same time. After a restart each of them has to
 * be replayed first: where all are asked at once, each answer takes as long as all of them together, the requests are
 * given up, and their signals make the workers do everything twice.
 *
 * A1  Requests to one conversation have one place: its workflow answers them together. A conversation that does not
 *     answer holds no more than that.
 * A2  The number of places falls while answers are slow, and rises while they are quick and requests wait for a place.
 *     A request without an answer counts as a slow one while others are answered; otherwise there may be no worker, and
 *     the number of requests is not the reason.
 * A3  Requests that wait get places in turn, tenant by tenant; resolutions of calls come before everything else.
 * A4  A request that gets no place in time is not sent. Its caller leaves it as a signal, or refuses it.
 */
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';

const PLACES_AT_START = 64;
const MIN_PLACES = 8;
const MAX_PLACES = 512;
/** Milliseconds; slower answers mean that too many are asked at once. */
const SLOW_MS = 1_500;
/** Milliseconds; half of the slow time, so that the number does not swing. */
const QUICK_MS = 750;
const BACK_OFF = 0.7;
/** Milliseconds for which one answer proves that there is a worker. */
const ALIVE_MS = 5_000;

export interface Admitted {
  /** Gives the place back, after an answer or without one. Safe to repeat. */
  leave(outcome: { readonly answered: boolean }): void;
}

export interface EnterOptions {
  /** A resolution: goes before other requests that wait. */
  readonly isFirst: boolean;
  readonly waitMs: number;
}

interface Place {
  readonly name: string;
  /** Requests that have it. */
  holders: number;
}

interface Waiting {
  readonly key: ConversationKey;
  readonly enter: (admitted: Admitted) => void;
}

type Lines = Map<string, Waiting[]>;

export class Admission {
  readonly #now: () => number;
  readonly #taken = new Map<string, Place>();
  /** By tenant, in the order of their turns. */
  readonly #first: Lines = new Map();
  readonly #others: Lines = new Map();
  #places = PLACES_AT_START;
  #changedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Conversations that may be asked at once now. */
  get places(): number {
    return this.#places;
  }

  /** True while requests wait for a place. */
  get isFull(): boolean {
    return this.#first.size + this.#others.size > 0;
  }

  /** Undefined when no place became free in time. */
  async enter(
    key: ConversationKey,
    { isFirst, waitMs }: EnterOptions,
  ): Promise<Admitted | undefined> {
    const lines = isFirst ? this.#first : this.#others;
    const overtakes = isFirst ? this.#first.size > 0 : this.isFull;
    const admitted =
      overtakes && !this.#taken.has(conversationKey(key)) ? undefined : this.#take(key);
    return admitted ?? (await this.#wait(lines, key, waitMs));
  }

  async #wait(lines: Lines, key: ConversationKey, waitMs: number): Promise<Admitted | undefined> {
    return await new Promise((resolve) => {
      const waiting: Waiting = {
        key,
        enter: (admitted) => {
          clearTimeout(timer);
          resolve(admitted);
        },
      };
      const timer = setTimeout(() => {
        remove(lines, waiting);
        resolve(undefined);
      }, waitMs);
      const line = lines.get(key.tenant);
      if (line === undefined) lines.set(key.tenant, [waiting]);
      else line.push(waiting);
    });
  }

  #take(key: ConversationKey): Admitted | undefined {
    const name = conversationKey(key);
    let place = this.#taken.get(name);
    if (place === undefined) {
      if (this.#taken.size >= this.#places) return undefined;
      place = { name, holders: 0 };
      this.#taken.set(name, place);
    }
    place.holders += 1;
    return this.#admitted(place);
  }

  #admitted(place: Place): Admitted {
    const enteredAt = this.#now();
    let isOver = false;
    return {
      leave: ({ answered }) => {
        if (isOver) return;
        isOver = true;
        this.#learn(enteredAt, answered);
        place.holders -= 1;
        if (place.holders === 0) this.#taken.delete(place.name);
        this.#admitWaiting();
      },
    };
  }

  /** Answers to requests of before the last change say nothing of it: all of them were slow together. */
  #learn(enteredAt: number, answered: boolean): void {
    const now = this.#now();
    const tookMs = now - enteredAt;
    if (answered) this.#answeredAt = now;
    const isSlow = tookMs > SLOW_MS && now - this.#answeredAt < ALIVE_MS;
    if (isSlow && enteredAt >= this.#changedAt) {
      this.#places = Math.max(MIN_PLACES, Math.floor(this.#places * BACK_OFF));
      this.#changedAt = now;
    } else if (answered && tookMs < QUICK_MS && this.isFull)
      this.#places = Math.min(MAX_PLACES, this.#places + 1);
  }

  #admitWaiting(): void {
    for (const lines of [this.#first, this.#others])
      for (let waiting = headOf(lines); waiting !== undefined; waiting = headOf(lines)) {
        const admitted = this.#take(waiting.key);
        if (admitted === undefined) return;
        remove(lines, waiting);
        waiting.enter(admitted);
      }
  }
}

function headOf(lines: Lines): Waiting | undefined {
  const [line] = lines.values();
  return line?.[0];
}

/** The tenant of a request that leaves goes to the end of the turns. */
function remove(lines: Lines, waiting: Waiting): void {
  const { tenant } = waiting.key;
  const line = lines.get(tenant);
  if (line === undefined) return;
  const index = line.indexOf(waiting);
  if (index >= 0) line.splice(index, 1);
  lines.delete(tenant);
  if (line.length > 0) lines.set(tenant, line);
}
