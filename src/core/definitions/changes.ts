/**
 * Calls whose tool has changed since they were planned. Pure.
 *
 * D1  A call that waited for its approval is judged by the present definition of its tool before it is offered to anybody, or
 *     before its arguments become its result. A server call is judged by the worker that is about to run it for the first time.
 * D2  Never once a run of it has begun or it was offered: what was shown, and what may have taken effect, stays as it is.
 * D3  A call that was carried over has a new input under a new digest. Where it is gated, it is approved anew, by a person, and
 *     an approval has to name the digest.
 */
import type {
  DefinitionChanged,
  InputMigrated,
  MigratedCall,
  ToolChanged,
} from '../../protocol/definitions/changes.js';
import { isRecord } from '../../protocol/json.js';
import type { FieldProblem } from '../../protocol/resolutions.js';
import type { Suspension } from '../../protocol/suspensions.js';
import type { ApprovalPlan, PlannedCall, ToolErrorCode, ToolResult } from '../../protocol/tools.js';
import { type Stamped, withCall } from '../fold.js';
import type { CallState, ConversationState } from '../state.js';

/** Of calls that no run of ours begins: their first run is their offer. */
export function isToBeChecked(call: CallState): boolean {
  const { plan, gateWaited, answer, reopenUntil } = call;
  const isOffered = answer !== undefined || reopenUntil !== undefined;
  return plan.definition !== undefined && gateWaited === true && !isOffered;
}

/** Whether a worker has said so in a form that can be recorded; workers in any language do. */
export function isToolChanged(outcome: object): outcome is ToolChanged {
  const { changed } = outcome as { readonly changed?: unknown };
  return isRecord(changed) && typeof changed['definition'] === 'string';
}

/** None where there is nothing to compare with. */
export function changedEvent(
  { plan, turnId, approver }: CallState,
  definition: string,
): readonly DefinitionChanged[] {
  const { toolCallId, name, definition: from } = plan;
  if (from === undefined) return [];
  const by = approver === undefined ? {} : { approver };
  return [{ type: 'definition_changed', turnId, toolCallId, name, from, definition, ...by }];
}

export function definitionChanged(
  state: ConversationState,
  { toolCallId, definition }: Stamped<DefinitionChanged>,
): ConversationState {
  return withCall(state, toolCallId, (call) => ({
    ...call,
    ...(definition === undefined ? {} : { changed: { definition } }),
  }));
}

export function migratedEvent(call: CallState, migrated: MigratedCall): InputMigrated {
  const { plan, turnId, aside } = call;
  const { toolCallId, name, executor, definition: from = '' } = plan;
  return {
    type: 'input_migrated',
    ...{ turnId, toolCallId, name, executor, from },
    ...migrated,
    approval: stricter(plan.approval, migrated.approval),
    ...(plan.preflight === true ? { preflight: true } : {}),
    ...(aside === 'detached' ? { detached: true as const } : {}),
  };
}

/** What a person had to agree to, a person agrees to again, whatever the policies say of the new input. */
function stricter(before: ApprovalPlan, now: ApprovalPlan): ApprovalPlan {
  return before.needed && !now.needed ? before : now;
}

export function inputMigrated(
  state: ConversationState,
  event: Stamped<InputMigrated>,
): ConversationState {
  const { toolCallId, seq } = event;
  // The approval of before is void: whoever repeats it is told what waits now.
  const requests = state.requests.filter(
    (known) => known.operation !== 'resolution' || known.reply.toolCallId !== toolCallId,
  );
  return withCall({ ...state, requests }, toolCallId, (call) => {
    const { changed: _judged, approver: _before, prepared: _old, edit: _done, ...rest } = call;
    const { resolvedBy: _by, resolvedAt: _at, gateWaited: _waited, ...open } = rest;
    return { ...open, plan: planWith(call.plan, event), since: seq, revised: true };
  });
}

function planWith(plan: PlannedCall, event: InputMigrated): PlannedCall {
  const { raw: _old, answerAudience: _before, ...rest } = plan;
  const { input, raw, argsDigest, definition, approval, answerAudience } = event;
  return {
    ...rest,
    ...{ input, argsDigest, definition, approval },
    ...(raw === undefined ? {} : { raw }),
    ...(answerAudience === undefined ? {} : { answerAudience }),
  };
}

/** Why an approval may be meant for what the call was before. */
export function revisedDigestProblems(
  { revised }: Suspension,
  argsDigest: unknown,
): readonly FieldProblem[] {
  if (revised !== true || argsDigest !== undefined) return [];
  const message =
    'must be given: the tool was changed and the call carried over, and without the digest of the pending one the approval may be meant for what it was before';
  return [{ path: '/argsDigest', message }];
}

/** What of an error whoever answers later is told: that it was no answer that ended the call. */
export function endingCode({ envelope }: ToolResult): { readonly code?: ToolErrorCode } {
  const told: readonly ToolErrorCode[] = ['definition_changed', 'not_available'];
  return !envelope.ok && told.includes(envelope.error.code) ? { code: envelope.error.code } : {};
}
