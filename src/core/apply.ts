/**
 * `apply(state, event)`: the fold of canonical events into state. Pure and total over the closed union; it decides nothing
 * (that is `decide`) and judges nothing (that is `judge`).
 *
 * I1  The state is a function of the events alone.
 * I2  A step's results enter the transcript together, in the model's call order, when its last call has ended.
 * I3  Whatever ends a call leaves a tombstone; whatever is accepted leaves its request id.
 */
import type {
  AssistantMessageEvent,
  CancelRequested,
  CanonicalEvent,
  ModelCallEvent,
  ResolutionEvent,
  ToolCallEvent,
  ToolResultEvent,
  TurnEnded,
  UserMessageEvent,
} from '../protocol/events.js';
import { MAX_REMEMBERED_REQUESTS, MAX_TOMBSTONES } from '../protocol/limits.js';
import type { ToolMessage, ToolResultPart } from '../protocol/messages.js';
import { textOf } from '../protocol/messages.js';
import type { SuspensionKind } from '../protocol/suspensions.js';
import type { CallStatus } from '../protocol/tools.js';
import { startedState } from './started.js';
import type {
  CallState,
  ConversationState,
  RememberedRequest,
  Tombstone,
  TurnState,
} from './state.js';
import { isFinal, isResolutionOf, stepCalls } from './state.js';
import { withMessage, withoutOldest } from './transcript.js';
import { addUsage, isNoise, NO_USAGE } from './view.js';

/** Folds one event. The first event of a log must be `conversation_started`, which needs no state before it. */
export function apply(
  state: ConversationState | undefined,
  event: CanonicalEvent,
): ConversationState {
  if (event.type === 'conversation_started') return startedState(state, event);
  if (state === undefined)
    throw new TypeError(`a log must begin with conversation_started, not ${event.type}`);
  const updatedAt = isNoise(event) ? state.updatedAt : event.at;
  return { ...changed(state, event), lastSeq: event.seq, updatedAt };
}

/** Folds a whole log. */
export function applyAll(events: readonly CanonicalEvent[]): ConversationState | undefined {
  let state: ConversationState | undefined;
  for (const event of events) if (event.type !== 'log_rewritten') state = apply(state, event);
  return state;
}

type Stamped<Body> = Body & { readonly seq: number; readonly at: string };
type LaterEvent = Exclude<CanonicalEvent, { type: 'conversation_started' }>;

function changed(state: ConversationState, event: LaterEvent): ConversationState {
  switch (event.type) {
    case 'user_message':
      return queued(state, event);
    case 'turn_started':
      return turnStarted(state, event);
    case 'model_call':
      return modelCalled(state, event);
    case 'assistant_message':
      return assistantSaid(state, event);
    case 'tool_call':
      return toolCalled(state, event);
    case 'suspension': {
      const { suspension } = event;
      return withCall(state, suspension.toolCallId, ({ reopenUntil: _used, ...call }) => ({
        ...call,
        suspension,
        status: AWAITING[suspension.kind],
        since: event.seq,
      }));
    }
    case 'resolution':
      return resolved(state, event);
    case 'resolution_reverted':
      return reverted(state, event.toolCallId);
    case 'expired':
      return withCall(state, event.toolCallId, (call) => {
        const { suspension: _closed, ...rest } = call;
        return { ...rest, status: 'expired', resolvedAt: event.deadline };
      });
    case 'tool_result':
      return toolResult(state, event);
    case 'cancel_requested':
      return cancelRequested(state, event);
    case 'rolled_over':
      return withoutOldest(state, event.droppedMessages);
    case 'turn_ended':
      return turnEnded(state, event);
    case 'run_ended':
      // What was open stays as it was: opening the conversation again gives every call its result.
      return { ...state, closed: true };
    case 'conversation_closed': {
      const { turn: _ended, ...rest } = state;
      return { ...rest, closed: true, queue: [], calls: {} };
    }
    case 'message_refused':
    case 'resolution_refused':
    case 'inbox_event':
    case 'log_rewritten':
      return state;
    default:
      return unknownEvent(event);
  }
}

