/** Decides the next effect of a call of a server tool: preflight, run, ask, reconcile. Pure. */
import type { MadeTool, PlannedCall } from '../../protocol/calls/plan.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { idempotencyKeyFor } from '../../protocol/values/ids.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import { rerunFields, runOf } from '../calls/ask.js';
import { errorResult } from '../calls/results.js';
import { earlierResultsOf } from '../context/turn-results.js';
import { statesRef } from '../plugins/states.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { agentOf } from '../state/state.js';
import type { Effect } from './effects.js';

/** The effects of a call that has been approved or needs no approval. */
export function decideServerCall(call: CallState): readonly Effect[] {
  const { plan, lost } = call;
  const { toolCallId } = plan;
  if (lost === undefined)
    return [decideAsk(call) ?? { type: 'run_tool', toolCallId, run: runOf(call) }];
  if (lost.outcome === undefined && plan.reconcile === true)
    return [{ type: 'reconcile_tool', toolCallId, run: runOf(call) }];
  if (lost.outcome === 'not_happened')
    return [{ type: 'record_result', toolCallId, result: neverHappened(call) }];
  if (plan.onOutcomeUnknown === 'hold')
    return [{ type: 'open_suspension', toolCallId, kind: 'outcome' }];
  return [{ type: 'record_result', toolCallId, result: unknownOutcome(plan) }];
}

function unknownOutcome({ name }: PlannedCall): ToolResult {
  return errorResult('errored', { code: 'outcome_unknown', message: TEXTS.outcomeUnknown(name) });
}

function neverHappened(call: CallState): ToolResult {
  const message = TEXTS.lostEachTime(call.plan.name, attemptsOf(call));
  return errorResult('errored', { code: 'tool_crashed', message });
}

/**
 * Number of runs begun, without those that ended with a question: the first, and one after each loss without an effect.
 */
export function attemptsOf({ reruns = 0 }: CallState): number {
  return reruns + 1;
}

/** The requester of a call; a detached call may have outlived its turn. */
export function requesterOf(
  { turn }: ConversationState,
  { requestedBy }: Pick<CallState, 'requestedBy'>,
): StampedActor {
  const unknown = { id: 'unknown', verified: false, channel: 'system' } as const;
  return requestedBy?.requester ?? turn?.requester ?? unknown;
}

/** The input of a run of the call, wherever it runs. */
export function runInputOf(state: ConversationState, call: CallState): RunToolInput {
  const { tenant, conversationId } = state;
  const { plan, turnId, step, approver } = call;
  const { toolCallId, name, effects, timeouts, maxAttempts, mcp, input, raw, definition } = plan;
  return {
    tenant,
    conversationId,
    agent: agentOf(state, call),
    turnId,
    step,
    call: {
      ...{ toolCallId, name, effects, timeouts, maxAttempts },
      ...(mcp === undefined ? {} : { mcp }),
      input: input ?? null,
      ...(raw === undefined ? {} : { raw }),
      ...(definition === undefined ? {} : { definition }),
    },
    idempotencyKey: idempotencyKeyFor(state, { ...plan, turnId, step }),
    requester: requesterOf(state, call),
    ...(approver === undefined ? {} : { approver }),
    ...madeFields(state, call),
    ...statesRef(state, 'called'),
    ...rerunFields(call),
  };
}

/** The part by which a worker makes a tool that no definition has. */
export function madeFields(
  state: ConversationState,
  call: CallState,
): { readonly made?: MadeTool } {
  const { plan, turnId, step } = call;
  const { made: ref } = plan;
  if (ref === undefined) return {};
  if (ref.factory !== undefined) return { made: { ref } };
  const requester = requesterOf(state, call);
  const given = { ...earlierResultsOf(state, turnId), ...statesRef(state, 'called') };
  return { made: { ref, at: { turnId, step, requester, ...given } } };
}

type AskEffect = Extract<Effect, { type: 'open_suspension' | 'check_answer' }>;

/** The effect that a call with a question needs before its tool may run again; undefined when it needs none. */
export function decideAsk({ ask, answer, declined, plan }: CallState): AskEffect | undefined {
  if (ask === undefined || declined !== undefined) return undefined;
  const { toolCallId } = plan;
  if (answer === undefined) return { type: 'open_suspension', toolCallId, kind: 'elicitation' };
  if (answer.checked === true || ask.recheck !== true) return undefined;
  return { type: 'check_answer', toolCallId, requestId: answer.requestId };
}

export function decidePreflight(call: CallState): readonly Effect[] {
  return [{ type: 'preflight_tool', toolCallId: call.plan.toolCallId }];
}
