/**
 * Reads: calls of tools without effects that may run inside the model activity which asked for them. Pure, and the same
 * on both sides: the worker asks before it runs a read, the workflow before it accepts a result.
 *
 * L1  A read runs there only where `decide` wants the first run of that same call, under that id.
 * L2  Reads delay a tool of the same answer that runs as an activity by `INLINE_READS_BESIDE_MS` at most, and a
 *     preflight not at all: no read runs beside one.
 */

import { isRunByWorker } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { INLINE_READS_BESIDE_MS, INLINE_READS_MS } from '../../protocol/limits/limits.js';
import type { CallModelResult } from '../../protocol/workflow/activities.js';
import type { CallState } from '../state/calls.js';
import { type ConversationState, isSequential } from '../state/state.js';
import { decide } from './decide.js';

export interface DueReads {
  /** In call order. */
  readonly calls: readonly CallState[];
  /** Time limit of all these reads together, in milliseconds. */
  readonly withinMs: number;
}

/** The reads of the step that a worker may run in this state. */
export function dueReads(state: ConversationState): DueReads {
  const reads = wantedReads(state);
  const others = decide(state).filter((effect) => {
    if (effect.type !== 'run_tool' && effect.type !== 'preflight_tool') return false;
    return !reads.some(({ plan }) => plan.toolCallId === effect.toolCallId);
  });
  const isPreparing = others.some(({ type }) => type === 'preflight_tool');
  return {
    calls: isPreparing ? [] : reads,
    withinMs: others.length === 0 ? INLINE_READS_MS : INLINE_READS_BESIDE_MS,
  };
}

/** The reads of the step whose results the workflow may accept in this state, in call order. */
export function wantedReads(state: ConversationState): readonly CallState[] {
  if (isSequential(state)) return [];
  return decide(state).flatMap((effect) => {
    if (effect.type !== 'run_tool' || effect.run !== 1) return [];
    const call = state.calls[effect.toolCallId];
    return call !== undefined && call.background === undefined && isRead(call.plan) ? [call] : [];
  });
}

/**
 * False for most answers. After an answer whose provider has run tools, nothing runs before the workflow has recorded
 * them.
 */
export function mayHaveReads({ calls, providerCalls = [] }: CallModelResult): boolean {
  return providerCalls.length === 0 && calls.some(({ plan }) => isRead(plan));
}

function isRead(plan: PlannedCall): boolean {
  const { inline, executor, effects, mode, approval, error } = plan;
  if (inline !== true || !isRunByWorker(executor) || effects !== 'none') return false;
  const isElsewhere = plan.taskQueue !== undefined || plan.preflight === true;
  return mode === 'await' && !approval.needed && error === undefined && !isElsewhere;
}
