/** Calls of agents as members of a space may answer them. Pure. */
import { RESOLVES, type Resolution } from '../../protocol/calls/resolutions.js';
import { parseAgentMemberId, type SpaceMessage } from '../../protocol/spaces/spaces.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

/** A call that a message shows. */
export interface ShownCall extends ConversationKey {
  readonly toolCallId: string;
  /** False for a tool that another backend executes: its result is not a member's. */
  readonly takesResults: boolean;
}

/** Undefined for a text, and for a message that shows no call of a conversation. */
export function shownCall(
  tenant: string,
  { kind, author, metadata = {} }: SpaceMessage,
): ShownCall | undefined {
  const conversationId = parseAgentMemberId(author.id)?.conversationId;
  const { toolCallId, executor } = metadata;
  if (kind !== 'tool' || author.kind !== 'agent' || conversationId === undefined) return undefined;
  if (typeof toolCallId !== 'string') return undefined;
  return {
    tenant,
    conversationId,
    toolCallId,
    takesResults: typeof executor === 'string' && executor !== 'external',
  };
}

/**
 * Why membership of a space does not suffice for a resolution; undefined where it does. The conversation judges all
 * else: who is named for the call, its kind, its schema and its deadline.
 */
export function beyondMembers(
  { takesResults }: ShownCall,
  { type }: Resolution,
): string | undefined {
  const isResult = RESOLVES[type].includes('external_execution');
  return isResult && !takesResults
    ? 'another backend executes this call: it submits the result in the conversation'
    : undefined;
}

/** The field of a resolution, by its JSON Pointer, that reaches beyond the call that the space shows. */
export function fieldBeyondCall(resolution: Resolution): FieldProblem | undefined {
  const elsewhere = 'in a space: use the route of the conversation';
  if (resolution.type === 'outcome')
    return { path: '/type', message: `cannot be "outcome" ${elsewhere}` };
  return 'remember' in resolution
    ? { path: '/remember', message: `is not possible ${elsewhere}` }
    : undefined;
}
