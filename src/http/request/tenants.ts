/** Whose conversation a request means. One of another tenant is never looked for: it is not there, whether it is or not. */
import type { Request } from 'express';
import { EngineError } from '../../client/api/errors.js';
import type { Conversation } from '../../client/conversation.js';
import { type ConversationKey, idProblem } from '../../protocol/values/ids.js';
import type { AppDeps } from './deps.js';
import { pathParameter } from './parse.js';

/** Those whose conversations whoever sent the request may name; the first is meant where the query names none. */
export function tenantsOf(deps: AppDeps, request: Request): readonly string[] {
  return deps.tenantsOf?.(request) ?? [deps.client.tenant];
}

/** For requests that name no conversation that is there. @throws {EngineError} forbidden for a tenant that is not the caller's */
export function tenantOf(deps: AppDeps, request: Request): string {
  const tenant = meantTenant(deps, request);
  if (tenant !== undefined) return tenant;
  const message = 'must be a tenant whose conversations whoever asks may name';
  throw new EngineError('forbidden', `?tenant ${message}`, {
    problems: [{ path: '?tenant', message }],
  });
}

/** The conversation of the path. @throws {EngineError} unknown_conversation, also for any of a tenant that is not the caller's */
export function keyOf(deps: AppDeps, request: Request): ConversationKey {
  const conversationId = pathParameter(request, 'id');
  const problem = idProblem('id', conversationId);
  // An id that no conversation can have names none.
  if (problem !== undefined)
    throw new EngineError('unknown_conversation', `No such conversation: ${problem}`);
  const tenant = meantTenant(deps, request);
  if (tenant === undefined)
    throw new EngineError('unknown_conversation', `No conversation "${conversationId}"`);
  return { tenant, conversationId };
}

/** The same, to be talked to. @throws {EngineError} as `keyOf` */
export function conversationOf(
  deps: AppDeps,
  request: Request,
  options: { readonly agent?: string | undefined } = {},
): Conversation {
  const { tenant, conversationId } = keyOf(deps, request);
  return deps.client.conversation(conversationId, { ...options, tenant });
}

/** Where a conversation is found, or what it has at `below`: with its tenant, where the request had to name it. */
export function addressOf(request: Request, conversationId: string, below = ''): string {
  const named = request.query['tenant'];
  const query = typeof named === 'string' ? `?tenant=${encodeURIComponent(named)}` : '';
  return `/v1/conversations/${conversationId}${below}${query}`;
}

function meantTenant(deps: AppDeps, request: Request): string | undefined {
  const tenants = tenantsOf(deps, request);
  const named = request.query['tenant'];
  return named === undefined ? tenants[0] : tenants.find((tenant) => tenant === named);
}
