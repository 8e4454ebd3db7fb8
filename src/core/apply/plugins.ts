/** Folds patches of plugin states, and finds those that take effect next. Pure. */
import type { StatePatchEvent } from '../../protocol/calls/plugin-state.js';
import { judgePatch } from '../plugins/states.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { isSequential, stepCalls } from '../state/state.js';
import type { Stamped } from '../state/update.js';

export function statePatched(
  state: ConversationState,
  { plugin, version, changes, toolCallId, refused }: Stamped<StatePatchEvent>,
): ConversationState {
  const isDue = toolCallId !== undefined && state.duePatches?.[0]?.toolCallId === toolCallId;
  const rest = isDue ? withoutFirstDue(state) : state;
  if (refused !== undefined) return rest;
  const judged = judgePatch(rest.plugins, { plugin, version, changes });
  return 'refused' in judged ? rest : { ...rest, plugins: judged.memory };
}

function withoutFirstDue(state: ConversationState): ConversationState {
  const { duePatches: [, ...later] = [], ...rest } = state;
  return later.length === 0 ? rest : { ...rest, duePatches: later };
}

/** Adds the patches of the calls of a step that is over. */
export function withStepPatchesDue(state: ConversationState): ConversationState {
  return isSequential(state) ? state : withPatchesDue(state, stepCalls(state));
}

/** Adds the patches of ended calls, in the order of the calls, to those that take effect next. */
export function withPatchesDue(
  state: ConversationState,
  calls: readonly Pick<CallState, 'plan' | 'turnId' | 'result'>[],
): ConversationState {
  const due = calls.flatMap(({ plan: { toolCallId }, turnId, result }) =>
    (result?.patches ?? []).map((patch) => ({ ...patch, turnId, toolCallId })),
  );
  return due.length === 0 ? state : { ...state, duePatches: [...(state.duePatches ?? []), ...due] };
}
