/** Folds the events of single calls: asked, suspended, resolved, expired, ended. See `apply.ts` for the invariants. */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { ToolResultPart } from '../../protocol/conversation/messages.js';
import { MAX_SHOWN_REASONS } from '../../protocol/limits/limits.js';
import type {
  AgentChanged,
  CallPlanned,
  Expired,
  ResolutionEvent,
  ResolutionReverted,
  SuspensionEvent,
  ToolCallEvent,
  ToolResultEvent,
} from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Json } from '../../protocol/values/json.js';
import { runsAgainOnDecline } from '../calls/ask.js';
import { withoutClaim } from '../calls/claim.js';
import { keptInBackground, lateCall, requestedByOf, takesLate } from '../calls/detached.js';
import { filesOf } from '../calls/results.js';
import { isCounted, withSpent } from '../calls/turn-limits.js';
import { withResults } from '../context/transcript.js';
import type { AttendedCall, CallState, DetachedCall, WaitingCall } from '../state/calls.js';
import { hasEnded, isAttended } from '../state/calls.js';
import { callKey, keptArgsDigest, keptDigest, requestKey } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import { callOf, isSequential, stepCalls, type TurnState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { remember, withCall, withTurn } from '../state/update.js';
import { withPatchesDue, withStepPatchesDue } from './plugins.js';
import { withTombstone } from './tombstones.js';
import { nextStep, stepSkipped } from './turns.js';

const AWAITING: Readonly<Record<Exclude<SuspensionKind, 'outcome'>, WaitingCall['status']>> = {
  approval: 'awaiting_approval',
  elicitation: 'awaiting_answer',
  client_execution: 'awaiting_client',
  external_execution: 'awaiting_external',
};

export function toolCalled(
  state: ConversationState,
  event: Stamped<ToolCallEvent>,
): ConversationState {
  const { call, turnId, step, seq } = event;
  const entry: CallState = {
    plan: call,
    turnId,
    step,
    status: 'running',
    since: seq,
    ...(call.timeouts.totalMs === undefined ? {} : { askedAt: event.at }),
    ...requestedByOf(call, state.turn),
  };
  if (event.executed === true)
    return { ...state, calls: { ...state.calls, [call.toolCallId]: { ...entry, executed: true } } };
  const calls = { ...state.calls, [call.toolCallId]: entry };
  return withTurn(countCall({ ...state, calls }, call), (turn) =>
    turn.phase === 'tools' ? { ...turn, callIds: [...turn.callIds, call.toolCallId] } : turn,
  );
}

/** Replaces the plan of an unplanned call when its turn has come: its arguments and approval are known now. */
export function callPlanned(
  state: ConversationState,
  { call: plan, seq }: Stamped<CallPlanned>,
): ConversationState {
  const planned = withCall(state, plan.toolCallId, (call) => ({ ...call, plan, since: seq }));
  return countCall(planned, plan);
}

export function suspended(
  state: ConversationState,
  event: Stamped<SuspensionEvent>,
): ConversationState {
  const { suspension, seq } = event;
  return withCall(state, suspension.toolCallId, (call) => {
    if (call.result !== undefined) return call;
    const { reopenUntil: _used, reverted: _shown, ...rest } = call;
    const waited = suspension.kind === 'approval' ? { gateWaited: true as const } : {};
    const waits = { ...rest, ...waited, suspension, since: seq };
    if (waits.background === 'detached') return { ...waits, status: 'detached' };
    if (suspension.kind !== 'outcome') return { ...waits, status: AWAITING[suspension.kind] };
    const { lost } = rest;
    return lost === undefined ? call : { ...waits, status: 'outcome_unknown', lost };
  });
}

export function resolved(
  state: ConversationState,
  event: Stamped<ResolutionEvent>,
): ConversationState {
  const { toolCallId, resolution, actor, requestId, seq, at, executionMs } = event;
  const next = withCall(state, toolCallId, (call) => {
    if (hasEnded(call)) return call;
    const { suspension: closed, ...rest } = call;
    const answered = {
      ...rest,
      since: seq,
      resolvedBy: actor.id,
      resolvedAt: at,
      ...(resolution.type === 'approve'
        ? approvedBy(actor, resolution.input, { requestId, deadline: closed?.deadline ?? at })
        : {}),
      ...(resolution.type === 'answer' || resolution.type === 'result'
        ? {
            answer: {
              value: resolution.value,
              ...filesOf(resolution),
              actor,
              requestId,
              deadline: closed?.deadline ?? call.closedWait?.deadline ?? at,
              ...(executionMs === undefined ? {} : { executionMs }),
            },
          }
        : {}),
      ...(runsAgainOnDecline(call, resolution) ? { declined: declinedBy(actor, resolution) } : {}),
    };
    return answered.background === undefined ? { ...answered, status: 'running' } : answered;
  });
  // A resolution without a digest comes from a remembered rule: no client sent a request that it could repeat.
  if (event.digest === undefined) return next;
  const { digest, argsDigest } = event;
  return remember(next, {
    operation: 'resolution',
    key: requestKey(requestId, toolCallId),
    call: callKey(toolCallId),
    digest: keptDigest(digest),
    ...(argsDigest === undefined ? {} : { argsDigest: keptArgsDigest(argsDigest) }),
    seq,
    ...(event.late === true ? { late: true } : {}),
  });
}

function declinedBy(
  actor: StampedActor,
  resolution: Resolution,
): NonNullable<CallState['declined']> {
  const reason = resolution.type === 'decline' ? resolution.reason : undefined;
  return { actor, ...(reason === undefined ? {} : { reason }) };
}

/** An approval with an edit takes effect once the edit has been checked. */
function approvedBy(
  actor: StampedActor,
  input: Json | undefined,
  at: { readonly requestId: string; readonly deadline: string },
): Pick<CallState, 'approver' | 'edit'> {
  return input === undefined ? { approver: actor } : { edit: { input, actor, ...at } };
}

/**
 * Takes an accepted answer or edit back after a worker has refused it. Its request id is forgotten, so that the same
 * client may send a better one.
 */
export function reverted(
  state: ConversationState,
  { toolCallId, run, problems }: ResolutionReverted,
): ConversationState {
  const call = callOf(state, toolCallId);
  const taken = call?.answer ?? call?.edit;
  if (call === undefined || taken === undefined || call.suspension !== undefined) return state;
  const { requestId, deadline } = taken;
  const key = requestKey(requestId, toolCallId);
  const requests = state.requests.filter(
    (row) => row.operation !== 'resolution' || row.key !== key,
  );
  const { answer: _refused, edit: _neither, resolvedBy: _by, resolvedAt: _at, ...rest } = call;
  const shown = problems.slice(0, MAX_SHOWN_REASONS);
  const reopening: CallState = {
    ...rest,
    ...(run === undefined ? {} : { runsEnded: run }),
    reopenUntil: deadline,
    reverted: { requestId, problems: shown },
  };
  return { ...state, requests, calls: { ...state.calls, [toolCallId]: reopening } };
}

export function expired(state: ConversationState, event: Stamped<Expired>): ConversationState {
  return withCall(state, event.toolCallId, (call) => {
    if (call.suspension === undefined) return call;
    const { suspension: closed, ...rest } = call;
    return {
      ...rest,
      status: 'expired',
      since: event.seq,
      resolvedAt: event.deadline,
      // The claim ends with the wait: the first valid result is accepted, from any client.
      ...(takesLate(call, closed.kind) ? { closedWait: withoutClaim(closed) } : {}),
    };
  });
}

export function toolResult(
  state: ConversationState,
  event: Stamped<ToolResultEvent>,
): ConversationState {
  const call = callOf(state, event.toolCallId);
  if (call === undefined || !isAttended(call)) return state;
  const { toolCallId, name, result, at } = event;
  const { status } = result;
  if (status === 'detached') return stepSettled(detached(state, call, result));
  const { suspension, ...rest } = call;
  const deadline =
    suspension?.deadline ?? (call.status === 'expired' ? call.resolvedAt : undefined);
  const next = withTombstone(state, call, { status, result, at, deadline });
  if (call.executed === true) {
    const { [toolCallId]: _shown, ...calls } = state.calls;
    return { ...next, calls };
  }
  const ended = lateCall({ ...rest, status, result });
  // Each call of a sequential step reads the states that the one before it has left.
  const patched = isSequential(state) ? withPatchesDue(next, [ended]) : next;
  return stepSettled({
    ...withFailure(patched, name, result),
    calls: { ...state.calls, [toolCallId]: ended },
  });
}

/** Open calls keep the agent that made them. */
export function agentChanged(
  state: ConversationState,
  { agent, turnId }: Stamped<AgentChanged>,
): ConversationState {
  const { agent: previous, formerAgents = [] } = state;
  const calls = Object.entries(state.calls).map(
    ([id, call]) => [id, call.agent === undefined ? { ...call, agent: previous } : call] as const,
  );
  const former = [...new Set([...formerAgents, previous])].filter((name) => name !== agent);
  const { formerAgents: _before, ...rest } = state;
  const next = {
    ...rest,
    agent,
    ...(former.length === 0 ? {} : { formerAgents: former }),
    calls: Object.fromEntries(calls),
  };
  if (state.turn?.turnId !== turnId) return next;
  return withTurn(next, (turn) => ({ ...turn, handedOverIn: turn.step }));
}

/** Ends the step once the model has a result for each of its calls. */
function stepSettled(state: ConversationState): ConversationState {
  const calls = stepCalls(state);
  return calls.length > 0 && calls.every(isAnswered) ? stepEnded(state) : state;
}

function isAnswered({ result, ack }: CallState): boolean {
  return result !== undefined || ack !== undefined;
}

/** All calls of the step have their result: the results enter the transcript in the model's order. */
function stepEnded(state: ConversationState): ConversationState {
  const { turn } = state;
  if (turn === undefined) return state;
  const parts: ToolResultPart[] = [];
  for (const call of stepCalls(state)) {
    const { toolCallId, name } = call.plan;
    const result = call.ack ?? call.result;
    if (result !== undefined)
      parts.push({
        type: 'tool_result',
        toolCallId,
        name,
        envelope: result.envelope,
        ...(result.provenance === 'untrusted' ? { provenance: result.provenance } : {}),
      });
  }
  const patched = withStepPatchesDue(state);
  const settled = { ...patched, calls: keptInBackground(state) };
  const isEnd = endsTurn(state, turn);
  if (!isEnd) return nextStep(withResults(settled, turn, parts));
  const skipped =
    parts.length === 1 && !hasProviderResults(state) ? { skipped: true as const } : {};
  return stepSkipped(withResults(settled, { ...turn, ...skipped }, parts));
}

/** Whether a call of the step ends the turn: all have succeeded, and the turn needs no answer in a form. */
function endsTurn(state: ConversationState, { outputSchema }: TurnState): boolean {
  const calls = stepCalls(state);
  const isWanted = calls.some(({ plan }) => plan.endsTurn === true);
  if (!isWanted || (outputSchema !== undefined && outputSchema !== false)) return false;
  return calls.every(({ ack, result }) => (ack ?? result)?.envelope.ok === true);
}

/** Results of the provider's own calls are in the message itself, which then stays. */
function hasProviderResults({ transcript }: ConversationState): boolean {
  const last = transcript.at(-1);
  return last?.role === 'assistant' && last.providerResults !== undefined;
}

/** Counts a call that may run, where a limit needs the count. */
function countCall(state: ConversationState, call: PlannedCall): ConversationState {
  const { error, unplanned } = call;
  if (error !== undefined || unplanned !== undefined || !isCounted(state)) return state;
  return withTurn(state, (turn) => withSpent(turn, call));
}

/**
 * Notes a result that ends the turn, where the agent's settings ask for that: of a failed tool, or of a tool that the
 * agent does not have.
 */
function withFailure(
  state: ConversationState,
  name: string,
  { status, envelope }: ToolResult,
): ConversationState {
  const { onToolError, onUnknownTool } = state.settings;
  if (status !== 'errored' || envelope.ok) return state;
  const { error } = envelope;
  // A declined question is not a failure of the tool: like a denial, it is a person's decision.
  if (error.code === 'declined') return state;
  const isFatal =
    error.code === 'unknown_tool' ? onUnknownTool === 'abort_turn' : onToolError === 'abort_turn';
  if (!isFatal) return state;
  return withTurn(state, (turn) => ({ ...turn, failure: turn.failure ?? { name, error } }));
}

/** The model continues with the result `pending`; the call stays open. */
export function detached(
  state: ConversationState,
  call: AttendedCall,
  ack: ToolResult,
): ConversationState {
  // A call that was awaited until now keeps its suspension, and is treated as if it had been detached from the start.
  const plan: PlannedCall = { ...call.plan, mode: 'detach' };
  const detachment = {
    plan,
    background: 'detached',
    status: 'detached',
    ack,
    ...(call.requestedBy === undefined ? requestedByOf(plan, state.turn) : {}),
  } as const;
  const entry: DetachedCall =
    call.suspension === undefined
      ? { ...call, ...detachment }
      : { ...call, ...detachment, suspension: { ...call.suspension, detached: true } };
  return { ...state, calls: { ...state.calls, [plan.toolCallId]: entry } };
}
