/**
 * `apply(state, event)`: the fold of canonical events into state. Pure and total over the closed union; makes no
 * decisions (`decide` does) and checks no input (`judge` does).
 *
 * I1  The state is a function of the events alone.
 * I2  A step's results enter the transcript together, in the model's call order, when its last call has ended.
 * I3  Every ended call leaves a tombstone; every accepted request leaves its id.
 */

import { withoutRules, withRule } from '../../protocol/calls/rules.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { stateIn } from '../context/carry-over.js';
import { summarized, withoutOldest } from '../context/transcript.js';
import { withRefusal } from '../memory/refusals.js';
import type { ConversationState } from '../state/state.js';
import { isTelemetry } from '../state/update.js';
import { addUsage } from '../state/usage.js';
import {
  callPlanned,
  expired,
  resolved,
  reverted,
  suspended,
  toolCalled,
  toolResult,
} from './calls.js';
import { definitionChanged, inputMigrated } from './definitions.js';
import { backgroundEnded, withInboxEvent } from './inbox.js';
import { suspensionChanged } from './offers.js';
import { startedState } from './started.js';
import { runChanged } from './tool-runs.js';
import {
  assistantSaid,
  cancelRequested,
  limitReached,
  modelCalled,
  queued,
  turnEnded,
  turnStarted,
} from './turns.js';
import { claimed, expiring, extended, inputEdited, leaseWasLost } from './waits.js';

/** Folds one event. The first event of a log must be `conversation_started`, which needs no state before it. */
export function apply(
  state: ConversationState | undefined,
  event: CanonicalEvent,
): ConversationState {
  if (event.type === 'conversation_started') return startedState(state, event);
  if (event.type === 'events_lost' && event.carried !== undefined) return stateIn(event.carried);
  if (state === undefined)
    throw new TypeError(`a log must begin with conversation_started, not ${event.type}`);
  // The state in `events_lost` includes the gap and possibly a few of the events after it.
  if (event.seq <= state.lastSeq || event.type === 'events_lost') return state;
  const updatedAt = isTelemetry(event) ? state.updatedAt : event.at;
  return { ...changed(state, event), lastSeq: event.seq, updatedAt };
}

/** Folds a whole log. */
export function applyAll(events: readonly CanonicalEvent[]): ConversationState | undefined {
  let state: ConversationState | undefined;
  for (const event of events) if (event.type !== 'log_rewritten') state = apply(state, event);
  return state;
}

type LaterEvent = Exclude<CanonicalEvent, { type: 'conversation_started' | 'events_lost' }>;

function changed(state: ConversationState, event: LaterEvent): ConversationState {
  if (isRedefined(event)) return redefined(state, event);
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
    case 'call_planned':
      return callPlanned(state, event);
    case 'suspension':
      return suspended(state, event);
    case 'resolution':
      return resolved(state, event);
    case 'resolution_reverted':
      return reverted(state, event);
    case 'rule_remembered':
    case 'rule_revoked':
      return rulesChanged(state, event);
    case 'inbox_event':
      return withInboxEvent(backgroundEnded(state, event), event);
    case 'expired':
    case 'suspension_expiring':
    case 'extended':
    case 'claimed':
    case 'lease_lost':
      return waitChanged(state, event);
    case 'tool_result':
      return toolResult(state, event);
    case 'call_prepared':
    case 'tool_lost':
    case 'tool_reconciled':
    case 'tool_asked':
    case 'answer_checked':
      return runChanged(state, event);
    case 'cancel_requested':
    case 'turn_limit_reached':
      return stopping(state, event);
    case 'summary':
    case 'rolled_over':
      return shortened(state, event);
    case 'turn_ended':
      return turnEnded(state, event);
    case 'run_ended':
    case 'conversation_closed':
      return closedBy(state, event);
    case 'resolution_refused':
    case 'message_refused':
      return withRefusal(state, event);
    case 'log_rewritten':
      return state;
    default:
      return unknownEvent(event);
  }
}

function shortened(
  state: ConversationState,
  event: Extract<LaterEvent, { type: 'summary' | 'rolled_over' }>,
): ConversationState {
  return event.type === 'rolled_over'
    ? withoutOldest(state, event.droppedMessages)
    : summarized({ ...state, usage: addUsage(state.usage, event.usage) }, event);
}

function stopping(
  state: ConversationState,
  event: Extract<LaterEvent, { type: 'cancel_requested' | 'turn_limit_reached' }>,
): ConversationState {
  return event.type === 'cancel_requested'
    ? cancelRequested(state, event)
    : limitReached(state, event);
}

/** Events that change the content of a call: an edit, or a changed tool. */
type Redefined = Extract<
  LaterEvent,
  { type: 'input_edited' | 'definition_changed' | 'input_migrated' | 'suspension_changed' }
>;

const REDEFINED: readonly LaterEvent['type'][] = [
  'input_edited',
  'definition_changed',
  'input_migrated',
  'suspension_changed',
] satisfies readonly Redefined['type'][];

function isRedefined(event: LaterEvent): event is Redefined {
  return REDEFINED.includes(event.type);
}

function redefined(state: ConversationState, event: Redefined): ConversationState {
  switch (event.type) {
    case 'input_edited':
      return inputEdited(state, event);
    case 'definition_changed':
      return definitionChanged(state, event);
    case 'input_migrated':
      return inputMigrated(state, event);
    case 'suspension_changed':
      return suspensionChanged(state, event);
  }
}

type WaitEvent = Extract<
  LaterEvent,
  { type: 'expired' | 'suspension_expiring' | 'extended' | 'claimed' | 'lease_lost' }
>;

function waitChanged(state: ConversationState, event: WaitEvent): ConversationState {
  switch (event.type) {
    case 'expired':
      return expired(state, event);
    case 'suspension_expiring':
      return expiring(state, event);
    case 'extended':
      return extended(state, event);
    case 'claimed':
      return claimed(state, event);
    case 'lease_lost':
      return leaseWasLost(state, event);
  }
}

function closedBy(
  state: ConversationState,
  event: Extract<LaterEvent, { type: 'run_ended' | 'conversation_closed' }>,
): ConversationState {
  // Open calls and turns stay as they are: reopening the conversation gives every call its result.
  if (event.type === 'run_ended') return { ...state, closed: true };
  const { turn: _ended, ...rest } = state;
  return { ...rest, closed: true, queue: [], calls: {} };
}

function rulesChanged(
  state: ConversationState,
  event: Extract<LaterEvent, { type: 'rule_remembered' | 'rule_revoked' }>,
): ConversationState {
  return event.type === 'rule_remembered'
    ? { ...state, ...withRule(state.rules, { ...event.rule, at: event.at }) }
    : withoutRules(state, ({ ruleId }) => ruleId === event.ruleId);
}

/** Stops at an unknown event, to wait for a newer worker: a state folded without it would stay wrong. */
function unknownEvent(event: never): never {
  throw new TypeError(`unknown event in the log of a conversation: ${JSON.stringify(event)}`);
}
