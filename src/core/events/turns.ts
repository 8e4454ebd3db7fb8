/** Events of turns: begun by messages and inbox events, limited, cancelled, closed. Pure. */
import type { ToolResult } from '../../protocol/calls/results.js';
import type { TurnLimit } from '../../protocol/conversation/turns.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type {
  CancelRequested,
  EventBody,
  TurnEnded,
  UserMessageEvent,
} from '../../protocol/log/events.js';
import { assistantMessageId } from '../../protocol/log/live-events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom, SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { turnIdFor } from '../../protocol/values/ids.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import { isRecord } from '../../protocol/values/json.js';
import { canWait, onBusyOf } from '../calls/busy.js';
import { detachedCalls } from '../calls/detached.js';
import { errorResult } from '../calls/results.js';
import { limitText } from '../calls/turn-limits.js';
import { messageParts } from '../input/attachments.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { isFinal, stepCalls } from '../state/state.js';
import { NO_USAGE } from '../state/usage.js';
import { resultEvent, turnEndedEvent } from './results.js';

/**
 * A turn is stopped. Calls that are open get their one result at once; a model call in flight is aborted first, so that
 * what it has said is kept.
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

/** One result for each call that is still open. */
export function cancelledResults(
  state: ConversationState,
  actor: StampedActor,
): readonly EventBody[] {
  return stepCalls(state)
    .filter((call) => call.aside === undefined && !isFinal(call.status))
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

/** The conversation closes: every turn and every call that is open ends first, so nobody waits for ever. */
export function closeEvents(
  state: ConversationState,
  by: {
    readonly reason: 'requested' | 'idle' | 'workflow_cancelled';
    readonly actor: StampedActor;
  },
): readonly EventBody[] {
  const { turn, queue } = state;
  const reason = by.reason === 'workflow_cancelled' ? 'workflow_cancelled' : 'cancelled';
  return [
    ...cancelledResults(state, by.actor),
    ...detachedCalls(state).map((call) => resultEvent(call, cancelledResult(by.actor))),
    ...(turn === undefined ? [] : [turnEndedEvent(turn, { status: 'cancelled', reason })]),
    ...queue.map((entry) => queuedTurnCancelled(entry.turnId)),
    { type: 'conversation_closed', ...by },
  ];
}

/**
 * What a run that was ended from outside left open is ended before its conversation is opened again, so that nobody waits
 * for it for ever. Nothing, when the run had closed by itself.
 */
export function leftOpenEvents(state: ConversationState): readonly EventBody[] {
  return closeEvents(state, { reason: 'workflow_cancelled', actor: SYSTEM_ACTOR }).filter(
    (event) => event.type !== 'conversation_closed',
  );
}

/** The turn may not go on: the engine says so in the model's place. Calls that are open have been ended before. */
export function limitEvents(
  state: ConversationState,
  turn: TurnState,
  limit: TurnLimit,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const text = limitText(state, limit);
  // A model call that was cut off has spoken under this step's id already.
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
      // A step that was due, and not taken, does not count.
      steps: turn.stop === undefined ? step - 1 : step,
    },
  ];
}

/** The turn ends because of a tool. Calls that are open have been ended before. */
export function toolFailedEvent(turn: TurnState): EventBody {
  const { name = '', error } = turn.failure ?? {};
  return turnEndedEvent(turn, {
    status: 'failed',
    reason: 'tool_failed',
    error: { code: error?.code ?? 'tool_error', message: `${name}: ${error?.message ?? ''}` },
  });
}

/** Reason of a cancel that a message with `onBusy: 'interrupt'` brought about. */
export const INTERRUPTED = 'interrupted by a new message';

/** `input` has been judged; what it does to a running turn is written into the event only where one runs. */
export function messageEvent(
  state: ConversationState,
  input: unknown,
  turnToken: (() => string) | undefined,
): UserMessageEvent {
  const fields = isRecord(input) ? input : {};
  const { chain, turnCount, turn, lastSeq } = state;
  const onBusy = onBusyOf(state, fields);
  // A turn that is being stopped reads nothing more.
  const isSteering = onBusy === 'steer' && turn !== undefined && turn.cancel === undefined;
  const turnId = isSteering ? turn.turnId : turnIdFor(chain, turnCount + 1, turnToken?.());
  const messageId = isSteering ? `${turnId}.user.${lastSeq + 1}` : `${turnId}.user`;
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

/** The turn that answers what waits, when no message does. */
export function inboxTurnEvent(
  state: ConversationState,
  turnToken: (() => string) | undefined,
): readonly EventBody[] {
  const inbox = state.inbox?.map(({ eventId }) => eventId);
  if (inbox === undefined) return [];
  const turnId = turnIdFor(state.chain, state.turnCount + 1, turnToken?.());
  return [{ type: 'turn_started', turnId, messageId: `${turnId}.inbox`, inbox }];
}
