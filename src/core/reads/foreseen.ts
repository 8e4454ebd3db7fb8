/**
 * Predicts in a worker which calls of an answer the workflow is going to run: the machine applies the answer to a state
 * that has only the parts which decide about calls. Pure.
 */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { AgentSettings } from '../../protocol/conversation/agents.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type {
  CallModelInput,
  CallModelResult,
  RunToolInput,
} from '../../protocol/workflow/activities.js';
import { planForRun } from '../calls/clocks.js';
import { dueReads, mayHaveReads } from '../decide/reads.js';
import { runInputOf } from '../decide/tool-runs.js';
import { RANDOM_ID_CHARS } from '../events/model-calls.js';
import { ConversationMachine, startedState } from '../machine/machine.js';
import { callKey } from '../state/requests.js';
import type { ConversationState, Tombstone } from '../state/state.js';
import { isoOf } from '../state/time.js';
import { NO_USAGE } from '../state/usage.js';

/** A call of the answer that may run at once, under the id that the workflow is going to give it. */
export interface ForeseenRead {
  /** Index among the calls of the answer. */
  readonly index: number;
  readonly plan: PlannedCall;
  /** The input that its activity would get. */
  readonly input: RunToolInput;
  /** Time limit of all reads of the answer together, in milliseconds. */
  readonly withinMs: number;
}

export interface SeenAnswer {
  readonly outcome: CallModelResult;
  /** The messages that the model was given. */
  readonly messages: readonly Message[];
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The calls in the model's order; none where the workflow did not send the bounds for judging them. */
export function foreseenReads(input: CallModelInput, seen: SeenAnswer): readonly ForeseenRead[] {
  const { reads: bounds, turnId, step, transcript } = input;
  const { outcome, nowMs } = seen;
  if (bounds === undefined || !mayHaveReads(outcome)) return [];
  const asked: string[] = [];
  const machine = new ConversationMachine({
    state: judgedState(input, bounds, seen),
    now: () => nowMs,
    onEvent: (event) => {
      if (event.type === 'tool_call') asked.push(event.call.toolCallId);
    },
  });
  machine.completed({ type: 'call_model', turnId, step }, outcome);
  // Only a worker that knows all calls of the conversation can say that a short id is free.
  const knowsAll = transcript.epoch === 0 && bounds.forgetsCalls !== true;
  const { calls, withinMs } = dueReads(machine.state);
  return calls
    .filter(({ plan }) => knowsAll || plan.toolCallId.length >= RANDOM_ID_CHARS)
    .map((call) => {
      const plan = planForRun(call, nowMs);
      const runInput = runInputOf(machine.state, { ...call, plan });
      return { index: asked.indexOf(plan.toolCallId), plan, input: runInput, withinMs };
    });
}

/** A state with only the parts that decide about the calls of a step. */
function judgedState(
  { tenant, conversationId, agent, turnId, step, requester }: CallModelInput,
  bounds: NonNullable<CallModelInput['reads']>,
  { messages, nowMs }: SeenAnswer,
): ConversationState {
  const at = isoOf(nowMs);
  const about = { tenant, conversationId, agent, chain: '' };
  const settings = settingsOf(bounds, step);
  const begun = startedState(undefined, {
    ...{ type: 'conversation_started', seq: 1, at },
    ...about,
    settings,
  });
  return {
    ...begun,
    tombstones: tombstonesOf(messages, at),
    turn: {
      ...{ turnId, messageId: '', requester, startedAt: at, step, shownStep: step },
      ...{ phase: 'model', callIds: [], lastText: '', usage: NO_USAGE },
      ...(bounds.spent === undefined ? {} : { spent: bounds.spent }),
    },
  };
}

/** Limits of tokens, money, time and steps are left out: they bound model calls, and none is made here. */
function settingsOf(
  { calls, callsOf, spent: _spent, forgetsCalls: _forgets, ...rest }: CallModelInput['reads'] & {},
  step: number,
): AgentSettings {
  const budgets = {
    ...(calls === undefined ? {} : { calls }),
    ...(callsOf === undefined ? {} : { callsOf }),
  };
  return { maxSteps: step, onBusy: 'reject', idleCloseMs: 1, budgets, ...rest };
}

/** Marks the ids of earlier calls as taken. */
function tombstonesOf(messages: readonly Message[], at: string): readonly Tombstone[] {
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.parts.flatMap((part) =>
          part.type === 'tool_call'
            ? [
                {
                  ...{ key: callKey(part.toolCallId), name: part.name },
                  ...{ turnId: message.turnId, status: 'resolved' as const, at },
                },
              ]
            : [],
        )
      : [],
  );
}
