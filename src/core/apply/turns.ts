/**
 * Folds the events of turns: queued, started, steered, answered, cancelled, ended. See `apply.ts` for the invariants.
 */
import { withoutRules } from '../../protocol/calls/rules.js';
import { textOf } from '../../protocol/conversation/messages.js';
import type {
  AssistantMessageEvent,
  CancelRequested,
  ModelCallEvent,
  TurnEnded,
  TurnLimitReached,
  TurnStarted,
  UserMessageEvent,
} from '../../protocol/log/events.js';
import { firstMessageId } from '../../protocol/values/ids.js';
import { keptInBackground } from '../calls/detached.js';
import { limitOf } from '../calls/turn-limits.js';
import { withMessage } from '../context/transcript.js';
import { messageDigest } from '../input/attachments.js';
import { atModelCall } from '../plugins/states.js';
import type { CallState } from '../state/calls.js';
import { waitsForNextTurn, withInboxTurn } from '../state/inbox-turns.js';
import { keptDigest, requestKey } from '../state/requests.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { isSince, isStopping } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { remember, withTurn } from '../state/update.js';
import { addUsage, NO_USAGE, takenBy } from '../state/usage.js';
import { withInboxRead } from './inbox.js';
import { withStepPatchesDue } from './plugins.js';

export function queued(
  state: ConversationState,
  event: Stamped<UserMessageEvent>,
): ConversationState {
  const { turnId, messageId, parts, actor, requestId, seq, onBusy, output } = event;
  const form = output === undefined ? {} : { output };
  const mayWait = onBusy === 'queue' ? { mayWait: true as const } : {};
  const message = { turnId, messageId, parts, actor, ...form, ...mayWait };
  const isSteering = onBusy === 'steer' && state.turn?.turnId === turnId;
  const waiting = state.queue.length + (state.turn === undefined ? 0 : 1);
  const ahead = onBusy === undefined || onBusy === 'queue' ? waiting : 0;
  const noted = remember(state, {
    operation: 'message',
    key: requestKey(requestId),
    digest: keptDigest(messageDigest(parts, output)),
    turnId,
    seq,
    ...(messageId === firstMessageId(turnId) ? {} : { messageId }),
    ...(ahead === 0 ? {} : { ahead }),
    ...(isSteering ? { steers: true } : {}),
  });
  if (isSteering)
    return withTurn(withRequester(noted, turnId, actor.id), (turn) => ({
      ...turn,
      steering: [...(turn.steering ?? []), message],
      ...(output === undefined ? {} : { outputSchema: output }),
      ...joinedBy(turn, actor.id),
    }));
  return {
    ...noted,
    turnCount: state.turnCount + 1,
    queue: onBusy === 'interrupt' ? [message, ...state.queue] : [...state.queue, message],
  };
}

/** Adds an actor who joins the turn to the requesters of its calls that may outlive it, also of those made before. */
function withRequester(
  state: ConversationState,
  turnId: string,
  userId: string,
): ConversationState {
  const calls = Object.entries(state.calls).map(([id, call]) => {
    const { requestedBy } = call;
    if (requestedBy === undefined || call.turnId !== turnId) return [id, call] as const;
    const requesters = { ...requestedBy, ...joinedBy(requestedBy, userId) };
    return [id, { ...call, requestedBy: requesters }] as const;
  });
  return { ...state, calls: Object.fromEntries(calls) };
}

/** Lists no actor twice, and not the requester who began the turn. */
function joinedBy(
  { joined = [], requester }: NonNullable<CallState['requestedBy']>,
  userId: string,
): Pick<TurnState, 'joined'> {
  return userId === requester.id || joined.includes(userId) ? {} : { joined: [...joined, userId] };
}

export function turnStarted(
  state: ConversationState,
  event: Pick<TurnStarted, 'turnId' | 'messageId' | 'inbox'> & { readonly at: string },
): ConversationState {
  const message = state.queue.find((entry) => entry.turnId === event.turnId);
  const requester = message?.actor ?? state.inbox?.[0]?.requester;
  if (requester === undefined || (message === undefined && event.inbox === undefined)) return state;
  const turn: TurnState = {
    turnId: event.turnId,
    messageId: event.messageId,
    requester,
    startedAt: event.at,
    step: 1,
    shownStep: 1,
    phase: 'model',
    callIds: [],
    lastText: '',
    usage: NO_USAGE,
    ...(message?.output === undefined ? {} : { outputSchema: message.output }),
  };
  const begun = withInboxRead({ ...state, turn }, event.turnId);
  if (message === undefined)
    return withInboxTurn({ ...begun, turnCount: state.turnCount + 1 }, event.at);
  const queue = state.queue.filter((entry) => entry !== message);
  const { turnId, messageId: id, parts } = message;
  return withMessage({ ...begun, queue }, { role: 'user', id, turnId, parts });
}

