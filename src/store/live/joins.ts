/** Listeners of publishers for new watchers of live events; shared by the adapters of the live channel. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';

export class Joins {
  readonly #byKey = new Map<string, Set<() => void>>();

  /** Returns a function that removes the listener; repeats of it are safe. */
  add(key: ConversationKey, listener: () => void): () => void {
    const keyText = conversationKey(key);
    const own = (): void => {
      listener();
    };
    const listeners = this.#byKey.get(keyText) ?? new Set();
    this.#byKey.set(keyText, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#byKey.get(keyText) === listeners)
        this.#byKey.delete(keyText);
    };
  }

  tell(keyText: string): void {
    for (const listener of [...(this.#byKey.get(keyText) ?? [])]) listener();
  }
}
