/** Requests that this process is answering, by their `Idempotency-Key`. */
import type { Request, RequestHandler } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { requestNameOf } from './keys.js';

/** Milliseconds after which a repeat may find the first request answered. */
const PAUSE_MS = 1_000;

export interface Running {
  readonly callerOf: (request: Request) => string;
  /** Requests whose key makes repeats one request. */
  readonly isRefusable: (request: Request) => boolean;
}

/**
 * Refuses a repeat while the first request under its key is open. A repeat that reaches another process, or comes after
 * the connection of the first was cut, is taken: by its key it is the same request, and gets the same answer. Must stand
 * behind the middleware that identifies callers.
 */
export function refuseRunning({ callerOf, isRefusable }: Running): RequestHandler {
  const running = new Set<string>();
  return (request, response, next) => {
    const name = requestNameOf(callerOf, request);
    if (name !== undefined && isRefusable(request)) {
      if (running.has(name))
        throw new ConversationError(
          'request_running',
          'The first request under this Idempotency-Key is still being answered',
          { retryAfterMs: PAUSE_MS },
        );
      running.add(name);
      response.once('close', () => running.delete(name));
    }
    next();
  };
}