export function modelCalled(state: ConversationState, event: ModelCallEvent): ConversationState {
  const { usage, step, context } = event;
  const { inputTokens } = usage;
  const known = context === undefined ? {} : { context: { ...context, inputTokens } };
  const taken = takenBy(event);
  const called = { ...state, ...atModelCall(state.plugins), ...known };
  return withTurn({ ...called, usage: addUsage(state.usage, taken) }, (turn) => ({
    ...turn,
    shownStep: step,
    usage: addUsage(turn.usage, taken),
  }));
}

export function assistantSaid(
  state: ConversationState,
  event: Stamped<AssistantMessageEvent>,
): ConversationState {
  // The structured output is for the requester, not for the transcript: the model has said its text.
  const { type: _type, messageId, output, ...stamped } = event;
  const { seq: _seq, at: _at, unrecordedRefusals: _count, ...rest } = stamped;
  const said = withMessage(state, { role: 'assistant', id: messageId, ...rest });
  const isLast = event.partial === true || event.synthetic === true;
  const asks = event.parts.some((part) => part.type === 'tool_call');
  const next = withTurn(said, ({ output: _before, ...before }) => {
    const turn = { ...before, lastText: textOf(event.parts) };
    if (asks && event.partial !== true) return { ...turn, phase: 'tools' };
    const answered = output === undefined ? {} : { output };
    return { ...turn, ...answered, phase: 'ending', callIds: [] };
  });
  return isLast || asks || !isInputDue(next) ? next : nextStep(next);
}

/** Whether input has arrived that the turn reads before it ends; inbox events only within its limit of steps. */
function isInputDue(state: ConversationState): boolean {
  const { inbox, turn, settings } = state;
  if (turn === undefined) return false;
  const readsInbox = turn.step < settings.maxSteps && !waitsForNextTurn(state);
  return turn.steering !== undefined || (inbox !== undefined && readsInbox);
}

export function cancelRequested(
  state: ConversationState,
  event: Stamped<CancelRequested>,
): ConversationState {
  const { requestId, turnId, seq, actor } = event;
  const noted =
    requestId === undefined
      ? state
      : remember(state, { operation: 'cancel', key: requestKey(requestId), turnId, seq });
  // A queued turn has nothing to abort, and its cancel must not stop the running turn.
  return noted.turn?.turnId === turnId
    ? withTurn(noted, (turn) => ({ ...turn, cancel: turn.cancel ?? { actor } }))
    : noted;
}

export function turnEnded(before: ConversationState, event: TurnEnded): ConversationState {
  const state = withoutRules(before, ({ turnId }) => turnId === event.turnId);
  const queue = state.queue.filter((entry) => entry.turnId !== event.turnId);
  if (state.turn?.turnId !== event.turnId) return { ...state, queue };
  // A message that no model call of the turn has read is read by the next turn's model call.
  const { turn: _ended, ...rest } = withStepPatchesDue(withSteering(state));
  return { ...rest, queue, calls: keptInBackground(state) };
}

export function limitReached(
  state: ConversationState,
  { turnId, limit }: TurnLimitReached,
): ConversationState {
  return state.turn?.turnId === turnId
    ? withTurn(state, (turn) => ({ ...turn, stop: limit }))
    : state;
}

/** Moves the messages that wait to join the turn into the transcript, in order of arrival. */
function withSteering(state: ConversationState): ConversationState {
  const { turn } = state;
  if (turn?.steering === undefined) return state;
  let next = withTurn(state, ({ steering: _read, ...rest }) => rest);
  for (const { messageId, parts } of turn.steering)
    next = withMessage(next, { role: 'user', id: messageId, turnId: turn.turnId, parts });
  return next;
}

/** Ends the turn after a step that the model has ended it with, unless input that came meanwhile waits for it. */
export function stepSkipped(state: ConversationState): ConversationState {
  return isInputDue(state)
    ? nextStep(state)
    : withTurn(state, (turn) => ({ ...turn, phase: 'ending', callIds: [] }));
}

/** Continues the turn with another model call, which reads what has arrived for this turn until now. */
export function nextStep(state: ConversationState): ConversationState {
  const next = withTurn(withSteering(state), ({ output: _before, ...turn }) => ({
    ...turn,
    step: turn.step + 1,
    phase: 'model',
    callIds: [],
  }));
  const { turn } = next;
  return turn === undefined || waitsForNextTurn(next) || leavesInbox(next)
    ? next
    : withInboxRead(next, turn.turnId);
}

/** Whether no model call follows, by a limit or an end of the turn: what is in the inbox begins a turn of its own. */
function leavesInbox(state: ConversationState): boolean {
  const { turn } = state;
  if (turn?.phase !== 'model') return false;
  const isOver = isStopping(turn) || turn.failure !== undefined;
  return (isOver && isSince(state, 3)) || limitOf(state, turn) !== undefined;
}
