/**
 * The stream of a space as one reader has it.
 *
 * F1  The reader holds one page of messages at most; it asks for the next when it has taken them.
 * F2  The place is the last change that it has. A message that changes again before it is read comes once, later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outages } from '../../projection/source/outages.js';
import type { MemberRef, SpaceFrame } from '../../protocol/spaces/spaces.js';
import type { SpaceHead } from '../../store/ports/spaces/spaces.js';
import { GONE, type SpaceHub } from './hub.js';
import { WrittenPlace } from './written.js';

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

export interface FollowOptions {
  /** The reader's place. @defaultValue the newest change */
  readonly after?: number | undefined;
  /** The stream ends when the reader is no member any more. Absent: it goes on as long as there is a space. */
  readonly reader?: MemberRef | undefined;
  /** The reader gets its own marks. @defaultValue none */
  readonly person?: MemberRef | undefined;
  readonly signal: AbortSignal;
}

export class SpaceFollower {
  readonly #hub: SpaceHub;
  readonly #options: FollowOptions;
  readonly #outages: Outages;
  readonly #leave: () => void;
  /** The last mark that the reader has, or that was older than the reader. */
  #readPosition: number;
  readonly #place = new WrittenPlace();
  #hasChanged = false;
  #wake: (() => void) | undefined;

  /** Joins the hub at once, so that no change is missed. */
  constructor(hub: SpaceHub, options: FollowOptions, outages: Outages) {
    this.#hub = hub;
    this.#options = options;
    this.#outages = outages;
    this.#readPosition = this.#markNow();
    this.#leave = hub.join(() => {
      this.#hasChanged = true;
      this.#wake?.();
    });
  }

  close(): void {
    this.#leave();
  }

  /** Yields until the signal aborts or the space has no place for the reader. To be called once, when the hub is ready. */
  async *frames(): AsyncGenerator<SpaceFrame, void, undefined> {
    const { signal } = this.#options;
    const wake = (): void => {
      this.#wake?.();
    };
    signal.addEventListener('abort', wake);
    try {
      yield* this.#follow();
    } finally {
      signal.removeEventListener('abort', wake);
      this.close();
    }
  }

  async *#follow(): AsyncGenerator<SpaceFrame, void, undefined> {
    const { signal } = this.#options;
    let place = this.#options.after;
    let membersVersion: number | undefined;
    while (!isAborted(signal)) {
      // Before the head is read: what changes it from now on asks for another round.
      this.#hasChanged = false;
      const { head } = this.#hub;
      if (head === GONE) return yield { type: 'deleted' };
      if (head.membersVersion !== membersVersion) {
        if (!(await this.#mayRead(head))) return yield { type: 'deleted' };
        if (membersVersion !== undefined) yield { type: 'members' };
        membersVersion = head.membersVersion;
      }
      const { lastChange } = head;
      if (place === undefined || place > lastChange) {
        const type = place === undefined ? 'ready' : 'reset';
        place = lastChange;
        yield { type, change: place };
      }
      if (place < lastChange) place = yield* this.#page(place);
      else {
        yield* this.#written(head);
        yield* this.#marked();
        await this.#changed();
      }
    }
  }

  /** More of the calls that members are writing; nothing of an agent that is no member any more. */
  async *#written({ membersVersion }: SpaceHead): AsyncGenerator<SpaceFrame, void, undefined> {
    for (const piece of this.#place.news(this.#hub.written.all())) {
      const isMember = await this.#read(() => this.#hub.hasMember(piece.author, membersVersion));
      if (isAborted(this.#options.signal)) return;
      if (isMember === true) yield { type: 'tool.streaming', piece };
    }
  }

  *#marked(): Generator<SpaceFrame, void, undefined> {
    const position = this.#markNow();
    if (position <= this.#readPosition) return;
    this.#readPosition = position;
    yield { type: 'read', position };
  }

  #markNow(): number {
    const { person } = this.#options;
    return person === undefined ? 0 : this.#hub.markOf(person);
  }

  /** The first changes after a place; returns the place after them. */
  async *#page(place: number): AsyncGenerator<SpaceFrame, number, undefined> {
    const messages = await this.#read(() => this.#hub.changesAfter(place));
    // The space was removed or restored meanwhile: the next head shows it.
    if (messages?.length === 0) await this.#changed();
    let last = place;
    for (const message of messages ?? []) {
      if (isAborted(this.#options.signal)) return last;
      last = message.change;
      yield { type: 'message', change: last, message };
    }
    return last;
  }

  async #mayRead({ membersVersion }: SpaceHead): Promise<boolean> {
    const { reader } = this.#options;
    if (reader === undefined) return true;
    return (await this.#read(() => this.#hub.hasMember(reader, membersVersion))) === true;
  }

  /** Until it succeeds. Undefined: the signal has aborted. */
  async #read<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
    const { signal } = this.#options;
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await read();
      } catch (error) {
        this.#outages.failed(error, undefined, 'spaces');
        // An abort is the normal end.
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
        if (isAborted(signal)) return undefined;
      }
    }
  }

  /** Until the head has changed, or the signal aborts. */
  async #changed(): Promise<void> {
    if (this.#hasChanged || this.#options.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

/** A function, because the compiler would treat a property that it saw once as constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
