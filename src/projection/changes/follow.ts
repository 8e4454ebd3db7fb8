/**
 * The stream of a tenant's conversations as one reader has it.
 *
 * F1  The reader has at most one pending entry for each conversation, an id: rows are read when it takes them. A slow
 *     reader gets the last state, and `reset` when too many wait for it.
 * F2  Each change is followed by a frame with the row of a later read. Frames come again; none is left out.
 * F3  The place moves with the last of the changes that waited when it was taken.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConversationsFilter,
  type ConversationsFrame,
  formatPlace,
  isListed,
  parsePlace,
} from '../../protocol/log/conversations-stream.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import type { Outages } from '../source/outages.js';
import { type ConversationsHub, MAX_CAUGHT_UP } from './hub.js';

/** Rows that a reader holds while it takes them. */
const ROWS_AT_ONCE = 20;
const MAX_PAUSE_MS = 5_000;
/** Milliseconds after which the place of a reader moves when nothing changes. */
const PLACE_MS = 15_000;

export interface FollowOptions {
  readonly outages: Outages;
  /** The most conversations that wait for a slow reader. @defaultValue 1,000 */
  readonly maxPending?: number | undefined;
  /** @defaultValue 15,000 */
  readonly placeMs?: number | undefined;
}

export class ConversationsFollower {
  readonly #hub: ConversationsHub;
  readonly #filter: ConversationsFilter;
  readonly #options: FollowOptions;
  readonly #pending = new Set<ConversationId>();
  readonly #leave: () => void;
  #isLost = false;
  /** The last place that was sent. */
  #sentMs = 0;
  #wake: (() => void) | undefined;

  /** Joins the hub at once, so that no change is missed. */
  constructor(hub: ConversationsHub, filter: ConversationsFilter, options: FollowOptions) {
    this.#hub = hub;
    this.#filter = filter;
    this.#options = options;
    this.#leave = hub.join({
      moved: (id) => {
        this.#add([id]);
        this.#wake?.();
      },
      polled: () => {
        if (this.#isPlaceDue()) this.#wake?.();
      },
      lost: () => {
        this.#lose();
        this.#wake?.();
      },
    });
  }

  close(): void {
    this.#leave();
  }

  /** Finds the place to begin from. To be called once, when the hub is ready. @throws {StoreUnavailable} */
  async begin(after: string | undefined): Promise<ConversationsFrame | undefined> {
    if (after === undefined) return { type: 'ready', id: this.#place() };
    const placeMs = parsePlace(after);
    const changed = placeMs === undefined ? undefined : await this.#hub.since(placeMs);
    if (changed === undefined) this.#lose();
    else this.#add(changed);
    return undefined;
  }

  /** Yields until the signal aborts. To be called once. */
  async *frames(
    first: ConversationsFrame | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ConversationsFrame, void, undefined> {
    const wake = (): void => {
      this.#wake?.();
    };
    signal.addEventListener('abort', wake);
    try {
      if (first !== undefined) yield first;
      while (!isAborted(signal)) {
        if (this.#isLost) {
          this.#isLost = false;
          yield { type: 'reset', id: this.#place() };
        } else if (this.#pending.size > 0) yield* this.#drain(signal);
        else if (this.#isPlaceDue()) yield { type: 'place', id: this.#place() };
        else await this.#changed(signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.close();
    }
  }

  /** All that waits now. */
  async *#drain(signal: AbortSignal): AsyncGenerator<ConversationsFrame, void, undefined> {
    // Taken first: changes that polls find from now on may not be among these.
    const { placeMs } = this.#hub;
    const ids = [...this.#pending];
    for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
      const part = ids.slice(at, at + ROWS_AT_ONCE);
      const rows = await this.#read(part, signal);
      if (rows === undefined) return;
      for (const [index, id] of part.entries()) {
        if (isAborted(signal) || this.#isLost) return;
        const isLast = at + index === ids.length - 1;
        if (isLast) this.#sentMs = placeMs;
        yield this.#frame(
          id,
          rows.get(id)?.row?.snapshot,
          isLast ? formatPlace(placeMs) : undefined,
        );
      }
    }
  }

  #frame(
    conversationId: ConversationId,
    conversation: Parameters<typeof isListed>[0] | undefined,
    id: string | undefined,
  ): ConversationsFrame {
    const place = id === undefined ? {} : { id };
    return conversation === undefined || !isListed(conversation, this.#filter)
      ? { type: 'removed', conversationId, ...place }
      : { type: 'conversation', conversation, ...place };
  }

  /** Until they can be read. Undefined: the signal has aborted, or the reader has lost its place. */
  async #read(ids: readonly ConversationId[], signal: AbortSignal) {
    for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await this.#hub.rows.of(ids, () => {
          for (const id of ids) this.#pending.delete(id);
        });
      } catch (error) {
        this.#options.outages.failed(error, undefined, 'waiting_calls');
        // An abort is the normal end.
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
        if (isAborted(signal) || this.#isLost) return undefined;
      }
    }
  }

  #add(ids: readonly ConversationId[]): void {
    if (this.#isLost) return;
    for (const id of ids) this.#pending.add(id);
    if (this.#pending.size > (this.#options.maxPending ?? MAX_CAUGHT_UP)) this.#lose();
  }

  /** The reader reads the list again: nothing has to wait for it. */
  #lose(): void {
    this.#isLost = true;
    this.#pending.clear();
  }

  #place(): string {
    this.#sentMs = this.#hub.placeMs;
    return formatPlace(this.#sentMs);
  }

  #isPlaceDue(): boolean {
    return this.#hub.placeMs - this.#sentMs >= (this.#options.placeMs ?? PLACE_MS);
  }

  /** Until a change comes, the place has moved on, or the signal aborts. */
  async #changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
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
