/** A value of the API that a page shows, kept up to date over lost connections while it is open. */
import { type Connection, type Followed, follow } from './following.js';
import { Listeners } from './listeners.js';

export abstract class LiveStore<View extends { readonly connection: Connection }> {
  readonly #listeners = new Listeners<[]>();
  #view: View;
  #leaving: AbortController | undefined;

  protected constructor(view: View) {
    this.#view = view;
  }

  /** The present view: the same object until something changes. Bound, for `useSyncExternalStore`. */
  readonly getSnapshot = (): View => this.#view;

  /** Calls the listener after each change of the view. Returns how to end that. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  /** Reads and follows, over lost connections, until `stop`. Never throws; a repeat changes nothing. */
  open(): void {
    if (this.#leaving !== undefined) return;
    const leaving = new AbortController();
    this.#leaving = leaving;
    this.#set({ ...this.#view, connection: { state: 'connecting' } });
    const { signal } = leaving;
    const show: Followed['show'] = (connection) => {
      if (!signal.aborted) this.#set({ ...this.#view, connection });
    };
    const followed = { ...this.followed(signal, show), show };
    void follow(followed, { signal, onRead: () => undefined }).then(() => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    });
  }

  /** Ends the connection. The view stays; `open` begins again. */
  stop(): void {
    this.#leaving?.abort();
    this.#leaving = undefined;
    this.#set({ ...this.#view, connection: { state: 'off' } });
  }

  /** How one opening reads and follows. Nothing is shown any more once the signal aborts. */
  protected abstract followed(signal: AbortSignal, show: Followed['show']): Omit<Followed, 'show'>;

  protected show(part: Partial<View>): void {
    this.#set({ ...this.#view, ...part });
  }

  #set(view: View): void {
    this.#view = view;
    this.#listeners.call();
  }
}
