/**
 * Finds ended calls and accepted requests that a conversation remembers. Both lists are plain rows of the state, which a
 * roll-over carries to the next run: the verdicts of a run do not depend on when the runs before it ended. Pure.
 */
import type { ClaimedVerdict } from '../../protocol/calls/claims.js';
import type { ExtendedVerdict } from '../../protocol/calls/extensions.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import { MAX_TOMBSTONES } from '../../protocol/limits/limits.js';
import type { ToolCallId, TurnId } from '../../protocol/values/ids.js';
import { firstMessageId } from '../../protocol/values/ids.js';
import { callIdsIn } from '../context/offloaded.js';
import type { RequestRow } from '../state/requests.js';
import { callKey, requestKey } from '../state/requests.js';
import type { ConversationState, Tombstone } from '../state/state.js';

export function tombstoneOf(state: ConversationState, callId: ToolCallId): Tombstone | undefined {
  const key = callKey(callId);
  return state.tombstones.findLast((tombstone) => tombstone.key === key);
}

/** Whether the turn runs, or one of its ended calls is remembered. */
export function isKnownTurn(state: ConversationState, turnId: string): boolean {
  return state.turn?.turnId === turnId || state.tombstones.some((entry) => entry.turnId === turnId);
}

/** Whether every call that ever ended is remembered. */
export function remembersAllCalls({ tombstones, forgetsCalls }: ConversationState): boolean {
  return tombstones.length < MAX_TOMBSTONES && forgetsCalls !== true;
}

/** The ids that were already used for a call, as far as this conversation remembers. One pass over the ids. */
export function takenCallIds(
  state: ConversationState,
  callIds: readonly ToolCallId[],
): ReadonlySet<ToolCallId> {
  if (callIds.length === 0) return new Set();
  const asked = new Set(callIds);
  // A set of all the tombstones, up to a thousand, would be built at every step of a turn.
  const keys = new Set(callIds.map(callKey));
  const ended = new Set(state.tombstones.filter(({ key }) => keys.has(key)).map(({ key }) => key));
  const taken = new Set(
    callIds.filter((callId) => Object.hasOwn(state.calls, callId) || ended.has(callKey(callId))),
  );
  // Until the tombstones overflow, they have every call that ever ended: the transcript need not be searched at each
  // step.
  if (remembersAllCalls(state)) return taken;
  for (const item of state.transcript)
    for (const callId of callIdsIn(item)) if (asked.has(callId)) taken.add(callId);
  return taken;
}

/** The accepted message with this request id. Messages and resolutions may share ids, such as that of a job. */
export function rememberedMessage(
  state: ConversationState,
  requestId: string,
): { readonly digest: string; readonly reply: SendMessageReply } | undefined {
  const row = newest(state, 'message', requestKey(requestId));
  if (row === undefined) return undefined;
  const { digest, turnId, messageId = firstMessageId(turnId), seq, ahead = 0, steers } = row;
  const joined = steers === undefined ? {} : { steers };
  return { digest, reply: { turnId, messageId, seq, ahead, ...joined } };
}

/** The accepted cancel with this request id. */
export function rememberedCancel(
  state: ConversationState,
  requestId: unknown,
): { readonly turnId: TurnId; readonly seq: number } | undefined {
  if (typeof requestId !== 'string') return undefined;
  const row = newest(state, 'cancel', requestKey(requestId));
  return row && { turnId: row.turnId, seq: row.seq };
}

/** The accepted event of another system with this id. */
export function rememberedInboxEvent(
  state: ConversationState,
  eventId: string,
): { readonly digest: string; readonly reply: InboxEventReply } | undefined {
  const row = newest(state, 'inbox', requestKey(eventId));
  return row && { digest: row.digest, reply: { eventId, seq: row.seq } };
}

/** The accepted resolution of this call with this request id. */
export function rememberedResolution(
  state: ConversationState,
  requestId: string,
  toolCallId: ToolCallId,
):
  | { readonly digest: string; readonly argsDigest?: string; readonly reply: AcceptedVerdict }
  | undefined {
  const row = newest(state, 'resolution', requestKey(requestId, toolCallId));
  if (row === undefined) return undefined;
  const { digest, argsDigest, seq, late } = row;
  const verdict = late === true ? 'accepted_late' : 'accepted';
  const meantFor = argsDigest === undefined ? {} : { argsDigest };
  return { digest, ...meantFor, reply: { verdict, toolCallId, seq } };
}

export interface RememberedExtension {
  readonly previousDeadline: string;
  readonly reply: ExtendedVerdict;
}

/** The accepted extension of this call with this request id. */
export function rememberedExtension(
  state: ConversationState,
  requestId: unknown,
  toolCallId: ToolCallId,
): RememberedExtension | undefined {
  if (typeof requestId !== 'string') return undefined;
  const row = newest(state, 'extend', requestKey(requestId, toolCallId));
  if (row === undefined) return undefined;
  const { previousDeadline, deadline, seq } = row;
  return { previousDeadline, reply: { verdict: 'accepted', toolCallId, deadline, seq } };
}

/**
 * The accepted claim of this call by the same actor: another one with the same request id must not get the reply that
 * makes it the holder.
 */
export function rememberedClaim(
  state: ConversationState,
  requestId: unknown,
  by: { readonly toolCallId: ToolCallId; readonly actor: string },
): ClaimedVerdict | undefined {
  if (typeof requestId !== 'string') return undefined;
  const { toolCallId, actor } = by;
  const row = newest(state, 'claim', requestKey(requestId, toolCallId, actor));
  if (row === undefined) return undefined;
  const { claimId, leaseUntil, seq } = row;
  return { verdict: 'accepted', toolCallId, claimId, leaseUntil, seq };
}

type RowOf<Operation> = Extract<RequestRow, { readonly operation: Operation }>;

function newest<Operation extends RequestRow['operation']>(
  state: ConversationState,
  operation: Operation,
  key: string,
): RowOf<Operation> | undefined {
  return state.requests.findLast(
    (row): row is RowOf<Operation> => row.key === key && row.operation === operation,
  );
}
