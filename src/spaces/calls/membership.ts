/** The spaces that show a call of a conversation, and whether a person is a member of one. */
import { type AgentEntity, agentMemberId, type MemberRef } from '../../protocol/spaces/spaces.js';
import type { SpaceStore } from '../../store/ports/spaces/spaces.js';
import { showRequestId } from '../plugin/shown.js';
import { callIdOf } from './ids.js';

/** A call by the agent that made it, and its place in the conversation. */
export interface MadeCall extends AgentEntity {
  readonly tenant: string;
  readonly turnId: string;
  readonly step: number;
  readonly toolCallId: string;
}

/**
 * Whether a person is a member of a space that shows a call, also after its agent has left the space. Undefined: no space
 * shows the call.
 */
export async function isMemberFor(
  store: Pick<SpaceStore, 'isMember' | 'spacesOfCall'>,
  call: MadeCall,
  person: MemberRef,
): Promise<boolean | undefined> {
  const { tenant } = call;
  const author: MemberRef = { kind: 'agent', id: agentMemberId(call) };
  const callId = callIdOf(tenant, author, showRequestId(call));
  const spaces = await store.spacesOfCall({ tenant, callId });
  if (spaces.length === 0) return undefined;
  const memberships = await Promise.all(spaces.map((key) => store.isMember(key, person)));
  return memberships.includes(true);
}
