/**
 * The tenant and the conversation that a request names. A conversation of another tenant is never looked up, so the
 * answer does not depend on its existence.
 */
import type { Request } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import type { Conversation } from '../../client/conversation.js';
import { type ConversationKey, idProblem } from '../../protocol/values/ids.js';
import type { AppDeps } from './deps.js';
import { pathParameter } from './parse.js';

/** The tenants whose conversations the sender may name; the first is the default when the query names none. */
export function tenantsOf(deps: AppDeps, request: Request): readonly string[] {
  return deps.tenantsOf?.(request) ?? [deps.client.tenant];
}

/**
 * For requests that name no existing conversation. @throws {ConversationError} forbidden for a tenant that is not the
 * caller's
 */
export function tenantOf(deps: AppDeps, request: Request): string {
  const tenant = meantTenant(deps, request);
  if (tenant !== undefined) return tenant;
  const message = 'must be a tenant whose conversations the caller may name';
  throw new ConversationError('forbidden', `?tenant ${message}`, {
    problems: [{ path: '?tenant', message }],
  });
}

/**
 * The conversation of the path. @throws {ConversationError} unknown_conversation, also for any conversation of a tenant that
 * is not the caller's
 */
export function keyOf(deps: AppDeps, request: Request): ConversationKey {
  const conversationId = pathParameter(request, 'id');
  const problem = idProblem('id', conversationId);
  // An id that breaks the rules of ids names no conversation.
  if (problem !== undefined)
    throw new ConversationError('unknown_conversation', `No such conversation: ${problem}`);
  const tenant = meantTenant(deps, request);
  if (tenant === undefined)
    throw new ConversationError('unknown_conversation', `No conversation "${conversationId}"`);
  return { tenant, conversationId };
}

/** The same, as a handle of the client. @throws {ConversationError} as `keyOf` */
export function conversationOf(
  deps: AppDeps,
  request: Request,
  options: { readonly agent?: string | undefined } = {},
): Conversation {
  const { tenant, conversationId } = keyOf(deps, request);
  return deps.client.conversation(conversationId, { ...options, tenant });
}

/** The path of a conversation, or of a resource `below` it, with the tenant if the request named it. */
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
