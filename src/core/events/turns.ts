/** Events of turns: started by messages and inbox events, limited, cancelled, closed. Pure. */
import type { ToolResult } from '../../protocol/calls/results.js';
import type { TurnLimit } from '../../protocol/conversation/turns.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type {
  CancelRequested,
  ConversationClosed,
  EventBody,
  TurnEnded,
  UserMessageEvent,
} from '../../protocol/log/events.js';
import { assistantMessageId } from '../../protocol/log/live-events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom, SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { firstMessageId, turnIdFor } from '../../protocol/values/ids.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import { canWait, onBusyOf } from '../calls/busy.js';
import { backgroundCalls, isOpenLate } from '../calls/detached.js';
import { errorResult } from '../calls/results.js';
import { limitText } from '../calls/turn-limits.js';
import { messageParts } from '../input/attachments.js';
import type { PlainRecord } from '../input/plain-input.js';
import { isFinal } from '../state/calls.js';
import type { ConversationState, TurnFailure, TurnState } from '../state/state.js';
import { isSince, isStopping, stepCalls } from '../state/state.js';
import { NO_USAGE } from '../state/usage.js';
import { resultEvent, turnEndedEvent } from './results.js';

/**
 * Stops a turn. Open calls get their only result at once; a model call in flight is aborted first, so that its text is
 * kept.
 */
export function cancelEvents(
  state: ConversationState,
  by: Omit<CancelRequested, 'type'>,
): readonly EventBody[] {
  const requested: EventBody = { type: 'cancel_requested', ...by };
  const { turn } = state;
  if (turn?.turnId !== by.turnId) return [requested, queuedTurnCancelled(by.turnId)];
  if (turn.phase === 'model') return [requested];
  return [
    requested,
    ...cancelledResults(state, by.actor),
    turnEndedEvent(turn, { status: 'cancelled', reason: 'cancelled' }),
  ];
}

/** One result for each open call of the step. */
export function cancelledResults(
  state: ConversationState,
  actor: StampedActor,
): readonly EventBody[] {
  return stepCalls(state)
    .filter((call) => call.background === undefined && !isFinal(call.status))
    .map((call) => resultEvent(call, cancelledResult(actor)));
}

function cancelledResult(actor: StampedActor): ToolResult {
  return errorResult('cancelled', { code: 'cancelled', message: TEXTS.cancelled }, actor);
}

function queuedTurnCancelled(turnId: string): TurnEnded {
  return {
    type: 'turn_ended',
    turnId,
    status: 'cancelled',
    reason: 'cancelled',
    text: '',
    steps: 0,
    usage: NO_USAGE,
  };
}

/** Closes the conversation. Every open turn and call ends first, so that no client waits for one. */
export function closeEvents(
  state: ConversationState,
  by: {
    readonly reason: ConversationClosed['reason'];
    readonly actor: StampedActor;
  },
): readonly EventBody[] {
  const { turn, queue } = state;
  const reason = by.reason === 'workflow_cancelled' ? 'workflow_cancelled' : 'cancelled';
  // Since revision 3 also late calls whose answer is still being checked.
  const beside = backgroundCalls(state).filter(
    (call) => call.background === 'detached' || (isSince(state, 3) && !isOpenLate(call)),
  );
  return [
    ...cancelledResults(state, by.actor),
    ...beside.map((call) => resultEvent(call, cancelledResult(by.actor))),
    ...(turn === undefined ? [] : [turnEndedEvent(turn, { status: 'cancelled', reason })]),
    ...queue.map((entry) => queuedTurnCancelled(entry.turnId)),
    { type: 'conversation_closed', ...by },
  ];
}

/**
 * Ends the calls that a run terminated from outside left open, before its conversation is reopened. Empty when the run
 * had closed by itself.
 */
export function leftOpenEvents(state: ConversationState): readonly EventBody[] {
  return closeEvents(state, { reason: 'workflow_cancelled', actor: SYSTEM_ACTOR }).filter(
    (event) => event.type !== 'conversation_closed',
  );
}

/** Ends a turn at a limit, with a message of the engine in the model's place. Open calls have been ended before. */
export function limitEvents(
  state: ConversationState,
  turn: TurnState,
  limit: TurnLimit,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const text = limitText(state, limit);
  // A model call that was cut off has already used the message id of this step.
  const messageId = turn.stop === undefined ? assistantMessageId(turnId, step) : `${turnId}.limit`;
  return [
    {
      type: 'assistant_message',
      turnId,
      step,
      messageId,
      parts: [{ type: 'text', text }],
      synthetic: true,
    },
    {
      ...turnEndedEvent(turn, { status: 'completed', reason: limit }),
      text,
      // A step that was due but not run does not count.
      steps: turn.stop === undefined ? step - 1 : step,
    },
  ];
}

/** Ends the turn because of a failed tool. Open calls have been ended before. */
export function toolFailedEvent(turn: TurnState, { name, error }: TurnFailure): EventBody {
  return turnEndedEvent(turn, {
    status: 'failed',
    reason: 'tool_failed',
    error: { code: error.code, message: `${name}: ${error.message}` },
  });
}

/** Reason of a cancel that a message with `onBusy: 'interrupt'` caused. */
export const INTERRUPTED = 'interrupted by a new message';

/** The fields have been judged; the event says how the message affects a running turn only where one runs. */
export function messageEvent(
  state: ConversationState,
  fields: PlainRecord,
  turnToken: (() => string) | undefined,
): UserMessageEvent {
  const { chain, turnCount, turn, lastSeq } = state;
  const onBusy = onBusyOf(state, fields);
  // A turn that is being stopped reads no more messages.
  const isStopped = isSince(state, 2) ? turn && isStopping(turn) : turn?.cancel !== undefined;
  const isSteering = onBusy === 'steer' && turn !== undefined && isStopped !== true;
  const turnId = isSteering ? turn.turnId : turnIdFor(chain, turnCount + 1, turnToken?.());
  const first = firstMessageId(turnId);
  const messageId = isSteering ? `${first}.${lastSeq + 1}` : first;
  const { requestId } = fields;
  return {
    type: 'user_message',
    turnId,
    messageId,
    requestId: typeof requestId === 'string' ? requestId : `unnamed:${messageId}`,
    parts: messageParts(fields),
    actor: actorFrom(fields['actor']),
    ...(fields['output'] === undefined ? {} : { output: fields['output'] as JsonSchema | false }),
    ...(isSteering ? { onBusy: 'steer' as const } : {}),
    ...(onBusy === 'interrupt' && turn !== undefined ? { onBusy: 'interrupt' as const } : {}),
    ...(turn !== undefined && canWait(fields) ? { onBusy: 'queue' as const } : {}),
  };
}

/** Starts the turn that answers the inbox, when no message is queued. */
export function inboxTurnEvent(
  state: ConversationState,
  turnToken: (() => string) | undefined,
): readonly EventBody[] {
  const inbox = state.inbox?.map(({ eventId }) => eventId);
  if (inbox === undefined) return [];
  const turnId = turnIdFor(state.chain, state.turnCount + 1, turnToken?.());
  return [{ type: 'turn_started', turnId, messageId: `${turnId}.inbox`, inbox }];
}
