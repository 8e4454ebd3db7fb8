/** The sources and the readers of one tenant, for hubs that follow its conversations. */
import type { ConversationId } from '../../protocol/values/ids.js';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { ChangePoll, PollListener } from './poll.js';

/** Milliseconds for which a hub without readers is kept: a reader whose connection was cut comes back. */
const LINGER_MS = 5_000;

export interface Sources {
  readonly poll: ChangePoll;
  /** Without it all changes are found by polls. */
  readonly live?: LiveChannel | undefined;
}

/** Notifies a listener of changes, by hints and by the poll, until the returned function is called. */
export function followTenant(
  { poll, live }: Sources,
  tenant: string,
  listener: PollListener & { readonly hinted: (id: ConversationId) => void },
): () => void {
  const unsubscribe = live?.subscribe(tenantKey(tenant), { live: false }, (message) => {
    if (message.type === 'appended' && message.moved !== undefined) listener.hinted(message.moved);
  });
  const leave = poll.join(tenant, listener);
  return () => {
    unsubscribe?.();
    leave();
  };
}

/** The readers of a hub, as their listeners. */
export class Readers<Listener> implements Iterable<Listener> {
  readonly #listeners = new Set<Listener>();
  readonly #ended: () => void;
  #leaving: NodeJS.Timeout | undefined;

  /** @param ended Called once, some time after the last reader has left. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  [Symbol.iterator](): Iterator<Listener> {
    return this.#listeners.values();
  }

  /** Registers a reader from now on. Returns a function that ends it. */
  join(listener: Listener): () => void {
    clearTimeout(this.#leaving);
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#leaving = setTimeout(this.#ended, LINGER_MS).unref();
    };
  }
}