const AWAITING: Readonly<Record<SuspensionKind, CallStatus>> = {
  approval: 'awaiting_approval',
  elicitation: 'awaiting_answer',
  client_execution: 'awaiting_client',
  external_execution: 'awaiting_external',
};

/** A state folded by an older version would be wrong for ever: better to stop here and wait for a newer worker. */
function unknownEvent(event: never): never {
  throw new TypeError(`unknown event in the log of a conversation: ${JSON.stringify(event)}`);
}

function queued(state: ConversationState, event: Stamped<UserMessageEvent>): ConversationState {
  const { turnId, messageId, parts, actor, requestId, seq } = event;
  const ahead = state.queue.length + (state.turn === undefined ? 0 : 1);
  const next: ConversationState = {
    ...state,
    turnCount: state.turnCount + 1,
    queue: [...state.queue, { turnId, messageId, parts, actor }],
  };
  return remember(next, {
    requestId,
    operation: 'message',
    reply: { turnId, messageId, seq, ahead },
  });
}

function modelCalled(state: ConversationState, event: ModelCallEvent): ConversationState {
  const { usage, step } = event;
  return withTurn({ ...state, usage: addUsage(state.usage, usage) }, (turn) => ({
    ...turn,
    shownStep: step,
    usage: addUsage(turn.usage, usage),
  }));
}

function assistantSaid(
  state: ConversationState,
  event: Stamped<AssistantMessageEvent>,
): ConversationState {
  const { type: _type, messageId, seq: _seq, at: _at, ...rest } = event;
  const said = withMessage(state, { role: 'assistant', id: messageId, ...rest });
  const asks = event.parts.some((part) => part.type === 'tool_call');
  return withTurn(said, (turn) => ({
    ...turn,
    lastText: textOf(event.parts),
    phase: asks && event.partial !== true ? 'tools' : 'ending',
  }));
}

function toolCalled(state: ConversationState, event: Stamped<ToolCallEvent>): ConversationState {
  const { call, turnId, step, seq } = event;
  const entry: CallState = { plan: call, turnId, step, status: 'running', since: seq };
  const calls = { ...state.calls, [call.toolCallId]: entry };
  return withTurn({ ...state, calls }, (turn) => ({
    ...turn,
    callIds: [...turn.callIds, call.toolCallId],
  }));
}

function turnStarted(
  state: ConversationState,
  event: { turnId: string; messageId: string; at: string },
): ConversationState {
  const message = state.queue.find((entry) => entry.turnId === event.turnId);
  if (message === undefined) return state;
  const turn: TurnState = {
    turnId: event.turnId,
    messageId: event.messageId,
    requester: message.actor,
    startedAt: event.at,
    step: 1,
    shownStep: 1,
    phase: 'model',
    callIds: [],
    lastText: '',
    usage: NO_USAGE,
  };
  const queue = state.queue.filter((entry) => entry !== message);
  const { turnId, messageId: id, parts } = message;
  return withMessage({ ...state, turn, queue }, { role: 'user', id, turnId, parts });
}

function resolved(state: ConversationState, event: Stamped<ResolutionEvent>): ConversationState {
  const { toolCallId, resolution, actor, requestId, seq, at } = event;
  const next = withCall(state, toolCallId, (call) => {
    const { suspension: closed, ...rest } = call;
    return {
      ...rest,
      status: 'running',
      since: seq,
      resolvedBy: actor.id,
      resolvedAt: at,
      ...(resolution.type === 'approve' ? { approver: actor } : {}),
      ...(resolution.type === 'answer' || resolution.type === 'result'
        ? {
            answer: { value: resolution.value, actor, requestId, deadline: closed?.deadline ?? at },
          }
        : {}),
    };
  });
  return remember(next, {
    requestId,
    operation: 'resolution',
    reply: { verdict: 'accepted', toolCallId, seq },
  });
}

