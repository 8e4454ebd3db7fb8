/**
 * Refuses requests of a caller that sends too many, with the time after which the next one is taken. Answers to calls
 * are never refused: the person or program that gives one has waited for its turn, and a lost answer is worse than a
 * late one. The client admits them as workers can take them, and keeps the rest in Temporal.
 */
import type { Request, RequestHandler } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type CallerLimits, DEFAULT_REQUESTS, WINDOW_SECONDS } from './options.js';
import { tooMany } from './refusals.js';

export interface Limiting extends Pick<CallerLimits, 'requests'> {
  readonly callerOf: (request: Request) => string;
  /** Requests that are neither counted nor refused. */
  readonly isFree: (request: Request) => boolean;
}

/** To stand behind everything that finds out who the caller is, and before the parsers of bodies. */
export function limitCallers(limiting: Limiting): RequestHandler {
  const { requests = DEFAULT_REQUESTS, callerOf, isFree } = limiting;
  if (requests === 'off') return (_request, _response, next) => next();
  const counted = new RateLimiterMemory({ points: requests, duration: WINDOW_SECONDS });
  return async (request, _response, next) => {
    if (!isFree(request))
      try {
        await counted.consume(callerOf(request));
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const rule = `A caller may send ${requests} requests in ${WINDOW_SECONDS} s`;
        throw tooMany(rule, refused.msBeforeNext);
      }
    next();
  };
}
