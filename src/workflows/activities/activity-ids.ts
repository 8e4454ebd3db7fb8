/**
 * Builds the ids of activities from the work they do, so that a recorded end can be matched to the same work in another
 * run.
 */
import type { ExternalEffect } from '../../core/decide/effects.js';
import type { ConversationState } from '../../core/state/state.js';
import { preflightActivityId, reconcileActivityId, toolActivityId } from './schedule.js';

export function modelActivityId({
  turnId,
  step,
}: {
  readonly turnId: string;
  readonly step: number;
}): string {
  return `model:${turnId}:${step}`;
}

/**
 * Undefined for work whose activity has no id of its own. Such work has no effects, so a recovered run does it again.
 */
export function activityIdOf(state: ConversationState, effect: ExternalEffect): string | undefined {
  if (effect.type === 'call_model') return modelActivityId(effect);
  if (!('toolCallId' in effect)) return undefined;
  const plan = state.calls[effect.toolCallId]?.plan;
  if (plan === undefined) return undefined;
  switch (effect.type) {
    case 'run_tool':
      return toolActivityId(plan, effect.run);
    case 'preflight_tool':
      return preflightActivityId(plan);
    case 'reconcile_tool':
      return reconcileActivityId(plan, effect.run);
    default:
      return undefined;
  }
}
