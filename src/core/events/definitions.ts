/**
 * Events of calls whose tool has changed since they were planned. Pure.
 *
 * D1  A call that waited for its approval is judged by the present definition of its tool before it is offered, or
 *     before its arguments become its result. A server call is judged by the worker that is about to run it for the
 *     first time.
 * D2  A call is never judged again once a run of it has begun or it was offered.
 * D3  A call that was carried over has a new input under a new digest. Where it needs approval, it is approved anew, by
 *     a person, and the approval has to name the digest.
 */

import type {
  CheckDefinitionResult,
  DefinitionChanged,
  InputMigrated,
  MigratedCall,
} from '../../protocol/calls/definitions.js';
import type { ApprovalPlan } from '../../protocol/calls/plan.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import { lossError } from '../calls/definitions.js';
import type { Loss } from '../calls/results.js';
import { errorResult } from '../calls/results.js';
import { decideOffer, plannedErrorResult } from '../decide/decide.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { internalEvents, isInternal } from './internal.js';
import { resultEvent } from './results.js';

/** Empty where the plan has no definition to compare with. */
export function changedEvent(
  { plan, turnId, approver }: CallState,
  definition: string,
): readonly DefinitionChanged[] {
  const { toolCallId, name, definition: from } = plan;
  if (from === undefined) return [];
  const by = approver === undefined ? {} : { approver };
  return [{ type: 'definition_changed', turnId, toolCallId, name, from, definition, ...by }];
}

function migratedEvent(call: CallState, migrated: MigratedCall): InputMigrated {
  const { plan, turnId, background } = call;
  const { toolCallId, name, executor, definition: from = '' } = plan;
  return {
    type: 'input_migrated',
    ...{ turnId, toolCallId, name, executor, from },
    ...migrated,
    approval: stricter(plan.approval, migrated.approval),
    ...(plan.preflight === true ? { preflight: true } : {}),
    ...(background === 'detached' ? { detached: true as const } : {}),
  };
}

/**
 * Keeps the approval of a call that a person had to approve: a person approves it again, even if the policies would not
 * ask for the new input.
 */
function stricter(before: ApprovalPlan, now: ApprovalPlan): ApprovalPlan {
  return before.needed && !now.needed ? before : now;
}

/** `nowMs`: the opening time of a suspension that follows. */
export function definitionCheckedEvents(
  state: ConversationState,
  call: CallState,
  { outcome, nowMs }: { readonly outcome: CheckDefinitionResult; readonly nowMs: number },
): readonly EventBody[] {
  const isKnown = call.changed !== undefined;
  switch (outcome.outcome) {
    case 'same':
      return isKnown ? [severalDefinitions(call)] : offerEvents(state, call, nowMs);
    case 'migrated':
      return [
        ...(isKnown ? [] : changedEvent(call, outcome.definition)),
        migratedEvent(call, outcome.call),
      ];
    case 'ended': {
      const { definition, error } = outcome;
      const changed = isKnown || definition === undefined ? [] : changedEvent(call, definition);
      return [...changed, resultEvent(call, plannedErrorResult(error))];
    }
  }
}

function offerEvents(
  state: ConversationState,
  call: CallState,
  nowMs: number,
): readonly EventBody[] {
  return decideOffer(call)
    .filter(isInternal)
    .flatMap((effect) => internalEvents(state, effect, { nowMs }));
}

/** One worker refused a run because of a change, and another reports no change: neither can be relied upon. */
function severalDefinitions(call: CallState): EventBody {
  const { name } = call.plan;
  const problem = 'workers with different definitions of it run side by side';
  const message = TEXTS.definitionChanged(name, problem);
  return resultEvent(call, errorResult('errored', { code: 'definition_changed', message }));
}

/** No worker could check the definition: the call is neither run nor offered unchecked. */
export function definitionNotCheckedEvents(call: CallState, loss: Loss): readonly EventBody[] {
  return [resultEvent(call, errorResult('errored', lossError(call.plan.name, loss)))];
}
