/** Who watches what in this process; shared by the adapters of the live channel. */
import type { ConversationKey } from '../../protocol/ids.js';
import { conversationKey } from '../../protocol/ids.js';
import type { LiveMessage, Watch } from '../live-port.js';

interface Subscription {
  readonly live: boolean;
  readonly listener: (message: LiveMessage) => void;
}

/**
 * Called when what this process watches has changed; `undefined` = nobody watches the conversation any more. Also when one more
 * begins to watch live events: whoever streams has to say again what that one has missed.
 */
export type WatchChanged = (keyText: string, watch: Watch | undefined) => void;

export class LiveSubscriptions {
  readonly #byKey = new Map<string, Set<Subscription>>();
  readonly #onChange: WatchChanged;

  constructor(onChange: WatchChanged = () => undefined) {
    this.#onChange = onChange;
  }

  /** Returns a function that stops; stopping twice is safe. */
  add(key: ConversationKey, watch: Watch, listener: (message: LiveMessage) => void): () => void {
    const keyText = conversationKey(key);
    const subscription: Subscription = { live: watch.live, listener };
    this.#change(keyText, (subscriptions) => subscriptions.add(subscription), watch.live);
    return () => {
      this.#change(keyText, (subscriptions) => subscriptions.delete(subscription));
    };
  }

  /** Hands a message to its listeners. A listener that throws harms neither the others nor the publisher. */
  deliver(message: LiveMessage): void {
    const subscriptions = this.#byKey.get(conversationKey(message));
    for (const { live, listener } of [...(subscriptions ?? [])]) {
      if (message.type !== 'appended' && !live) continue;
      try {
        listener(message);
      } catch {
        // Live messages may be lost; whoever loses one reads the store.
      }
    }
  }

  watchOf(keyText: string): Watch | undefined {
    const subscriptions = this.#byKey.get(keyText);
    if (subscriptions === undefined || subscriptions.size === 0) return undefined;
    return { live: [...subscriptions].some(({ live }) => live) };
  }

  /** Everything that is watched now. */
  all(): readonly (readonly [keyText: string, watch: Watch])[] {
    return [...this.#byKey.keys()].flatMap((keyText) => {
      const watch = this.watchOf(keyText);
      return watch === undefined ? [] : [[keyText, watch] as const];
    });
  }

  clear(): void {
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
    if (joins || before?.live !== after?.live) this.#onChange(keyText, after);
  }
}
