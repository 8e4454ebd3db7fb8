/** Subscriptions to live messages in this process. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveMessage, Watch } from '../ports/live.js';

interface Subscription {
  readonly live: boolean;
  readonly listener: (message: LiveMessage) => void;
}

/**
 * Milliseconds after which the end of the last subscription is reported; a new subscription within that time cancels
 * the report. A caller that waits for one result after the other subscribes and unsubscribes with each, and a change of
 * interest costs all processes more than some unneeded messages.
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
  /** The interest reported last, for each conversation that is watched or was until just now. */
  readonly #reported = new Map<string, boolean>();
  readonly #leaving = new Map<string, NodeJS.Timeout>();

  constructor(onChange: WatchChanged) {
    this.#onChange = onChange;
  }

  /** Returns a function that ends the subscription; repeats of it are safe. */
  add(key: ConversationKey, watch: Watch, listener: (message: LiveMessage) => void): () => void {
    const keyText = conversationKey(key);
    const subscription: Subscription = { live: watch.live, listener };
    const subscriptions = this.#byKey.get(keyText) ?? new Set();
    this.#byKey.set(keyText, subscriptions.add(subscription));
    this.#changed(keyText, watch.live);
    return () => {
      if (!subscriptions.delete(subscription) || this.#byKey.get(keyText) !== subscriptions) return;
      if (subscriptions.size === 0) this.#byKey.delete(keyText);
      this.#changed(keyText, false);
    };
  }

  /** Passes a message to its listeners. A listener that throws harms neither the others nor the publisher. */
  emit(message: LiveMessage): void {
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
    if (subscriptions === undefined) return undefined;
    return { live: [...subscriptions].some(({ live }) => live) };
  }

  /** Every reported interest. */
  all(): readonly (readonly [keyText: string, live: boolean])[] {
    return [...this.#reported];
  }

  clear(): void {
    for (const end of this.#leaving.values()) clearTimeout(end);
    this.#leaving.clear();
    this.#reported.clear();
    this.#byKey.clear();
  }

  #changed(keyText: string, joins: boolean): void {
    clearTimeout(this.#leaving.get(keyText));
    this.#leaving.delete(keyText);
    const watch = this.watchOf(keyText);
    if (watch === undefined) {
      const end = setTimeout(() => {
        this.#leaving.delete(keyText);
        this.#reported.delete(keyText);
        this.#onChange(keyText, undefined);
      }, LINGER_MS);
      this.#leaving.set(keyText, end.unref());
    } else if (joins || this.#reported.get(keyText) !== watch.live) {
      this.#reported.set(keyText, watch.live);
      this.#onChange(keyText, watch);
    }
  }
}
