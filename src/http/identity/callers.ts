/** The identity of each request that is under way, and the checks of its rights. */
import type { Request } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { Actor, StampedActor } from '../../protocol/values/actors.js';
import type { Identity, Right } from './identity.js';

interface Caller {
  readonly identity: Identity;
  /** Id of the actor that a body named in place of the caller. */
  actingAs?: string;
}

const callers = new WeakMap<Request, Caller>();

export function rememberIdentity(request: Request, identity: Identity): void {
  callers.set(request, { identity });
}

/** @throws {ConversationError} unauthenticated, also on routes that need no identity */
export function identityOf(request: Request): Identity {
  const caller = callers.get(request);
  if (caller !== undefined) return caller.identity;
  throw new ConversationError('unauthenticated', 'The request has no valid credentials');
}

/** @throws {ConversationError} unauthenticated, or forbidden naming the right */
export function requireRight(request: Request, right: Right): void {
  if (has(request, right)) return;
  throw new ConversationError('forbidden', `The caller lacks the right "${right}"`);
}

export function has(request: Request, right: Right): boolean {
  return identityOf(request).rights.includes(right);
}

/**
 * The actor of what a request sends: the caller, or the one that its body names, which needs the right `act-as`.
 * `path` is the place of the field in the body.
 * @throws {ConversationError} invalid_request naming the field
 */
export function actorOf(
  request: Request,
  named: Actor | undefined,
  path: string = '/actor',
): StampedActor {
  const { actor, verified } = identityOf(request);
  if (named !== undefined) {
    if (!has(request, 'act-as'))
      throw invalidField(path, 'must be left out: naming an actor needs the right "act-as"');
    const caller = callers.get(request);
    if (caller !== undefined) caller.actingAs = named.id;
  }
  const { id, name, roles } = named ?? actor;
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles }),
    verified,
    channel: 'api',
  };
}

/**
 * One caller, for limits: its tenant, actor and the conversation that it is bound to, or the address of its connection
 * where no identity is needed.
 */
export function callerOf(request: Request): string {
  const caller = callers.get(request);
  if (caller === undefined) return `address ${request.socket.remoteAddress ?? 'unknown'}`;
  const { tenants, actor, conversation } = caller.identity;
  return JSON.stringify([tenants[0], actor.id, conversation]);
}

/** Fields of the request's log line. */
export function loggedCaller(request: Request): {
  readonly caller?: string;
  readonly actingAs?: string;
} {
  const caller = callers.get(request);
  if (caller === undefined) return {};
  const { identity, actingAs } = caller;
  return { caller: identity.actor.id, ...(actingAs === undefined ? {} : { actingAs }) };
}
