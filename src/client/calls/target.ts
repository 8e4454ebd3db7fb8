/** The call that a target names: its ref, its parts, or the pending call itself. */
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { type CallRef, idProblem, parseRef } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { ResolveTarget } from '../api/call-types.js';

const REF_RULE =
  'is no ref of a call: it is the `ref` of a pending call, such as default~order-42~call_1';

/** The target names no call that could exist. Its text is the sender's mistake, not a call that is gone. */
export interface NoCall {
  readonly verdict: 'invalid';
  readonly problems: readonly FieldProblem[];
}

export function isNoCall(found: CallRef | NoCall): found is NoCall {
  return 'verdict' in found;
}

/** Never throws: callers without types may pass anything. */
export function callOf(target: ResolveTarget, tenant: string): CallRef | NoCall {
  const whole: unknown = target;
  const given = isRecord(whole) && 'ref' in whole ? whole['ref'] : whole;
  if (typeof given === 'string') return parseRef(given) ?? noCall('/ref', REF_RULE);
  if (!isRecord(given)) return noCall('/ref', REF_RULE);
  const ref = { ...given, ...(given['tenant'] === undefined ? { tenant } : {}) } as CallRef;
  const inTenant = idProblem('tenant', ref.tenant);
  if (inTenant !== undefined) return noCall('/tenant', inTenant);
  const inId = idProblem('conversationId', ref.conversationId);
  if (inId !== undefined) return noCall('/conversationId', inId);
  const isNamed = typeof ref.toolCallId === 'string' && ref.toolCallId !== '';
  return isNamed ? ref : noCall('/toolCallId', 'must be a non-empty string');
}

function noCall(path: string, message: string): NoCall {
  return { verdict: 'invalid', problems: [{ path, message }] };
}
