/** Whether a call needs its preflight, and whether an edit fits what the preflight prepared. Pure. */
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { CallState } from '../state/state.js';

/** True until the payload is there. */
export function needsPreflight(call: Pick<CallState, 'plan' | 'prepared'>): boolean {
  const { plan, prepared } = call;
  return plan.preflight === true && plan.error === undefined && prepared === undefined;
}

/** The payload was made from the input, so an edit of either would part what is approved from what is executed. */
export function preparedEditProblems(
  call: CallState,
  resolution: { readonly type: string; readonly input?: unknown },
): readonly FieldProblem[] {
  return resolution.type === 'approve' && resolution.input !== undefined && call.plan.preflight
    ? [{ path: '/resolution/input', message: 'cannot be edited: the tool has shaped the request' }]
    : [];
}
