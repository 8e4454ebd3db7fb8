/** Whether a call needs its preflight, and whether an edit fits the prepared payload. Pure. */
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { CallState } from '../state/calls.js';

/** True until the preflight has made the payload. */
export function needsPreflight(call: Pick<CallState, 'plan' | 'prepared'>): boolean {
  const { plan, prepared } = call;
  return plan.preflight === true && plan.error === undefined && prepared === undefined;
}

/**
 * Refuses edits of a prepared call. The payload was made from the input: after an edit of either, the approved request
 * would differ from the executed one.
 */
export function preparedEditProblems(
  call: CallState,
  resolution: { readonly type: string; readonly input?: unknown },
): readonly FieldProblem[] {
  return resolution.type === 'approve' && resolution.input !== undefined && call.plan.preflight
    ? [{ path: '/resolution/input', message: 'cannot be edited: the tool has shaped the request' }]
    : [];
}
