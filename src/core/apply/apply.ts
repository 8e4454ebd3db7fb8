/**
 * `apply(state, event)`: the fold of canonical events into state. Pure and total over the closed union; makes no
 * decisions (`decide` does) and checks no input (`judge` does).
 *
 * I1  The state is a function of the events alone.
 * I2  A step's results enter the transcript together, in the model's call order, when its last call has ended.
 * I3  Every ended call leaves a tombstone; every accepted request leaves its id.
 * I4  An event that does not fit the phase of its call leaves the call as it is.
 */

import { withoutRules, withRule } from '../../protocol/calls/rules.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { fromCarryOver } from '../context/carry-over.js';
import { withOffloaded, withoutSettledResults } from '../context/offloaded.js';
import { summarized, withoutOldest } from '../context/transcript.js';
import { withRefusal } from '../memory/refusals.js';
import type { ConversationState } from '../state/state.js';
import { isTelemetry } from '../state/update.js';
import { addUsage } from '../state/usage.js';
import {
  agentChanged,
  callPlanned,
  expired,
  resolved,
  reverted,
  suspended,
  toolCalled,
  toolResult,
} from './calls.js';
import { childChanged, withLastTurn } from './children.js';
import { definitionChanged, inputMigrated } from './definitions.js';
import { backgroundEnded, withInboxEvent } from './inbox.js';
import { suspensionChanged } from './offers.js';
import { statePatched } from './plugins.js';
import { startedState } from './started.js';
import { answerChecked, callPrepared, toolAsked, toolLost, toolReconciled } from './tool-runs.js';
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
  if (event.type === 'events_lost' && event.carried !== undefined)
    return fromCarryOver(event.carried);
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

type FoldOf<Type extends LaterEvent['type']> = (
  state: ConversationState,
  event: Extract<LaterEvent, { readonly type: Type }>,
) => ConversationState;

/** How each event changes the state. */
const FOLDS: { readonly [Type in LaterEvent['type']]: FoldOf<Type> } = {
  user_message: queued,
  turn_started: turnStarted,
  model_call: modelCalled,
  assistant_message: assistantSaid,
  tool_call: toolCalled,
  call_planned: callPlanned,
  call_prepared: callPrepared,
  suspension: suspended,
  suspension_expiring: expiring,
  suspension_changed: suspensionChanged,
  resolution: resolved,
  resolution_reverted: reverted,
  resolution_refused: withRefusal,
  expired,
  extended,
  claimed,
  lease_lost: leaseWasLost,
  input_edited: inputEdited,
  input_migrated: inputMigrated,
  definition_changed: definitionChanged,
  tool_asked: toolAsked,
  answer_checked: answerChecked,
  tool_lost: toolLost,
  tool_reconciled: toolReconciled,
  tool_result: toolResult,
  state_patch: statePatched,
  rule_remembered: (state, { rule, at }) => ({
    ...state,
    ...withRule(state.rules, { ...rule, at }),
  }),
  rule_revoked: (state, event) => withoutRules(state, ({ ruleId }) => ruleId === event.ruleId),
  inbox_event: (state, event) => withInboxEvent(backgroundEnded(state, event), event),
  inbox_paused: (state, { until }) => ({ ...state, inboxPausedUntil: until }),
  message_refused: withRefusal,
  cancel_requested: cancelRequested,
  turn_limit_reached: limitReached,
  summary: (state, event) =>
    summarized({ ...state, usage: addUsage(state.usage, event.usage) }, event),
  transcript_offloaded: withOffloaded,
  rolled_over: (state, { droppedMessages }) =>
    withoutSettledResults(withoutOldest(state, droppedMessages)),
  agent_changed: agentChanged,
  child_changed: childChanged,
  turn_ended: (state, event) => withLastTurn(state, turnEnded(state, event), event),
  // Open calls and turns stay as they are: reopening the conversation gives every call its result.
  run_ended: (state) => ({ ...state, closed: true }),
  conversation_closed: ({ turn: _ended, ...state }) => ({
    ...state,
    closed: true,
    queue: [],
    calls: {},
  }),
  log_rewritten: (state) => state,
};

function changed(state: ConversationState, event: LaterEvent): ConversationState {
  const { type } = event;
  // A state folded without an event would stay wrong, so an unknown one waits for a newer worker.
  if (!Object.hasOwn(FOLDS, type))
    throw new TypeError(`unknown event in the log of a conversation: ${JSON.stringify(event)}`);
  const fold = FOLDS[type] as FoldOf<LaterEvent['type']>;
  return fold(state, event);
}
