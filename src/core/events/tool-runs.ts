/**
 * Converts outcomes to events: of runs, preflights, losses, and reads that came with the answer of the model. Pure
 * functions of (state, outcome, time); the machine commits the events.
 */
import type { ToolChanged } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { FOREIGN_QUEUE_TIMEOUT_MS, MAX_PLUGIN_STATES_BYTES } from '../../protocol/limits/limits.js';
import type { EventBody } from '../../protocol/log/events.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type {
  CallModelResult,
  InlineRead,
  PreflightToolResult,
  ReconcileToolResult,
  RunToolResult,
  ToolEnded,
} from '../../protocol/workflow/activities.js';
import { askedCall } from '../apply/tool-runs.js';
import { runOf } from '../calls/ask.js';
import { noCapacityResult } from '../calls/capacity.js';
import { isToolChanged } from '../calls/definitions.js';
import type { Loss } from '../calls/results.js';
import { errorResult, isHeld, ranResult } from '../calls/results.js';
import { withinBounds } from '../calls/turn-limits.js';
import { mayHaveReads, wantedReads } from '../decide/reads.js';
import { areStatePatches } from '../plugins/form.js';
import type { CallState } from '../state/calls.js';
import { type ConversationState, stepCalls } from '../state/state.js';
import { answerRefusedEvents, askedEvents } from './asks.js';
import { changedEvent } from './definitions.js';
import { resultEvent } from './results.js';
import { suspensionEvent } from './suspension.js';

/** Events of a tool run that has ended. */
export function toolFinishedEvents(
  state: ConversationState,
  call: CallState,
  outcome: RunToolResult,
): readonly EventBody[] {
  if (!isToolEnd(outcome)) return faultyEndEvents(call);
  if (isToolChanged(outcome)) return toolChangedEvents(call, outcome);
  if ('ask' in outcome) return withCapacity(state, call, askedEvents(call, outcome.ask));
  if ('refused' in outcome) return answerRefusedEvents(call, outcome);
  const loss = reportedLoss(call, outcome);
  if (loss !== undefined) return toolLostEvents(call, loss);
  return endedEvents(state, call, outcome);
}

/**
 * Events of a run that a worker refused because the tool has changed; no code was run. Without a pinned definition
 * there is nothing that can have changed, and a later run must not be refused: then the worker is at fault, and the
 * call fails.
 */
function toolChangedEvents(call: CallState, { changed }: ToolChanged): readonly EventBody[] {
  const events = runOf(call) > 1 ? [] : changedEvent(call, changed.definition);
  return events.length > 0 ? events : faultyEndEvents(call);
}

/** Events of a run that has ended with a result of another form. */
export function faultyEndEvents(call: CallState): readonly EventBody[] {
  const error = { code: 'tool_error' as const, message: TEXTS.faultyEnd(call.plan.name) };
  return [resultEvent(call, errorResult('errored', error))];
}

/**
 * Refuses a question that exceeds the capacity before it is recorded: until its step ends, a call holds its question.
 */
function withCapacity(
  state: ConversationState,
  call: CallState,
  events: readonly EventBody[],
): readonly EventBody[] {
  const [event] = events;
  if (event?.type !== 'tool_asked') return events;
  const asked = askedCall(call, event);
  // The size of the suspension does not depend on the time, so any time serves.
  const { suspension } = suspensionEvent(asked, 'elicitation', 0);
  const noCapacity = noCapacityResult(state, asked, suspension);
  return noCapacity === undefined ? events : [resultEvent(call, noCapacity)];
}

/**
 * Checks the form of an outcome. Workers may be written in any language, and their outcomes are in the history: a wrong
 * form must not fail the workflow task again and again.
 */
function isToolEnd(outcome: unknown): boolean {
  if (!isRecord(outcome)) return false;
  const { envelope, patches } = outcome;
  if (patches !== undefined && !areStatePatches(patches)) return false;
  if ('ask' in outcome || 'refused' in outcome || isToolChanged(outcome)) return true;
  if (!isRecord(envelope)) return false;
  const { ok, result, error } = envelope;
  if (ok === true) return result !== undefined;
  return (
    (ok === undefined || ok === false) &&
    isRecord(error) &&
    typeof error['code'] === 'string' &&
    typeof error['message'] === 'string'
  );
}

/**
 * Events of a run with a result. Its patches wait for the end of the step, and a roll-over carries them: those that
 * exceed what all states together may have are refused at once.
 */
function endedEvents(
  state: ConversationState,
  call: CallState,
  outcome: ToolEnded,
): readonly EventBody[] {
  const { patches = [], ...ended } = outcome;
  if (patches.length === 0) return [resultEvent(call, ranResult(call.plan, ended))];
  const waiting = stepCalls(state).flatMap(({ result }) => result?.patches ?? []);
  const bytes = utf8Bytes(JSON.stringify([...waiting, ...(state.duePatches ?? []), ...patches]));
  if (bytes <= MAX_PLUGIN_STATES_BYTES) return [resultEvent(call, ranResult(call.plan, outcome))];
  const message = `the patches of the step have ${bytes} bytes, more than ${MAX_PLUGIN_STATES_BYTES}`;
  const refused = { code: 'too_large', message } as const;
  return [
    ...patches.map(
      ({ plugin, version }): EventBody => ({
        type: 'state_patch',
        ...{ plugin, version, changes: [], refused },
        ...{ turnId: call.turnId, toolCallId: call.plan.toolCallId },
      }),
    ),
    resultEvent(call, ranResult(call.plan, ended)),
  ];
}

