/** The space that shows a call of a conversation, and whether a person is a member of it. */
import { createHash } from 'node:crypto';
import {
  type AgentEntity,
  agentMemberId,
  type MemberRef,
  type SpaceKey,
} from '../../protocol/spaces/spaces.js';
import type { SpaceStore } from '../../store/ports/spaces/spaces.js';
import { showRequestId } from '../plugin/shown.js';

/** A call by the agent that made it, and its place in the conversation. */
export interface MadeCall extends AgentEntity {
  readonly tenant: string;
  readonly turnId: string;
  readonly step: number;
  readonly toolCallId: string;
}

/** An id that the same caller gets again for the same request, and no other caller. */
export function idOf(scope: readonly string[], requestId: string): string {
  const hash = createHash('sha256').update(JSON.stringify([...scope, requestId]));
  return hash.digest('hex').slice(0, 24);
}

/** The id of a message by its space, its author and the request that stores it. */
export function messageIdOf(
  { tenant, spaceId }: SpaceKey,
  { kind, id }: MemberRef,
  requestId: string,
): string {
  return `msg_${idOf([tenant, spaceId, kind, id], requestId)}`;
}

type Reads = Pick<SpaceStore, 'isMember' | 'list' | 'message'>;

/**
 * Whether a person is a member of the space that shows a call. Undefined: no space shows it that the agent or the person
 * is a member of.
 */
export async function isMemberFor(
  store: Reads,
  call: MadeCall,
  person: MemberRef,
): Promise<boolean | undefined> {
  const author: MemberRef = { kind: 'agent', id: agentMemberId(call) };
  // The spaces of the person as well: an agent that has been removed has left its calls in the space.
  for (const member of [author, person])
    for await (const key of spacesOf(store, call.tenant, member)) {
      const message = await store.message(key, messageIdOf(key, author, showRequestId(call)));
      if (message !== undefined) return await store.isMember(key, person);
    }
  return undefined;
}

const PAGE = 100;

async function* spacesOf(
  store: Reads,
  tenant: string,
  member: MemberRef,
): AsyncGenerator<SpaceKey, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await store.list({ tenant, member, limit: PAGE, cursor });
    for (const { id } of page.spaces) yield { tenant, spaceId: id };
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
