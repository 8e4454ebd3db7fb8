/**
 * One row for each effect that the core wants from outside: its key, the activity that carries it out with id and
 * input, and the events that record its end. The driver of the workflow and that of the test kit use the same rows.
 * Pure. Options of activities are Temporal's, so `workflows/activities/schedule.ts` has them, in a table of these types.
 */
import type { EffectOf, EffectType } from '../decide/effects.js';
import type { ConversationState } from '../state/state.js';
import { CALL_WORK } from './calls.js';
import { CHILD_WORK } from './children.js';
import { MODEL_WORK } from './model.js';
import type { Row, WorkRow, WorkType } from './row.js';
import { TIMERS } from './timers.js';

export { TIMERS };

/** The effects that activities carry out. */
export const WORK: { readonly [Type in WorkType]: WorkRow<Type> } = {
  ...MODEL_WORK,
  ...CALL_WORK,
  ...CHILD_WORK,
};

const EFFECTS: { readonly [Type in EffectType]: Row<Type> } = {
  ...WORK,
  ...TIMERS,
  // The drivers carry these out by themselves: one by the end of a model call, the other by a roll-over.
  abort_model: { key: ({ turnId, step }) => `abort:${turnId}:${step}` },
  offload_transcript: { key: ({ turnId, step }) => `offload:${turnId}:${step}` },
};

export function effectKey<Type extends EffectType>(effect: EffectOf<Type>): string {
  const { type } = effect;
  return EFFECTS[type].key(effect);
}

export function activityIdOf<Type extends EffectType>(
  state: ConversationState,
  effect: EffectOf<Type>,
): string | undefined {
  const { type } = effect;
  return EFFECTS[type].activityId?.(state, effect);
}
