/**
 * Open event streams. A server that stops ends them, because they would keep it alive for ever; the end of the caller's
 * credentials ends its streams, and no caller has more than its share. Also whether the server has begun to stop.
 */
import type { Express, Request, Response } from 'express';
import { identityOf } from '../identity/callers.js';
import { tooManyStreams } from '../limits/refusals.js';

/** Milliseconds after which the callers of open streams are identified again: a key may have been revoked. */
export const RECHECK_MS = 5_000;

export interface StreamRules {
  /** False when the sender of an open stream is no longer the caller that opened it. */
  readonly isSameCaller: (request: Request) => Promise<boolean>;
  /** @defaultValue no limit */
  readonly maxPerCaller?: number | undefined;
  readonly callerOf: (request: Request) => string;
}

export class OpenStreams {
  readonly #rules: StreamRules;
  readonly #stops = new Set<AbortController>();
  /** Numbers of streams by caller; a caller without one takes no memory. */
  readonly #counts = new Map<string, number>();
  readonly #end = new AbortController();
  #draining = false;

  constructor(rules: StreamRules) {
    this.#rules = rules;
  }

  /**
   * Registers the stream that answers a request, until the response is closed. Returns its signal, which aborts at that
   * time, at `endAll`, and at the end of the caller's identity.
   * @throws {ConversationError} rate_limited when the caller has as many streams as it may
   */
  open(request: Request, response: Response): AbortSignal {
    const stop = new AbortController();
    const leave = this.#enter(this.#rules.callerOf(request));
    this.#stops.add(stop);
    const { expiresAt } = identityOf(request);
    const expires = expiresAt === undefined ? undefined : atTime(expiresAt, stop);
    const rechecks = this.#recheck(request, stop);
    const done = (): void => {
      expires?.();
      rechecks();
      leave();
      this.#stops.delete(stop);
      stop.abort();
    };
    // The client may have left while its request was checked.
    if (response.closed) done();
    else response.once('close', done);
    if (this.ended.aborted) stop.abort();
    return stop.signal;
  }

  #enter(caller: string): () => void {
    const count = this.#counts.get(caller) ?? 0;
    const { maxPerCaller } = this.#rules;
    if (maxPerCaller !== undefined && count >= maxPerCaller) throw tooManyStreams(maxPerCaller);
    this.#counts.set(caller, count + 1);
    return () => {
      const left = (this.#counts.get(caller) ?? 1) - 1;
      if (left === 0) this.#counts.delete(caller);
      else this.#counts.set(caller, left);
    };
  }

  /** One check at a time: a scheme may be slow. Returns a function that ends the checks. */
  #recheck(request: Request, stop: AbortController): () => void {
    let timer: NodeJS.Timeout | undefined;
    const check = async (): Promise<void> => {
      // A scheme that cannot say now says it later.
      const isKnown = await this.#rules.isSameCaller(request).catch(() => true);
      if (!isKnown) stop.abort();
      else if (!stop.signal.aborted) wait();
    };
    const wait = (): void => {
      timer = setTimeout(() => void check(), RECHECK_MS);
    };
    wait();
    return () => {
      clearTimeout(timer);
    };
  }

  /** Aborts with `endAll`, for streams that are not of the API. */
  get ended(): AbortSignal {
    return this.#end.signal;
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
    this.#draining = true;
    this.#end.abort();
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
