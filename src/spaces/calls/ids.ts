/** Ids of spaces, messages and shown calls: one caller gets the same id again for the same request, others do not. */
import { createHash, randomUUID } from 'node:crypto';
import type { MemberRef, SpaceKey } from '../../protocol/spaces/spaces.js';

/** The id of a space by its creator. Another one each time without a request id. */
export function spaceIdOf(tenant: string, creator: MemberRef, requestId?: string): string {
  return `sp_${idOf([tenant, creator.kind, creator.id], requestId)}`;
}

/** The id of a message by its space and its author. Another one each time without a request id. */
export function messageIdOf(space: SpaceKey, author: MemberRef, requestId?: string): string {
  return `msg_${idOf([space.tenant, space.spaceId, author.kind, author.id], requestId)}`;
}

/** The id of a call, the same in every space, by its author and the request that shows it. */
export function callIdOf(tenant: string, author: MemberRef, requestId: string): string {
  return `call_${idOf([tenant, author.kind, author.id], requestId)}`;
}

function idOf(scope: readonly string[], requestId: string = randomUUID()): string {
  const hash = createHash('sha256').update(JSON.stringify([...scope, requestId]));
  return hash.digest('hex').slice(0, 24);
}
