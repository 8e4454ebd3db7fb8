/** Converts outcomes of model calls to events. Pure functions of (state, outcome); the machine commits the events. */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { PatchSource, StatePatch } from '../../protocol/calls/plugin-state.js';
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { AssistantPart } from '../../protocol/conversation/messages.js';
import { textOf } from '../../protocol/conversation/messages.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_CALLS_PER_STEP, MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import type { EventBody, ModelCallEvent, ToolCallEvent } from '../../protocol/log/events.js';
import { assistantMessageId } from '../../protocol/log/live-events.js';
import { isUsableCallId } from '../../protocol/values/ids.js';
import { type CallModelResult, providerResultsOf } from '../../protocol/workflow/activities.js';
import { withinBounds } from '../calls/turn-limits.js';
import { requestWindow } from '../context/request-window.js';
import { remembersAllCalls, takenCallIds } from '../memory/memory.js';
import { areStatePatches } from '../plugins/form.js';
import { patchEvents } from '../plugins/states.js';
import type { ConversationState, ModelTurn, TurnState } from '../state/state.js';
import { isStopping } from '../state/state.js';
import { addUsage, NO_USAGE, spentIn, takenBy } from '../state/usage.js';
import { turnEndedEvent } from './results.js';
import { limitEvents } from './turns.js';

/**
 * Limit of the calls of one answer that are recorded at all. Those past `MAX_CALLS_PER_STEP` are planned as errors, so
 * that the model learns of its limit; a looping model may ask for thousands of calls, and recording each would exceed
 * the time of a workflow task.
 */
const MAX_ANSWERED_CALLS = 4 * MAX_CALLS_PER_STEP;

/**
 * Minimum length of random ids. Once ended calls are forgotten, a short provider id (`call_0`) may equal the id of an
 * ended call, and an old link would answer the new call.
 */
export const RANDOM_ID_CHARS = 16;

/**
 * End of a model call: an answer, whole or partial; an error; or neither, when the call was given up. `left`: details
 * and usage of its attempts.
 */
export interface ModelCallEnd {
  readonly outcome?: CallModelResult;
  readonly error?: TurnError;
  readonly left?: ModelCallDetails | undefined;
}

/** Empty when the turn no longer waits for that call. */
export function modelEndedEvents(
  state: ConversationState,
  at: Pick<TurnState, 'turnId' | 'step'>,
  { outcome, error, left }: ModelCallEnd,
): readonly EventBody[] {
  const { turn } = state;
  if (turn?.turnId !== at.turnId || turn.step !== at.step || turn.phase !== 'model') return [];
  const isStopped = isStopping(turn);
  if (outcome !== undefined)
    return isStopped || outcome.aborted === true
      ? modelAbortedEvents(state, turn, { partial: outcome })
      : modelCompletedEvents(state, turn, outcome);
  return error === undefined || isStopped
    ? modelAbortedEvents(state, turn, { left })
    : modelFailedEvents(turn, { error, left });
}

/**
 * Events of a completed model call: the calls that its provider has run, with their results; its message; and every
 * call that it asks for, each under a free id.
 */
