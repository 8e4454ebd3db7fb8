/**
 * Limits how many refused signals are recorded. Signals have no reply, so the log is the place to find a refusal; but a
 * client that repeats the same input, or cannot wait for a busy worker, must not fill the log. Pure.
 */

import {
  MAX_RECORDED_REFUSALS,
  MAX_REFUSED_CALLS,
  MAX_REFUSED_MESSAGES,
} from '../../protocol/limits/limits.js';
import type { MessageRefused, ResolutionRefused } from '../../protocol/log/events.js';
import type { ConversationState } from '../state/state.js';

/** Unknown calls share one count, because the number of ids from outside is unbounded. */
const UNKNOWN_CALLS = '';

type RefusedCall = Pick<ResolutionRefused, 'type' | 'toolCallId' | 'verdict'>;

function callOf({ toolCallId, verdict }: RefusedCall): string {
  return verdict === 'unknown' ? UNKNOWN_CALLS : toolCallId;
}

/** Whether this refusal is recorded; those beyond the limit are counted with the next event (`unrecordedRefusals`). */
export function isRecorded(
  state: ConversationState,
  refused: ResolutionRefused | MessageRefused,
): boolean {
  if (refused.type === 'message_refused') return isMessageRecorded(state, refused);
  const { refusals = {} } = state;
  return (countsIn(refusals).get(callOf(refused)) ?? 0) < MAX_RECORDED_REFUSALS;
}

/** Folds a recorded refusal. Counts of the calls that were refused longest ago are dropped first. */
export function withRefusal(
  state: ConversationState,
  refused: RefusedCall | MessageRefused,
): ConversationState {
  if (refused.type === 'message_refused') return withRefusedMessage(state, refused);
  const counts = countsIn(state.refusals ?? {});
  const call = callOf(refused);
  const count = (counts.get(call) ?? 0) + 1;
  counts.delete(call);
  const kept = [...counts, [call, count] as const].slice(-MAX_REFUSED_CALLS);
  return { ...state, refusals: Object.fromEntries(kept.map(([id, n]) => [`${PREFIX}${id}`, n])) };
}

function isMessageRecorded(
  state: ConversationState,
  { requestId }: Pick<MessageRefused, 'requestId'>,
): boolean {
  const counts = countsIn(refusedSinceTurn(state));
  const inAll = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return inAll < MAX_REFUSED_MESSAGES && (counts.get(requestId) ?? 0) < MAX_RECORDED_REFUSALS;
}

/** Folds a recorded refusal. Counting restarts with each turn, so that the record stays small. */
function withRefusedMessage(
  state: ConversationState,
  { requestId }: Pick<MessageRefused, 'requestId'>,
): ConversationState {
  const before = refusedSinceTurn(state);
  const name = `${PREFIX}${requestId}`;
  const byId = { ...before, [name]: (before[name] ?? 0) + 1 };
  return { ...state, refusedMessages: { turnCount: state.turnCount, byId } };
}

function refusedSinceTurn({
  turnCount,
  refusedMessages,
}: ConversationState): Readonly<Record<string, number>> {
  return refusedMessages?.turnCount === turnCount ? refusedMessages.byId : {};
}

/** Objects would put numeric ids first, and some names are special to them. */
const PREFIX = ':';

function countsIn(refusals: Readonly<Record<string, number>>): Map<string, number> {
  return new Map(Object.entries(refusals).map(([id, count]) => [id.slice(PREFIX.length), count]));
}
