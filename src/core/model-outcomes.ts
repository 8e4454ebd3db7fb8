/** From outcomes of model calls to events. Pure functions of (state, outcome); the machine commits what they return. */
import { type CallModelResult, providerResultsOf } from '../protocol/activities.js';
import type { EventBody, ToolCallEvent, TurnError } from '../protocol/events.js';
import type { FailureCode } from '../protocol/failures.js';
import { isUsableCallId } from '../protocol/ids.js';
import { MAX_CALLS_PER_STEP, MAX_REASON_CHARS } from '../protocol/limits.js';
import { assistantMessageId } from '../protocol/live-events.js';
import type { AssistantPart } from '../protocol/messages.js';
import { textOf } from '../protocol/messages.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall } from '../protocol/tools.js';
import { visibleFrom } from './context/visible.js';
import { turnEndedEvent } from './event-bodies.js';
import { remembersAllCalls, takenCallIds } from './memory.js';
import type { ConversationState, TurnState } from './state.js';
import { limitEvents, withinBounds } from './turn-limits.js';
import { addUsage } from './view.js';

/**
 * Calls of one answer that are kept at all. Those past `MAX_CALLS_PER_STEP` are planned as errors, so that the model learns
 * of its limit; a model that goes round in circles asks for thousands, and recording each would outlast a workflow task.
 */
const MAX_ANSWERED_CALLS = 4 * MAX_CALLS_PER_STEP;

/**
 * Once ended calls are forgotten, a short provider id (`call_0`) may be one of them come back, and an old link would answer
 * the new call. Ids at least this long are random.
 */
const RANDOM_ID_CHARS = 16;

/**
 * A model call was completed: what its provider has run, with the results; its message; and every call it asks for, each under
 * an id that is free.
 */
export function modelCompletedEvents(
  state: ConversationState,
  turn: TurnState,
  outcome: CallModelResult,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const answered = withinBounds(
    state,
    turn,
    outcome.calls.slice(0, MAX_ANSWERED_CALLS).map(({ plan }) => plan),
  ).map((plan, index) => ({ plan, argumentsJson: outcome.calls[index]?.argumentsJson ?? '' }));
  const executed = outcome.providerCalls ?? [];
  // Calls that wait for a result come first: it is their ids that the model has to find again.
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
    modelCallEvent(turn, outcome, visibleFrom(state)),
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

interface NamedCall {
  readonly call: PlannedCall;
  /** The provider's id, where it could not be used. */
  readonly provider: string | undefined;
}

function toolCallEvent({ turnId, step }: TurnState, { call, provider }: NamedCall): ToolCallEvent {
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
  { turnId, step }: TurnState,
  all: readonly { readonly plan: PlannedCall }[],
): (plan: PlannedCall) => NamedCall {
  const asked = all.map(({ plan }) => plan.toolCallId);
  // Minted ids must also keep clear of those that the provider uses further on in this step.
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

/** Minted ids name turn and step: only a model that imitates them can have taken one. */
function freeCallId(state: ConversationState, wanted: string, taken: ReadonlySet<string>): string {
  let callId = wanted;
  for (let suffix = 2; taken.has(callId) || takenCallIds(state, [callId]).size > 0; suffix += 1)
    callId = `${wanted}_${suffix}`;
  return callId;
}

function modelCallEvent(turn: TurnState, outcome: CallModelResult, unsent = 0): EventBody {
  const { attempt, model, finishReason, usage, context } = outcome;
  return {
    type: 'model_call',
    turnId: turn.turnId,
    step: turn.step,
    attempt,
    model,
    finishReason,
    usage,
    ...(context === undefined
      ? {}
      : { context: unsent === 0 ? context : { ...context, unsentMessages: unsent } }),
  };
}

/** What was said has not the form that was asked for: whoever asked cannot use it, so the turn has failed. */
function badOutputEvents(turn: TurnState, outcome: CallModelResult): readonly EventBody[] {
  const { outputProblem, usage, parts } = outcome;
  if (outputProblem === undefined) return [];
  const message = TEXTS.invalidOutputTwice(outputProblem).slice(0, MAX_REASON_CHARS);
  const spent = { ...turn, usage: addUsage(turn.usage, usage), lastText: textOf(parts) };
  const error = { code: 'model_invalid_output' satisfies FailureCode, message };
  return [turnEndedEvent(spent, { status: 'failed', reason: 'model_failed', error })];
}

/** The model call failed for good: the turn ends, and the next message goes on from here. */
export function modelFailedEvents(turn: TurnState, error: TurnError): readonly EventBody[] {
  return [turnEndedEvent(turn, { status: 'failed', reason: 'model_failed', error })];
}

/** The model call of a turn that is being stopped is over; what had come of its text is kept. */
export function modelAbortedEvents(
  state: ConversationState,
  turn: TurnState,
  partial: CallModelResult | undefined,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const text = partial === undefined ? '' : textOf(partial.parts);
  const events: EventBody[] = partial === undefined ? [] : [modelCallEvent(turn, partial)];
  if (partial !== undefined && text !== '')
    events.push({
      type: 'assistant_message',
      turnId,
      step,
      messageId: assistantMessageId(turnId, step),
      // A provider refuses its own items when what followed them is missing.
      parts: partial.parts.filter((part) => part.type !== 'provider_item'),
      partial: true,
    });
  if (turn.stop !== undefined && turn.cancel === undefined)
    return [...events, ...limitEvents(state, turn, turn.stop)];
  const end = turnEndedEvent(turn, { status: 'cancelled', reason: 'cancelled' });
  return [...events, text === '' ? end : { ...end, text }];
}