function modelCompletedEvents(
  state: ConversationState,
  turn: ModelTurn,
  outcome: CallModelResult,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const answered = withinBounds(
    state,
    turn,
    outcome.calls.slice(0, MAX_ANSWERED_CALLS).map(({ plan }) => plan),
  ).map((plan, index) => ({ plan, argumentsJson: outcome.calls[index]?.argumentsJson ?? '' }));
  const executed = outcome.providerCalls ?? [];
  // Calls that wait for a result are named first, because the model has to recognise their ids.
  const underFreeId = callNamer(state, turn, [...answered, ...executed]);
  const calls = answered.map(({ plan, argumentsJson }) => ({
    ...underFreeId(plan),
    argumentsJson,
  }));
  const ran = executed.map(({ plan, result }) => ({ ...underFreeId(plan), result }));
  const parts: AssistantPart[] = [
    ...outcome.parts,
    ...calls.map(({ call, argumentsJson }) => ({
      type: 'tool_call' as const,
      toolCallId: call.toolCallId,
      name: call.name,
      argumentsJson,
    })),
  ];
  const providerResults = providerResultsOf(
    ran.map(({ call: plan, result }) => ({ plan, result })),
  );
  return [
    withUnsent(modelCallEvent(turn, outcome), requestWindow(state).unsent),
    ...patchEvents(state.plugins, preparedPatches(turn, outcome)),
    ...ran.flatMap(({ result, ...named }) => {
      const { toolCallId, name } = named.call;
      return [
        { ...toolCallEvent(turn, named), executed: true as const },
        { type: 'tool_result' as const, turnId, toolCallId, name, result },
      ];
    }),
    {
      type: 'assistant_message',
      turnId,
      step,
      messageId: assistantMessageId(turnId, step),
      parts,
      ...(providerResults.length === 0 ? {} : { providerResults }),
      ...(outcome.output === undefined ? {} : { output: outcome.output }),
    },
    ...calls.map((call) => toolCallEvent(turn, call)),
    ...badOutputEvents(turn, outcome),
  ];
}

/** A worker of another version may send anything: patches of a wrong form are dropped. */
function preparedPatches(
  { turnId }: ModelTurn,
  { patches = [] }: CallModelResult,
): readonly (StatePatch & PatchSource)[] {
  return areStatePatches(patches) ? patches.map((patch) => ({ ...patch, turnId })) : [];
}

interface NamedCall {
  readonly call: PlannedCall;
  /** The provider's id, where it could not be used. */
  readonly provider: string | undefined;
}

function toolCallEvent({ turnId, step }: ModelTurn, { call, provider }: NamedCall): ToolCallEvent {
  return {
    type: 'tool_call',
    turnId,
    step,
    call,
    ...(provider === undefined ? {} : { providerCallId: provider }),
  };
}

/** Gives the calls of one answer, one after the other, ids that no other call of the conversation has. */
function callNamer(
  state: ConversationState,
  { turnId, step }: ModelTurn,
  all: readonly { readonly plan: PlannedCall }[],
): (plan: PlannedCall) => NamedCall {
  const asked = all.map(({ plan }) => plan.toolCallId);
  // Minted ids must also differ from those that the provider uses for later calls of this step.
  const minted = new Set(asked);
  const taken = new Set(takenCallIds(state, asked));
  const remembersAll = remembersAllCalls(state);
  let ordinal = 0;
  return (plan) => {
    ordinal += 1;
    const provider = plan.toolCallId;
    const free =
      isUsableCallId(provider) &&
      !taken.has(provider) &&
      (remembersAll || provider.length >= RANDOM_ID_CHARS);
    const toolCallId = free
      ? provider
      : freeCallId(state, `call_${turnId}_${step}_${ordinal}`, minted);
    taken.add(toolCallId);
    minted.add(toolCallId);
    return { call: { ...plan, toolCallId }, provider: free ? undefined : provider };
  };
}

/** Minted ids contain turn and step: only a model that imitates them can have used one. */
function freeCallId(state: ConversationState, wanted: string, taken: ReadonlySet<string>): string {
  let callId = wanted;
  for (let suffix = 2; taken.has(callId) || takenCallIds(state, [callId]).size > 0; suffix += 1)
    callId = `${wanted}_${suffix}`;
  return callId;
}

function modelCallEvent(turn: ModelTurn, outcome: CallModelResult): ModelCallEvent {
  const { attempt, model, finishReason, usage, earlierUsage, failedAttempts, context } = outcome;
  return {
    type: 'model_call',
    turnId: turn.turnId,
    step: turn.step,
    attempt,
    model,
    finishReason,
    usage,
    ...(earlierUsage === undefined ? {} : { earlierUsage }),
    ...(failedAttempts === undefined ? {} : { failedAttempts }),
    ...(context === undefined ? {} : { context }),
  };
}

