/** The snapshot of a state, as readers see it. Always equal to the view that the store folds from the same events. */

import { isRunByWorker } from '../../protocol/calls/executors.js';
import type { InFlightTool } from '../../protocol/calls/plan.js';
import { contextShown } from '../../protocol/conversation/context.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { openStatus } from '../../protocol/conversation/statuses.js';
import { formatRef, stepIdFor } from '../../protocol/values/ids.js';
import type { ToolCallView } from '../../protocol/workflow/messaging.js';
import { needsPreflight } from '../calls/preflight.js';
import { tombstoneOf } from '../memory/memory.js';
import type { CallState } from '../state/calls.js';
import { isFinal } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { callOf, shownCalls } from '../state/state.js';

export function snapshotOf(state: ConversationState): ConversationSnapshot {
  const { tenant, conversationId, turn } = state;
  const inFlightTools = inFlightOf(state);
  const pending = byAge(shownCalls(state)).flatMap(({ suspension, agent }) =>
    suspension === undefined || suspension.childId !== undefined
      ? []
      : [
          {
            ...suspension,
            ...(agent === undefined ? {} : { agent }),
            ref: formatRef({ tenant, conversationId, toolCallId: suspension.toolCallId }),
          },
        ],
  );
  return {
    tenant,
    conversationId,
    agent: state.agent,
    status: state.closed
      ? 'closed'
      : openStatus({
          hasTurn: turn !== undefined,
          awaited: attended(pending),
          pending: pending.length,
          working: attended(inFlightTools),
        }),
    seq: state.lastSeq,
    startedAt: state.startedAt,
    updatedAt: state.updatedAt,
    ...(turn === undefined
      ? {}
      : {
          turn: {
            turnId: turn.turnId,
            step: turn.shownStep,
            stepId: stepIdFor(turn.turnId, turn.shownStep),
            startedAt: turn.startedAt,
          },
        }),
    queued: state.queue.map((entry) => entry.turnId),
    pending,
    inFlightTools,
    usage: state.usage,
    ...(state.parent === undefined ? {} : { parent: state.parent }),
    ...(state.context === undefined ? {} : { context: contextShown(state.context) }),
    ...(state.rules === undefined ? {} : { rules: state.rules }),
    ...(state.origin === undefined ? {} : { origin: state.origin }),
  };
}

/** Orders calls by the event that led to their status: a fold of events can know no other order. */
function byAge(calls: readonly CallState[]): readonly CallState[] {
  return calls.toSorted((left, right) => left.since - right.since);
}

function inFlightOf(state: ConversationState): readonly InFlightTool[] {
  return byAge(shownCalls(state))
    .filter((call) => !isFinal(call.status) && call.plan.unplanned === undefined)
    .filter((call) => needsPreflight(call) || runs(call))
    .map(({ plan, turnId, suspension }) => ({
      toolCallId: plan.toolCallId,
      name: plan.name,
      executor: plan.executor,
      turnId,
      ...(plan.mode === 'detach' ? { detached: true as const } : {}),
      ...(suspension?.childId === undefined ? {} : { childId: suspension.childId }),
    }));
}

function runs({ plan, suspension, approver }: CallState): boolean {
  if (suspension?.childId !== undefined) return true;
  return (
    isRunByWorker(plan.executor) &&
    plan.error === undefined &&
    suspension === undefined &&
    (!plan.approval.needed || approver !== undefined)
  );
}

/** The number of entries that a turn waits for. */
function attended(entries: readonly { readonly detached?: true }[]): number {
  return entries.filter((entry) => entry.detached !== true).length;
}

/** One call of the conversation; null when it is unknown or forgotten. */
export function toolCallView(state: ConversationState, toolCallId: string): ToolCallView | null {
  const call = callOf(state, toolCallId);
  if (call !== undefined)
    return { toolCallId, name: call.plan.name, status: call.status, turnId: call.turnId };
  const ended = tombstoneOf(state, toolCallId);
  return ended === undefined
    ? null
    : { toolCallId, name: ended.name, status: ended.status, turnId: ended.turnId };
}