/** Events of a lost tool run (worker death, time-out): the infrastructure failed, not the tool. */
export function toolLostEvents(call: CallState, loss: Loss): readonly EventBody[] {
  const { plan } = call;
  // The run of a held call continues work that is under way: the outcome of that work is unknown, and it is not started
  // again.
  const isHeldOpen = call.ask?.question.heldAt !== undefined;
  if (loss.neverStarted === true && !isHeldOpen) {
    const message = TEXTS.notTaken(plan.name, FOREIGN_QUEUE_TIMEOUT_MS);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  if (isHeld(plan)) return [lostEvent(call, loss)];
  if (plan.effects === 'once' || isHeldOpen)
    return [
      resultEvent(
        call,
        errorResult('errored', {
          code: 'outcome_unknown',
          message: TEXTS.outcomeUnknown(plan.name),
        }),
      ),
    ];
  if (loss.code === 'unknown_agent') {
    const message = TEXTS.agentNotServed(plan.name, loss.message);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  const error = loss.timedOut
    ? { code: 'timeout' as const, message: TEXTS.timeout(plan.timeouts.runMs) }
    : { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(loss.message) };
  return [resultEvent(call, errorResult('errored', error))];
}

/**
 * Events of a call that a worker has validated and evaluated for approval, after its turn in the step had come. Limits
 * are checked now.
 */
export function plannedEvents(
  state: ConversationState,
  call: CallState,
  plan: PlannedCall,
): readonly EventBody[] {
  const { turn } = state;
  if (turn === undefined || call.plan.unplanned === undefined) return [];
  const { toolCallId } = call.plan;
  const { unplanned: _due, ...planned } = { ...plan, toolCallId };
  return withinBounds(state, turn, [planned]).map((bounded) => ({
    type: 'call_planned' as const,
    turnId: call.turnId,
    step: call.step,
    call: bounded,
  }));
}

export function notPlannedEvents(call: CallState, { message }: Loss): readonly EventBody[] {
  if (call.plan.unplanned === undefined) return [];
  const error = { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(message) };
  return [resultEvent(call, errorResult('errored', error))];
}

/**
 * Detects a `once` call that was not run because its activity was delivered again: handled like a lost run that a
 * worker reports.
 */
function reportedLoss(call: CallState, outcome: ToolEnded): Loss | undefined {
  const { envelope } = outcome;
  return isHeld(call.plan) && !envelope.ok && envelope.error.code === 'outcome_unknown'
    ? { timedOut: false, message: 'the call was delivered a second time' }
    : undefined;
}

function lostEvent(call: CallState, loss: Loss): EventBody {
  const { turnId, plan } = call;
  const { toolCallId } = plan;
  return { type: 'tool_lost', turnId, toolCallId, run: runOf(call), reason: loss.message };
}

/** Events of a tool's report about its lost run. */
export function reconciledEvents(
  call: CallState,
  outcome: ReconcileToolResult,
): readonly EventBody[] {
  const { turnId, plan } = call;
  const { toolCallId } = plan;
  const event: EventBody = {
    type: 'tool_reconciled',
    turnId,
    toolCallId,
    run: runOf(call),
    outcome: outcome.outcome,
    ...(outcome.outcome === 'unknown' ? { reason: outcome.reason } : {}),
  };
  if (outcome.outcome !== 'happened') return [event];
  return [event, resultEvent(call, ranResult(plan, { envelope: outcome.envelope }))];
}

/** Events of a preflight: the payload, or an error when the call cannot be offered. */
export function preflightEvents(
  call: CallState,
  outcome: PreflightToolResult,
): readonly EventBody[] {
  if (!outcome.ok && 'changed' in outcome) return changedEvent(call, outcome.changed.definition);
  if (!outcome.ok) return [resultEvent(call, errorResult('errored', outcome.error))];
  const { turnId, plan } = call;
  const { payload, argsDigest } = outcome;
  const { toolCallId } = plan;
  return [{ type: 'call_prepared', turnId, toolCallId, payload, argsDigest }];
}

/**
 * The results that came with an answer, in call order, without those whose call has another id now. `recorded`: the
 * events of the answer.
 */
export function offeredReads(
  outcome: CallModelResult,
  recorded: readonly EventBody[],
): readonly InlineRead[] {
  if (!mayHaveReads(outcome)) return [];
  const asked = recorded.flatMap((event) =>
    event.type === 'tool_call' && event.executed !== true ? [event.call.toolCallId] : [],
  );
  return outcome.calls.flatMap(({ read }, index) =>
    read !== undefined && read.toolCallId === asked[index] ? [read] : [],
  );
}

/**
 * Empty where the call does not want its first run now: then the result is dropped, and the due effects are carried out
 * as usual.
 */
export function readEvents(state: ConversationState, read: InlineRead): readonly EventBody[] {
  const { toolCallId, ended } = read;
  const call = wantedReads(state).find(({ plan }) => plan.toolCallId === toolCallId);
  // Questions and refused answers are left to an activity.
  if (call === undefined || !isRecord(ended) || !('envelope' in ended)) return [];
  return toolFinishedEvents(state, call, ended);
}
