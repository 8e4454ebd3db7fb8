/** The space that shows a call of a conversation, and whether a person is a member of it. */
import {
  type AgentEntity,
  agentMemberId,
  type MemberRef,
  type SpaceKey,
} from '../../protocol/spaces/spaces.js';
import type { SpaceStore } from '../../store/ports/spaces/spaces.js';
import { showRequestId } from '../plugin/shown.js';
import { messageIdOf } from './ids.js';

/** A call by the agent that made it, and its place in the conversation. */
export interface MadeCall extends AgentEntity {
  readonly tenant: string;
  readonly turnId: string;
  readonly step: number;
  readonly toolCallId: string;
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
