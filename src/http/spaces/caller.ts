/** The caller of a route of spaces, and the space that its path names. */
import type { Request } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { MEMBER_KINDS } from '../../protocol/spaces/spaces.js';
import type { Actor } from '../../protocol/values/actors.js';
import type { SpaceCaller, Spaces } from '../../spaces/service.js';
import { actorOf, has } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { pathParameter } from '../request/parse.js';
import { tenantOf } from '../request/tenants.js';

/**
 * The person who sends the request, or the actor that its body names. @throws {ConversationError} forbidden for a tenant
 * that is not the caller's; invalid_request for an actor that it may not name
 */
export function callerIn(request: Request, named?: Actor): SpaceCaller {
  const { id, name } = actorOf(request, named);
  return {
    tenant: tenantOf(request),
    member: { kind: 'person', id, ...(name === undefined || name.trim() === '' ? {} : { name }) },
    isAdmin: has(request, 'admin'),
  };
}

/** The service judges it: a text that is no id names no space. */
export function spaceIdOf(request: Request): string {
  return pathParameter(request, 'spaceId');
}

/** @throws {ConversationError} not_found where the application has no spaces */
export function spacesOf({ spaces }: AppDeps): Spaces {
  if (spaces === undefined)
    throw new ConversationError('not_found', 'This API has no store of spaces');
  return spaces;
}

export function unknownMember(kind: string): ConversationError {
  const kinds = MEMBER_KINDS.join(' or ');
  return new ConversationError('not_found', `Members are of the kind ${kinds}, not "${kind}"`);
}
