/** The actor for whom a list is made. */
import type { Request } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { has, identityOf } from '../identity/callers.js';

/** An actor as a query names it, and the names of the parameters. */
export interface NamedActor {
  readonly id: string | undefined;
  readonly role: string | readonly string[] | undefined;
  readonly names: readonly [id: string, role: string];
}

/**
 * The caller, with its own roles, or another actor, which needs a right. An actor is verified as the caller is.
 * @throws {ConversationError} invalid_request, forbidden
 */
export function listedActor(request: Request, { id, role, names }: NamedActor): StampedActor {
  const [ofId, ofRole] = names;
  if (id === undefined && role !== undefined)
    throw invalidField(`?${ofRole}`, `needs ${ofId}, the id of the actor`);
  const { actor, verified } = identityOf(request);
  const isOther = id !== undefined && (id !== actor.id || role !== undefined);
  if (isOther && !has(request, 'act-as') && !has(request, 'admin'))
    throw new ConversationError(
      'forbidden',
      `${ofId} another actor than the caller needs the right "act-as" or "admin"`,
    );
  const { roles } = isOther ? { roles: typeof role === 'string' ? [role] : role } : actor;
  return {
    id: id ?? actor.id,
    ...(roles === undefined ? {} : { roles }),
    verified,
    channel: 'api',
  };
}
