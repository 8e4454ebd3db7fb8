/** Ended calls and accepted requests that a conversation remembers, of this run and of those before it. Pure. */
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import { MAX_TOMBSTONES } from '../../protocol/limits/limits.js';
import type { ToolCallId, TurnId } from '../../protocol/values/ids.js';
import { callIdsIn } from '../context/offloaded.js';
import type { RememberedRequest, RememberedResolution } from '../state/requests.js';
import type { ConversationState, Tombstone } from '../state/state.js';
import { earlierCall, earlierRequest, isEarlierTurn } from './packed-memory.js';
import type { SoughtRequest } from './packed-requests.js';

export function tombstoneOf(state: ConversationState, callId: ToolCallId): Tombstone | undefined {
  return (
    state.tombstones.findLast((tombstone) => tombstone.toolCallId === callId) ??
    earlierCall(state, callId)
  );
}

/** Whether the turn runs, or one of its ended calls is remembered. */
export function isKnownTurn(state: ConversationState, turnId: string): boolean {
  return (
    state.turn?.turnId === turnId ||
    state.tombstones.some((entry) => entry.turnId === turnId) ||
    isEarlierTurn(state, turnId)
  );
}

/** Whether every call that ever ended is remembered. */
export function remembersAllCalls({ tombstones, earlier }: ConversationState): boolean {
  return tombstones.length < MAX_TOMBSTONES && earlier?.forgetsCalls !== true;
}

/** The ids that were already used for a call, as far as this conversation remembers. One pass over the ids. */
export function takenCallIds(
  state: ConversationState,
  callIds: readonly ToolCallId[],
): ReadonlySet<ToolCallId> {
  if (callIds.length === 0) return new Set();
  const asked = new Set(callIds);
  const taken = new Set(
    callIds.filter(
      (callId) => Object.hasOwn(state.calls, callId) || earlierCall(state, callId) !== undefined,
    ),
  );
  const see = (callId: ToolCallId): void => {
    if (asked.has(callId)) taken.add(callId);
  };
  for (const { toolCallId } of state.tombstones) see(toolCallId);
  // Until the tombstones overflow, they have every call that ever ended: the transcript need not be searched at each
  // step.
  if (remembersAllCalls(state)) return taken;
  for (const item of state.transcript) for (const callId of callIdsIn(item)) see(callId);
  return taken;
}

/** The accepted message with this request id. Messages and resolutions may share ids, such as that of a job. */
export function rememberedMessage(
  state: ConversationState,
  requestId: string,
): { readonly digest: string; readonly reply: SendMessageReply } | undefined {
  const known = remembered(state, { operation: 'message', requestId });
  return known?.operation === 'message' ? known : undefined;
}

/** The accepted cancel with this request id. */
export function rememberedCancel(
  state: ConversationState,
  requestId: unknown,
): { readonly turnId: TurnId; readonly seq: number } | undefined {
  if (typeof requestId !== 'string') return undefined;
  const known = remembered(state, { operation: 'cancel', requestId });
  return known?.operation === 'cancel' ? known.reply : undefined;
}

/** The accepted resolution of this call with this request id. */
export function rememberedResolution(
  state: ConversationState,
  requestId: string,
  toolCallId: ToolCallId,
): RememberedResolution | undefined {
  const known = remembered(state, { operation: 'resolution', requestId, toolCallId });
  return known?.operation === 'resolution' ? known : undefined;
}

/** The newest accepted request that matches. A remembered claim without an actor matches a claim of any actor. */
export function remembered(
  state: ConversationState,
  sought: SoughtRequest,
): RememberedRequest | undefined {
  const { requests, earlier } = state;
  const known = requests.findLast((request) => isMeant(request, sought));
  if (known !== undefined || earlier === undefined) return known;
  const found = earlierRequest(state, sought);
  if (found !== undefined || sought.operation !== 'claim') return found;
  const { operation, requestId, toolCallId } = sought;
  return earlierRequest(state, { operation, requestId, toolCallId });
}

function isMeant(request: RememberedRequest, sought: SoughtRequest): boolean {
  if (request.operation !== sought.operation || request.requestId !== sought.requestId)
    return false;
  if (!('toolCallId' in sought) || !('toolCallId' in request.reply)) return true;
  if (request.reply.toolCallId !== sought.toolCallId) return false;
  const { actor } = request.operation === 'claim' ? request : {};
  return actor === undefined || actor === sought.actor;
}