function withUnsent(event: ModelCallEvent, unsentMessages: number): ModelCallEvent {
  const { context } = event;
  if (context === undefined || unsentMessages === 0) return event;
  return { ...event, context: { ...context, unsentMessages } };
}

/**
 * Events of a call without an answer: the usage of its attempts, and the reasons of their failures. Empty where neither
 * is known.
 */
function leftEvents(
  { turnId, step }: ModelTurn,
  call: {
    readonly left: ModelCallDetails | undefined;
    readonly finishReason: 'cancelled' | 'failed';
  },
): readonly ModelCallEvent[] {
  const { left = {}, finishReason } = call;
  const spent = spentIn(left);
  const { failed = [] } = left;
  const last = failed.at(-1);
  if (last === undefined)
    return spent === undefined
      ? []
      : [{ type: 'model_call', turnId, step, ...spent, finishReason }];
  const { attempt, model } = last;
  const { usage } = spent ?? { usage: NO_USAGE };
  const about = { type: 'model_call', turnId, step, attempt, model, finishReason } as const;
  return [{ ...about, usage, failedAttempts: failed }];
}

/** The turn with the usage of these calls. */
function withTaken(turn: ModelTurn, calls: readonly ModelCallEvent[]): ModelTurn {
  return calls.reduce((sum, call) => ({ ...sum, usage: addUsage(sum.usage, takenBy(call)) }), turn);
}

/** Fails the turn when the answer does not have the requested form: the requester cannot use it. */
function badOutputEvents(turn: ModelTurn, outcome: CallModelResult): readonly EventBody[] {
  const { outputProblem, parts } = outcome;
  if (outputProblem === undefined) return [];
  const message = TEXTS.invalidOutputTwice(outputProblem).slice(0, MAX_REASON_CHARS);
  const called = modelCallEvent(turn, outcome);
  const spent = { ...withTaken(turn, [called]), lastText: textOf(parts) };
  const error = { code: 'model_invalid_output' satisfies FailureCode, message };
  return [turnEndedEvent(spent, { status: 'failed', reason: 'model_failed', error })];
}

/** Ends the turn after its model call has failed for good; the next message starts a new turn from this state. */
export function modelFailedEvents(
  turn: ModelTurn,
  { error, left }: { readonly error: TurnError; readonly left?: ModelCallDetails | undefined },
): readonly EventBody[] {
  const calls = leftEvents(turn, { left, finishReason: 'failed' });
  const end = { status: 'failed', reason: 'model_failed', error } as const;
  return [...calls, turnEndedEvent(withTaken(turn, calls), end)];
}

/** Ends the model call of a turn that is being stopped; the text that has arrived is kept. */
function modelAbortedEvents(
  state: ConversationState,
  running: ModelTurn,
  {
    partial,
    left,
  }: { readonly partial?: CallModelResult; readonly left?: ModelCallDetails | undefined },
): readonly EventBody[] {
  const { turnId, step } = running;
  const text = partial === undefined ? '' : textOf(partial.parts);
  const calls =
    partial === undefined
      ? leftEvents(running, { left, finishReason: 'cancelled' })
      : [modelCallEvent(running, partial)];
  const turn = withTaken(running, calls);
  const events: EventBody[] = [...calls];
  if (partial !== undefined && text !== '')
    events.push({
      type: 'assistant_message',
      turnId,
      step,
      messageId: assistantMessageId(turnId, step),
      // Providers refuse their own items when the items that followed are missing.
      parts: partial.parts.filter((part) => part.type !== 'provider_item'),
      partial: true,
    });
  if (turn.stop !== undefined && turn.cancel === undefined)
    return [...events, ...limitEvents(state, turn, turn.stop)];
  const end = turnEndedEvent(turn, { status: 'cancelled', reason: 'cancelled' });
  return [...events, text === '' ? end : { ...end, text }];
}
