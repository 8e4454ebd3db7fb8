/** Subscriptions to live messages in this process; shared by the adapters of the live channel. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveMessage, Watch } from '../ports/live.js';

interface Subscription {
  readonly live: boolean;
  readonly listener: (message: LiveMessage) => void;
}

/**
 * Default `lingerMs` of channels on which a change of interest costs all processes more than some unneeded messages.
 */
export const LINGER_MS = 1_000;

/**
 * Called when the interest of this process in a conversation changes; `undefined` = no subscription is left. Also
 * called for each further subscription to live events, because the publisher has to repeat the events that it missed.
 */
export type WatchChanged = (keyText: string, watch: Watch | undefined) => void;

export class LiveSubscriptions {
  readonly #byKey = new Map<string, Set<Subscription>>();
  readonly #onChange: WatchChanged;
  readonly #lingerMs: number;
  /** The interest reported last, for each conversation that is watched or was until just now. */
  readonly #told = new Map<string, boolean>();
  readonly #leaving = new Map<string, NodeJS.Timeout>();

  /**
   * @param lingerMs Milliseconds after which the end of the last subscription is reported; a new subscription within
   *   that time cancels the report. A caller that waits for one result after the other subscribes and unsubscribes with
   *   each. 0 = at once.
   */
  constructor(onChange: WatchChanged = () => undefined, lingerMs = 0) {
    this.#onChange = onChange;
    this.#lingerMs = lingerMs;
  }

  /** Returns a function that ends the subscription; repeats of it are safe. */
  add(key: ConversationKey, watch: Watch, listener: (message: LiveMessage) => void): () => void {
    const keyText = conversationKey(key);
    const subscription: Subscription = { live: watch.live, listener };
    this.#change(keyText, (subscriptions) => subscriptions.add(subscription), watch.live);
    return () => {
      this.#change(keyText, (subscriptions) => subscriptions.delete(subscription));
    };
  }

  /** Passes a message to its listeners. A listener that throws harms neither the others nor the publisher. */
  deliver(message: LiveMessage): void {
    const subscriptions = this.#byKey.get(conversationKey(message));
    for (const { live, listener } of [...(subscriptions ?? [])]) {
      if (message.type !== 'appended' && !live) continue;
      try {
        listener(message);
      } catch {
        // Live messages may be lost: a listener that misses one reads the store.
      }
    }
  }

  watchOf(keyText: string): Watch | undefined {
    const subscriptions = this.#byKey.get(keyText);
    if (subscriptions === undefined || subscriptions.size === 0) return undefined;
    return { live: [...subscriptions].some(({ live }) => live) };
  }

  /** Every reported interest, for publishers that connect later. */
  all(): readonly (readonly [keyText: string, watch: Watch])[] {
    return [...this.#told].map(([keyText, live]) => [keyText, { live }]);
  }

  clear(): void {
    for (const end of this.#leaving.values()) clearTimeout(end);
    this.#leaving.clear();
    this.#told.clear();
    this.#byKey.clear();
  }

  #change(
    keyText: string,
    change: (subscriptions: Set<Subscription>) => void,
    joins = false,
  ): void {
    const before = this.watchOf(keyText);
    const subscriptions = this.#byKey.get(keyText) ?? new Set();
    change(subscriptions);
    if (subscriptions.size === 0) this.#byKey.delete(keyText);
    else this.#byKey.set(keyText, subscriptions);
    const after = this.watchOf(keyText);
    if (joins || before?.live !== after?.live) this.#changed(keyText, after);
  }

  #changed(keyText: string, watch: Watch | undefined): void {
    clearTimeout(this.#leaving.get(keyText));
    this.#leaving.delete(keyText);
    if (watch === undefined) this.#leave(keyText);
    // Every new subscription to live events is reported.
    else if (watch.live || this.#told.get(keyText) !== false) this.#tell(keyText, watch);
  }

  #leave(keyText: string): void {
    if (this.#lingerMs === 0) {
      this.#tell(keyText, undefined);
      return;
    }
    const end = setTimeout(() => {
      this.#leaving.delete(keyText);
      this.#tell(keyText, undefined);
    }, this.#lingerMs);
    this.#leaving.set(keyText, end.unref());
  }

  #tell(keyText: string, watch: Watch | undefined): void {
    if (watch === undefined) this.#told.delete(keyText);
    else this.#told.set(keyText, watch.live);
    this.#onChange(keyText, watch);
  }
}
