/**
 * The tenant and the conversation that a request names. A conversation that the caller may not name is never looked up,
 * so the answer does not depend on its existence.
 */
import type { Request } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import type { Conversation } from '../../client/conversation.js';
import { type ConversationKey, idProblem, type NameableKeys } from '../../protocol/values/ids.js';
import { identityOf } from '../identity/callers.js';
import type { AppDeps } from './deps.js';
import { pathParameter } from './parse.js';

/**
 * For requests that name no existing conversation. @throws {ConversationError} forbidden for a tenant that is not the
 * caller's
 */
export function tenantOf(request: Request): string {
  const tenant = meantTenant(request);
  if (tenant !== undefined) return tenant;
  const message = 'must be a tenant whose conversations the caller may name';
  throw new ConversationError('forbidden', `?tenant ${message}`, {
    problems: [{ path: '?tenant', message }],
  });
}

/**
 * The conversation of the path. @throws {ConversationError} unknown_conversation, also for any conversation that is not
 * the caller's
 */
export function keyOf(request: Request): ConversationKey {
  return keyFor(request, pathParameter(request, 'id'));
}

/** The same, for a conversation that the body names. */
export function keyFor(request: Request, conversationId: string): ConversationKey {
  const problem = idProblem('id', conversationId);
  // An id that breaks the rules of ids names no conversation.
  if (problem !== undefined)
    throw new ConversationError('unknown_conversation', `No such conversation: ${problem}`);
  const tenant = meantTenant(request);
  if (tenant === undefined || !mayName(request, { tenant, conversationId }))
    throw new ConversationError('unknown_conversation', `No conversation "${conversationId}"`);
  return { tenant, conversationId };
}

/** The conversations that the caller may name, for a search among them. */
export function nameableKeys(request: Request): NameableKeys {
  const { tenants, conversation } = identityOf(request);
  return { tenants, conversationId: conversation };
}

/** Whether the caller may name a conversation that exists, or begin it. */
export function mayName(request: Request, { tenant, conversationId }: ConversationKey): boolean {
  const { tenants, conversation } = identityOf(request);
  return tenants.includes(tenant) && (conversation ?? conversationId) === conversationId;
}

/** `keyOf` as a handle of the client. @throws {ConversationError} as `keyOf` */
export function conversationOf(
  deps: AppDeps,
  request: Request,
  options: { readonly agent?: string | undefined } = {},
): Conversation {
  const { tenant, conversationId } = keyOf(request);
  return deps.client.conversation(conversationId, { ...options, tenant });
}

/** The path of a conversation, or of a resource `below` it, with the tenant if the request named it. */
export function addressOf(request: Request, conversationId: string, below = ''): string {
  const named = request.query['tenant'];
  const query = typeof named === 'string' ? `?tenant=${encodeURIComponent(named)}` : '';
  return `/v1/conversations/${conversationId}${below}${query}`;
}

function meantTenant(request: Request): string | undefined {
  const { tenants } = identityOf(request);
  const named = request.query['tenant'];
  return named === undefined ? tenants[0] : tenants.find((tenant) => tenant === named);
}
