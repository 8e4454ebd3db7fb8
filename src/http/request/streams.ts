/**
 * Open event streams, kept so that a server that stops can end them: they would keep it alive for ever. Also whether the
 * server has begun to stop.
 */
import type { Express } from 'express';

export class OpenStreams {
  readonly #stops = new Set<AbortController>();
  #closed = false;
  #draining = false;

  /** Registers a stream and returns its signal, which `endAll` aborts, and `done` when the stream is over. */
  open(): { readonly signal: AbortSignal; readonly done: () => void } {
    const stop = new AbortController();
    if (this.#closed) stop.abort();
    this.#stops.add(stop);
    return {
      signal: stop.signal,
      done: () => {
        this.#stops.delete(stop);
        stop.abort();
      },
    };
  }

  get count(): number {
    return this.#stops.size;
  }

  /** True once the server has begun to stop; it still serves for a while. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** From now on the app is not ready: balancers send new requests to other processes. */
  drain(): void {
    this.#draining = true;
  }

  /** Ends every stream, and any that is opened later. */
  endAll(): void {
    this.#closed = true;
    this.#draining = true;
    for (const stop of [...this.#stops]) stop.abort();
  }
}

const streamsByApp = new WeakMap<object, OpenStreams>();

export function rememberStreams(app: Express, streams: OpenStreams): void {
  streamsByApp.set(app, streams);
}

/** Returns the streams of an app made by `createApp`; undefined for any other app. */
export function streamsOf(app: object): OpenStreams | undefined {
  return streamsByApp.get(app);
}
