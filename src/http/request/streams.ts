/**
 * Open event streams. A server that stops ends them, because they would keep it alive for ever; the end of the caller's
 * credentials ends its streams. Also whether the server has begun to stop.
 */
import type { Express, Request } from 'express';
import { identityOf } from '../identity/callers.js';

/** Milliseconds after which the callers of open streams are identified again: a key may have been revoked. */
export const RECHECK_MS = 5_000;

/** False when the sender of an open stream is no longer the caller that opened it. */
type Recheck = (request: Request) => Promise<boolean>;

export class OpenStreams {
  readonly #stops = new Set<AbortController>();
  readonly #recheck: Recheck;

  constructor(recheck: Recheck) {
    this.#recheck = recheck;
  }

  #closed = false;
  #draining = false;

  /**
   * Registers the stream that answers a request. Returns its signal, which `endAll` and the end of the caller's identity
   * abort, and `done`, for when the stream is over.
   */
  open(request: Request): { readonly signal: AbortSignal; readonly done: () => void } {
    const stop = new AbortController();
    if (this.#closed) stop.abort();
    this.#stops.add(stop);
    const { expiresAt } = identityOf(request);
    const stopWatch = expiresAt === undefined ? () => undefined : atTime(expiresAt, stop);
    const rechecking = setInterval(() => {
      // A scheme that cannot say now says it later.
      void this.#recheck(request).then(
        (isKnown) => {
          if (!isKnown) stop.abort();
        },
        () => undefined,
      );
    }, RECHECK_MS);
    return {
      signal: stop.signal,
      done: () => {
        stopWatch();
        clearInterval(rechecking);
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

/** The longest time that a timer can have. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts at this time. Returns a function that forgets it. */
function atTime(time: Date, stop: AbortController): () => void {
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const left = time.getTime() - Date.now();
    if (left <= 0) stop.abort();
    else timer = setTimeout(wait, Math.min(left, MAX_TIMER_MS));
  };
  wait();
  return () => {
    clearTimeout(timer);
  };
}

const streamsByApp = new WeakMap<object, OpenStreams>();

export function rememberStreams(app: Express, streams: OpenStreams): void {
  streamsByApp.set(app, streams);
}

/** Returns the streams of an app made by `createApp`; undefined for any other app. */
export function streamsOf(app: object): OpenStreams | undefined {
  return streamsByApp.get(app);
}
