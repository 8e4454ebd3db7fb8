/**
 * Reads of a tenant's waiting calls that all watchers of this process share: one read of the store for any number of
 * them, after a hint that a log of the tenant has grown, and now and then without one, because hints may be lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { Outages } from '../source/outages.js';

/** Milliseconds between two reads of the same, however many hints come. */
const GAP_MS = 100;
const POLL_MS = 2_000;

export interface SharedRead<Value> {
  readonly tenant: string;
  /** Watchers of one tenant that name the same share one read. */
  readonly name: string;
  readonly read: () => Promise<Value>;
  /** Whether the watchers need not see the newer of two values. */
  readonly isSame: (older: Value, newer: Value) => boolean;
}

export interface SharedReadsParts {
  /** Without it all changes are found by polls. */
  readonly live: LiveChannel | undefined;
  readonly outages: Outages;
  /** Milliseconds after which the store is read without a hint. @defaultValue 2,000 */
  readonly pollMs?: number;
}

export class SharedReads<Value> {
  readonly #parts: SharedReadsParts;
  readonly #sources = new Map<string, Source<Value>>();

  constructor(parts: SharedReadsParts) {
    this.#parts = parts;
  }

  /**
   * The newest value, then each newer one until the signal aborts. A watcher that takes its time misses those between.
   * @throws what `read` throws, if the watcher has no value yet
   */
  async *watch(shared: SharedRead<Value>, signal: AbortSignal): AsyncGenerator<Value, void, void> {
    const name = JSON.stringify([shared.tenant, shared.name]);
    const source = this.#sources.get(name) ?? new Source(this.#parts, shared);
    this.#sources.set(name, source);
    source.watchers += 1;
    try {
      for (let seen = 0; ; ) {
        const next = await source.after(seen, signal);
        if (next === undefined) return;
        seen = next.version;
        yield next.value;
      }
    } finally {
      source.watchers -= 1;
      if (source.watchers === 0) {
        this.#sources.delete(name);
        source.close();
      }
    }
  }
}

interface Versioned<Value> {
  readonly version: number;
  readonly value: Value;
}

class Source<Value> {
  watchers = 0;
  readonly #shared: SharedRead<Value>;
  readonly #outages: Outages;
  readonly #pollMs: number;
  readonly #unsubscribe: () => void;
  readonly #closed = new AbortController();
  readonly #waiting = new Set<() => void>();
  #newest: Versioned<Value> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake = new AbortController();

  constructor({ live, outages, pollMs = POLL_MS }: SharedReadsParts, shared: SharedRead<Value>) {
    this.#shared = shared;
    this.#outages = outages;
    this.#pollMs = pollMs;
    const hear = (): void => {
      this.#wake.abort();
    };
    // Before the first read, so that no change is missed between them.
    const watch = { live: false };
    this.#unsubscribe = live?.subscribe(tenantKey(shared.tenant), watch, hear) ?? (() => undefined);
    void this.#run();
  }

  /** The newest value once there is one that is newer; undefined when the signal aborts. */
  async after(version: number, signal: AbortSignal): Promise<Versioned<Value> | undefined> {
    for (;;) {
      if (signal.aborted) return undefined;
      if (this.#newest !== undefined && this.#newest.version > version) return this.#newest;
      if (this.#newest === undefined && this.#failure !== undefined) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done);
      });
    }
  }

  close(): void {
    this.#unsubscribe();
    this.#closed.abort();
    this.#wake.abort();
  }

  /** Reads until it is closed; a read that fails is tried again. */
  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      await this.#read();
      // An abort is the normal end of both pauses.
      await sleep(GAP_MS, undefined, { signal, ref: false }).catch(() => undefined);
      await sleep(this.#pollMs, undefined, { signal: this.#wake.signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  async #read(): Promise<void> {
    const { read, isSame } = this.#shared;
    try {
      const value = await read();
      this.#failure = undefined;
      this.#outages.succeeded();
      const { version = 0, value: older } = this.#newest ?? {};
      if (older !== undefined && isSame(older, value)) return;
      this.#newest = { version: version + 1, value };
    } catch (error) {
      this.#failure = { error };
      this.#outages.failed(error, undefined, 'waiting_calls');
    }
    for (const wake of [...this.#waiting]) wake();
  }
}
