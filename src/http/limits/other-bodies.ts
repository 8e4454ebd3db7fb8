/** Bodies of requests that were taken, by their `Idempotency-Key`. */
import { createHash } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { invalidField } from '../../client/api/errors.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { REUSED } from '../../protocol/values/ids.js';
import { canonicalJson, isBoundedJson, isRecord } from '../../protocol/values/json.js';
import { requestNameOf } from './keys.js';
import type { Running } from './running.js';

/** Keys that one process remembers, the newest; each has some hundred bytes. */
const MAX_KEYS = 10_000;
/** A day: clients repeat a request within minutes. */
const REMEMBERED_MS = 86_400_000;
/** Fields of bodies have values of at most this depth; a deeper body is refused by its route. */
const MAX_DEPTH = MAX_ANSWER_DEPTH + 10;

interface Bodies extends Running {
  /** Id of the actor that a body names, where the key of the request is that actor's. @defaultValue none */
  readonly namedActorIn?: (request: Request) => unknown;
}

/**
 * Refuses another body under the key of a request that this process has taken: by the key it would be a repeat, so its
 * content would be lost. Other processes do not know the key: requests whose effect must not happen twice are remembered
 * with it, such as the message of a conversation. Must stand behind the parser of bodies.
 */
export function refuseOtherBodies({ callerOf, isRefusable, namedActorIn }: Bodies): RequestHandler {
  const known = new LRUCache<string, string>({ max: MAX_KEYS, ttl: REMEMBERED_MS });
  return (request, response, next) => {
    const name = requestNameOf(callerOf, request, namedActorIn?.(request));
    const content = name !== undefined && isRefusable(request) ? contentOf(request) : undefined;
    if (name !== undefined && content !== undefined) {
      const digest = createHash('sha256').update(canonicalJson(content)).digest('base64');
      const first = known.get(name);
      if (first !== undefined && first !== digest) throw invalidField(REUSED.path, REUSED.message);
      response.once('finish', () => {
        // After a refusal the client may correct the request, and send it under the same key.
        if (response.statusCode < 300) known.set(name, digest);
      });
    }
    next();
  };
}

/** The body without its request id, which is the key; undefined where it is nested too deep to be compared. */
function contentOf(request: Request): object | undefined {
  const body: unknown = request.body ?? {};
  if (!isBoundedJson(body, MAX_DEPTH)) return undefined;
  const { requestId: _key, ...content } = isRecord(body) ? body : { body };
  return content;
}
