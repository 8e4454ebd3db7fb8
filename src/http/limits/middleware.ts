/**
 * Refuses requests of a caller that sends too many, with the time after which the next one is taken. Answers to calls
 * are never refused: the person or program that gives one has waited for its turn, and a lost answer is worse than a
 * late one. The client admits them as workers can take them, and keeps the rest in Temporal.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ConversationError } from '../../client/api/errors.js';
import { type CallerLimits, DEFAULT_REQUESTS, DEFAULT_STREAMS, WINDOW_SECONDS } from './options.js';

/** Answers to calls, one or many, and claims of them with their progress. */
const ANSWERS =
  /^\/v1\/(?:worklist\/resolutions|conversations\/[^/]+\/(?:tool-calls\/[^/]+\/(?:resolution|claim|extend|progress)|steps\/[^/]+\/tool-results))\/?$/i;
const PROBES = new Set(['/healthz', '/readyz']);
/** Milliseconds after which a stream may be tried again; nothing says when one of the open ones ends. */
const STREAM_PAUSE_MS = 5_000;

/** To stand behind everything that finds out who the caller is, and before the parsers of bodies. */
export function limitCallers(
  limits: CallerLimits & Required<Pick<CallerLimits, 'callerOf'>>,
): RequestHandler {
  const { requests = DEFAULT_REQUESTS, streams = DEFAULT_STREAMS, callerOf } = limits;
  const counted =
    requests === 'off'
      ? undefined
      : new RateLimiterMemory({ points: requests, duration: WINDOW_SECONDS });
  const open = new OpenByCaller(streams === 'off' ? Number.POSITIVE_INFINITY : streams);
  return async (request: Request, response: Response, next: NextFunction) => {
    if (isFree(request)) {
      next();
      return;
    }
    const caller = callerOf(request);
    try {
      await counted?.consume(caller);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw tooMany(
        `A caller may send ${requests} requests in ${WINDOW_SECONDS} s`,
        refused.msBeforeNext,
      );
    }
    if (asksForStream(request)) {
      const leave = open.enter(caller);
      if (leave === undefined)
        throw tooMany(`A caller may have ${streams} streams open at once`, STREAM_PAUSE_MS);
      response.once('close', leave);
    }
    next();
  };
}

function tooMany(rule: string, retryAfterMs: number): ConversationError {
  return new ConversationError('rate_limited', `${rule}; try again after Retry-After`, {
    retryAfterMs,
  });
}

function isFree({ method, path }: Request): boolean {
  return method === 'OPTIONS' || PROBES.has(path) || (method === 'POST' && ANSWERS.test(path));
}

function asksForStream(request: Request): boolean {
  return (
    request.method === 'GET' &&
    request.accepts(['json', 'text/event-stream']) === 'text/event-stream'
  );
}

/** Numbers of open streams by caller; a caller without one takes no memory. */
class OpenByCaller {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns what ends the stream; undefined when the caller has as many as it may. */
  enter(caller: string): (() => void) | undefined {
    const count = this.#open.get(caller) ?? 0;
    if (count >= this.#max) return undefined;
    this.#open.set(caller, count + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left === 0) this.#open.delete(caller);
      else this.#open.set(caller, left);
    };
  }
}
