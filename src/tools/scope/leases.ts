/** Values that calls share: opened for the first, closed when no call has used them for a while. Runs in the worker. */

export interface Shared<Value> {
  open(): Promise<Value>;
  close(value: Value): unknown;
  /** Milliseconds without use after which the value is closed. */
  readonly idleMs: number;
}

export interface Lease<Value> {
  readonly value: Value;
  /** Safe to repeat. */
  release(): void;
}

interface Entry {
  readonly value: Promise<unknown>;
  readonly close: () => Promise<void>;
  uses: number;
  idle?: NodeJS.Timeout | undefined;
}

/** Longest delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647;

export class Leases {
  readonly #entries = new Map<string, Entry>();
  readonly #onError: (error: unknown) => void;

  /** @param onError gets the errors of `close` */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Calls with one key that begin at once share one value, which stays open until the last of them is released. A value
   * that could not be opened is opened anew for the next call.
   * @throws the error of `open`
   */
  async take<Value>(key: string, shared: Shared<Value>): Promise<Lease<Value>> {
    const entry = this.#entries.get(key) ?? this.#opened(key, shared);
    entry.uses += 1;
    clearTimeout(entry.idle);
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.#released(key, entry, shared.idleMs);
      isHeld = false;
    };
    try {
      return { value: (await entry.value) as Value, release };
    } catch (error) {
      this.#forget(key, entry);
      throw error;
    }
  }

  /** Closes all values, also those in use. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(
      entries.map((entry) => {
        clearTimeout(entry.idle);
        return entry.close();
      }),
    );
  }

  #opened<Value>(key: string, shared: Shared<Value>): Entry {
    const value = shared.open();
    const close = async (): Promise<void> => {
      // The caller that asked for a value which could not be opened has the error.
      const opened = await value.then(
        (it) => [it],
        () => [],
      );
      try {
        for (const it of opened) await shared.close(it);
      } catch (error) {
        this.#onError(error);
      }
    };
    const entry: Entry = { value, close, uses: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  #released(key: string, entry: Entry, idleMs: number): void {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    const end = (): void => {
      if (this.#forget(key, entry)) void entry.close();
    };
    entry.idle = setTimeout(end, Math.min(idleMs, MAX_TIMER_MS));
    entry.idle.unref();
  }

  /** False when the entry is not in the map, because it was closed, or replaced by another. */
  #forget(key: string, entry: Entry): boolean {
    return this.#entries.get(key) === entry && this.#entries.delete(key);
  }
}
