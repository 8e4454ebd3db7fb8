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
 * A5  Messages have a part of the places only, since each makes work for longer than its answer takes. That part falls
 *     as soon as new conversations, which need no replay, are answered late. A tenant that has none of it does not wait
 *     behind one that begins thousands: it gets its first place from as many more. A message that waits for its answer
 *     for a second, while later ones are answered or none is, leaves that part: a few conversations that do not answer
 *     hold up no others.
 * A6  While requests are answered, a message may wait longer, and one that would get no place in time is refused at
 *     once, with the time at which to return.
 */
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { Backlog } from './backlog.js';
import { Limit } from './limit.js';
import { Lines } from './lines.js';

const PLACES = { atStart: 64, min: 8, max: 512, slowMs: 1_500, quickMs: 750 };
const MESSAGES = { atStart: 16, min: 2, max: 512, slowMs: 120, quickMs: 60, slowFactor: 3 };
/** Milliseconds after which a message without an answer is compared with others. */
const MUTE_MS = 1_000;
/** Milliseconds for which one answer proves that there is a worker. */
const ALIVE_MS = 5_000;

/** `beginning`: a message to a conversation that is new. Events of other systems count as messages. */
export type RequestKind = 'resolution' | 'message' | 'beginning';

export interface Admitted {
  readonly entered: true;
  /** Gives the place back, after an answer or without one. Safe to repeat. */
  leave(outcome: { readonly answered: boolean }): void;
}

/** No place became free in time. */
export interface NotAdmitted {
  readonly entered: false;
  /**
   * Milliseconds after which to return. Absent: nothing is answered, perhaps for want of a worker, or its caller does
   * not repeat it.
   */
  readonly retryAfterMs?: number;
}

export interface EnterOptions {
  readonly kind: RequestKind;
  readonly waitMs: number;
  /**
   * Present for a message that its caller repeats: the wait while others are answered, after which it is refused with a
   * time to return.
   */
  readonly busyMs?: number | undefined;
}

interface Place {
  readonly name: string;
  readonly tenant: string;
  readonly enteredAtMs: number;
  /** Whether it is one of those of messages. */
  isMessage: boolean;
  /** Ends the count among those of messages. */
  timer?: NodeJS.Timeout;
  /** Requests that have it. */
  holders: number;
}

interface Waiting {
  readonly tenant: string;
  readonly key: ConversationKey;
  readonly kind: RequestKind;
  readonly enter: (admitted: Admitted) => void;
}

export class Admission {
  readonly #now: () => number;
  readonly #taken = new Map<string, Place>();
  readonly #places = new Limit(PLACES);
  readonly #messages = new Limit(MESSAGES);
  #messagesTaken = 0;
  /** Places of messages by tenant. */
  readonly #messagesOf = new Map<string, number>();
  readonly #resolutionLines = new Lines<Waiting>();
  readonly #messageLines = new Lines<Waiting>();
  readonly #backlog = new Backlog();
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** The same of messages, and when the newest of those that were answered had entered. */
  #messageAnsweredAt = Number.NEGATIVE_INFINITY;
  #newestAnsweredAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Conversations that may be asked at once now. */
  get places(): number {
    return this.#places.size;
  }

  /** Those of them that may be asked for messages. */
  get messagePlaces(): number {
    return this.#messages.size;
  }

  /** True while requests wait for a place. */
  get isFull(): boolean {
    return !this.#resolutionLines.isEmpty || !this.#messageLines.isEmpty;
  }

  async enter(key: ConversationKey, options: EnterOptions): Promise<Admitted | NotAdmitted> {
    const { kind } = options;
    const overtakes =
      !this.#resolutionLines.isEmpty ||
      (kind !== 'resolution' && this.#messageLines.lengthOf(key.tenant) > 0);
    if (!overtakes || this.#taken.has(conversationKey(key))) {
      const admitted = this.#take(key, kind);
      if (admitted !== undefined) return admitted;
    }
    const ahead = this.#messageLines.lengthOf(key.tenant);
    if (kind !== 'resolution' && this.#isTooLate(key, ahead, busyMsOf(options)))
      return this.#notAdmitted(key, options);
    return await this.#wait(key, options);
  }

  /** Whether a message behind so many of its tenant gets no place in this time. */
  #isTooLate({ tenant }: ConversationKey, ahead: number, milliseconds: number): boolean {
    return this.#isAlive() && (this.#backlog.waitMs(tenant, ahead) ?? 0) > milliseconds;
  }

  #isAlive(): boolean {
    return this.#now() - this.#answeredAt < ALIVE_MS;
  }

