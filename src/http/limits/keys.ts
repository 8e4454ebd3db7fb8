/** The scope of an `Idempotency-Key`: two callers, or actors, who send the same key send two requests. */
import { createHash } from 'node:crypto';
import type { Request } from 'express';

/**
 * Names the request that a key stands for: the key by caller, route, tenant and, where a body names the actor of what it
 * begins, that actor. Undefined without a key.
 */
export function requestNameOf(
  callerOf: (request: Request) => string,
  request: Request,
  actor?: unknown,
): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined) return undefined;
  return JSON.stringify([callerOf(request), request.path, request.query['tenant'], actor, key]);
}

/** The id of what an actor begins under a key in a tenant, or in a conversation: a repeat of the actor finds it. */
export function idOfKey(prefix: string, actor: { readonly id: string }, key: string): string {
  const hash = createHash('sha256').update(JSON.stringify([actor.id, key]));
  return `${prefix}-${hash.digest('hex').slice(0, 32)}`;
}