/** The answer was not one after all: forgotten with its request id, so that the same caller may send a better one. */
function reverted(state: ConversationState, toolCallId: string): ConversationState {
  const answer = state.calls[toolCallId]?.answer;
  if (answer === undefined) return state;
  const { requestId, deadline } = answer;
  const requests = state.requests.filter((known) => !isResolutionOf(known, requestId, toolCallId));
  return withCall({ ...state, requests }, toolCallId, (call) => {
    const { answer: _refused, resolvedBy: _by, resolvedAt: _at, ...rest } = call;
    return { ...rest, reopenUntil: deadline };
  });
}

function toolResult(state: ConversationState, event: Stamped<ToolResultEvent>): ConversationState {
  const call = state.calls[event.toolCallId];
  if (call === undefined || call.result !== undefined) return state;
  const { suspension, ...rest } = call;
  const deadline =
    suspension?.deadline ?? (call.status === 'expired' ? call.resolvedAt : undefined);
  const by = event.result.actor?.id ?? call.resolvedBy;
  const tombstone: Tombstone = {
    toolCallId: event.toolCallId,
    name: event.name,
    turnId: event.turnId,
    status: event.result.status,
    at: event.at,
    ...(by === undefined ? {} : { by }),
    ...(event.result.status === 'expired' && deadline !== undefined ? { deadline } : {}),
  };
  const ended: CallState = { ...rest, status: event.result.status, result: event.result };
  const next: ConversationState = {
    ...state,
    calls: { ...state.calls, [event.toolCallId]: ended },
    tombstones: [...state.tombstones, tombstone].slice(-MAX_TOMBSTONES),
  };
  return stepCalls(next).every((entry) => isFinal(entry.status)) ? stepEnded(next) : next;
}

/** All calls of the step have their result: they enter the transcript in the model's order. */
function stepEnded(state: ConversationState): ConversationState {
  const { turn } = state;
  if (turn === undefined) return state;
  const parts: ToolResultPart[] = [];
  for (const call of stepCalls(state)) {
    const { toolCallId, name } = call.plan;
    if (call.result !== undefined)
      parts.push({ type: 'tool_result', toolCallId, name, envelope: call.result.envelope });
  }
  const { turnId, step } = turn;
  const message: ToolMessage = {
    role: 'tool',
    id: `${turnId}.${step}.results`,
    turnId,
    step,
    parts,
  };
  const next = withMessage({ ...state, calls: {} }, message);
  return withTurn(next, (entry) => ({ ...entry, step: step + 1, phase: 'model', callIds: [] }));
}

function turnEnded(state: ConversationState, event: TurnEnded): ConversationState {
  const queue = state.queue.filter((entry) => entry.turnId !== event.turnId);
  if (state.turn?.turnId !== event.turnId) return { ...state, queue };
  const { turn: _ended, ...rest } = state;
  return { ...rest, queue, calls: {} };
}

function withTurn(
  state: ConversationState,
  change: (turn: TurnState) => TurnState,
): ConversationState {
  return state.turn === undefined ? state : { ...state, turn: change(state.turn) };
}

function withCall(
  state: ConversationState,
  callId: string,
  change: (call: CallState) => CallState,
): ConversationState {
  const call = state.calls[callId];
  if (call === undefined) return state;
  return { ...state, calls: { ...state.calls, [callId]: change(call) } };
}

function cancelRequested(
  state: ConversationState,
  event: Stamped<CancelRequested>,
): ConversationState {
  const { requestId, turnId, seq, actor } = event;
  const noted =
    requestId === undefined
      ? state
      : remember(state, { requestId, operation: 'cancel', reply: { turnId, seq } });
  // A queued turn has nothing to abort, and must not stop the one that runs.
  return noted.turn?.turnId === turnId
    ? withTurn(noted, (turn) => ({ ...turn, cancel: { actor } }))
    : noted;
}

function remember(state: ConversationState, request: RememberedRequest): ConversationState {
  return { ...state, requests: [...state.requests, request].slice(-MAX_REMEMBERED_REQUESTS) };
}