  #notAdmitted({ tenant }: ConversationKey, options: EnterOptions): NotAdmitted {
    const { busyMs } = options;
    if (busyMs === undefined || !this.#isAlive()) return { entered: false };
    const lineMs = this.#backlog.waitMs(tenant, this.#messageLines.lengthOf(tenant)) ?? 0;
    const leftMs = Math.min(lineMs, busyMs);
    return { entered: false, retryAfterMs: this.#backlog.refuse(tenant, leftMs, this.#now()) };
  }

  async #wait(key: ConversationKey, options: EnterOptions): Promise<Admitted | NotAdmitted> {
    const { kind, waitMs } = options;
    const lines = kind === 'resolution' ? this.#resolutionLines : this.#messageLines;
    const giveUpAt = this.#now() + busyMsOf(options);
    return await new Promise((resolve) => {
      const waiting: Waiting = {
        tenant: key.tenant,
        key,
        kind,
        enter: (admitted) => {
          clearTimeout(timer);
          resolve(admitted);
        },
      };
      // The rate may have become known, or lower, since the message came.
      const look = (): void => {
        const leftMs = giveUpAt - this.#now();
        if (leftMs > 0 && this.#isAlive() && !this.#isTooLate(key, lines.ahead(waiting), leftMs)) {
          timer = setTimeout(look, Math.min(leftMs, waitMs));
          return;
        }
        lines.remove(waiting);
        resolve(this.#notAdmitted(key, options));
      };
      let timer = setTimeout(look, Math.min(waitMs, busyMsOf(options)));
      lines.add(waiting);
    });
  }

  #take(key: ConversationKey, kind: RequestKind): Admitted | undefined {
    const name = conversationKey(key);
    let place = this.#taken.get(name);
    if (place === undefined) {
      const { tenant } = key;
      const isMessage = kind !== 'resolution';
      if (this.#arePlacesTaken() || (isMessage && !this.#hasMessagePlace(tenant))) return undefined;
      place = { name, tenant, enteredAtMs: this.#now(), isMessage, holders: 0 };
      this.#taken.set(name, place);
      if (isMessage) this.#countMessage(place);
    }
    place.holders += 1;
    return this.#admitted(place, kind);
  }

  #arePlacesTaken(): boolean {
    return this.#taken.size >= this.#places.size;
  }

  #areMessagePlacesTaken(): boolean {
    return this.#messagesTaken >= this.#messages.size;
  }

  #hasMessagePlace(tenant: string): boolean {
    const isFirst = !this.#messagesOf.has(tenant);
    return this.#messagesTaken < this.#messages.size * (isFirst ? 2 : 1);
  }

  #countMessage(place: Place): void {
    this.#addMessages(place.tenant, 1);
    this.#watch(place);
  }

  #watch(place: Place): void {
    const timer = setTimeout(() => {
      if (this.#isMute(place)) {
        this.#uncount(place);
        this.#admitWaiting();
      } else this.#watch(place);
    }, MUTE_MS);
    timer.unref();
    place.timer = timer;
  }

  /** Where others that came with it or before are answered, it is slow for the same reason as all. */
  #isMute({ enteredAtMs }: Place): boolean {
    return this.#newestAnsweredAt > enteredAtMs || this.#messageAnsweredAt < enteredAtMs;
  }

  #uncount(place: Place): void {
    clearTimeout(place.timer);
    if (place.isMessage) this.#addMessages(place.tenant, -1);
    place.isMessage = false;
  }

  #addMessages(tenant: string, change: 1 | -1): void {
    this.#messagesTaken += change;
    const count = (this.#messagesOf.get(tenant) ?? 0) + change;
    if (count === 0) this.#messagesOf.delete(tenant);
    else this.#messagesOf.set(tenant, count);
  }

  #admitted(place: Place, kind: RequestKind): Admitted {
    const enteredAtMs = this.#now();
    let isOver = false;
    return {
      entered: true,
      leave: ({ answered }) => {
        if (isOver) return;
        isOver = true;
        this.#learn(place, { enteredAtMs, answered, kind });
        place.holders -= 1;
        if (place.holders === 0) this.#free(place);
        this.#admitWaiting();
      },
    };
  }

  #learn(
    { tenant }: Place,
    { enteredAtMs, answered, kind }: { enteredAtMs: number; answered: boolean; kind: RequestKind },
  ): void {
    const nowMs = this.#now();
    if (answered) this.#answeredAt = nowMs;
    if (answered && kind !== 'resolution') {
      this.#messageAnsweredAt = nowMs;
      this.#newestAnsweredAt = Math.max(this.#newestAnsweredAt, enteredAtMs);
      this.#backlog.answered(tenant, this.#messageLines.lengthOf(tenant) > 0, nowMs);
    }
    const ended = { enteredAtMs, nowMs, answered };
    const mayBeSlow = this.#isAlive();
    this.#places.learn({
      ...ended,
      mayBeSlow,
      isReached: this.isFull && this.#arePlacesTaken(),
    });
    if (kind === 'resolution') return;
    this.#messages.learn({
      ...ended,
      // Another message may have to wait until its conversation is replayed, which says nothing of the load.
      mayBeSlow: mayBeSlow && kind === 'beginning',
      isReached: !this.#messageLines.isEmpty && this.#areMessagePlacesTaken(),
    });
  }

  #free(place: Place): void {
    this.#taken.delete(place.name);
    this.#uncount(place);
  }

  /** A request that gets no place yet holds up those of its own tenant only. */
  #admitWaiting(): void {
    for (const lines of [this.#resolutionLines, this.#messageLines])
      for (let isAny = true; isAny; )
        isAny = lines.heads().some((head) => this.#admit(lines, head));
  }

  #admit(lines: Lines<Waiting>, waiting: Waiting): boolean {
    const admitted = this.#take(waiting.key, waiting.kind);
    if (admitted === undefined) return false;
    lines.remove(waiting);
    waiting.enter(admitted);
    return true;
  }
}

function busyMsOf({ waitMs, busyMs = waitMs }: EnterOptions): number {
  return busyMs;
}
