/**
 * Limits the size of all waiting calls together: every roll-over carries them in one payload, because verdicts have to
 * be right from the first task of a run. Pure.
 */

import type { ToolResult } from '../../protocol/calls/results.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_WAITING_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { errorResult } from './results.js';

/**
 * The error result of a call that would have to wait but exceeds the capacity; undefined when it fits. A single call
 * always fits. Judged when a call starts to wait, with each question that it asks, and when it is detached.
 */
export function noCapacityResult(
  state: ConversationState,
  call: CallState,
  suspension?: Suspension,
): ToolResult | undefined {
  if (isKept(call)) return undefined;
  let others = 0;
  for (const other of Object.values(state.calls))
    if (other.plan.toolCallId !== call.plan.toolCallId && isWaiting(other))
      others += carriedBytesOf(other);
  if (others === 0) return undefined;
  const shown = suspension ?? toBeShownOf(call);
  if (others + bytesOf(call) + bytesOf(shown) <= MAX_WAITING_BYTES) return undefined;
  const message = TEXTS.waitingTooLarge(MAX_WAITING_BYTES);
  return errorResult('errored', { code: 'too_many_calls', message });
}

function isWaiting({ suspension, background }: CallState): boolean {
  return suspension !== undefined || background === 'detached';
}

/**
 * Calls that already count against the limit keep their place, also when they open again. Approved calls and calls of
 * unknown outcome are never rejected for capacity.
 */
function isKept({ suspension, approver, reopenUntil, lost, ask }: CallState): boolean {
  const isApproved = approver !== undefined && ask === undefined;
  return isApproved || [suspension, reopenUntil, lost].some((found) => found !== undefined);
}

function carriedBytesOf(call: CallState): number {
  return bytesOf(call) + (call.suspension === undefined ? bytesOf(toBeShownOf(call)) : 0);
}

/** The content of a suspension that is not open yet; once open, the call holds this content twice. */
function toBeShownOf({ prepared, plan }: CallState): unknown {
  return [prepared?.payload, plan];
}

export function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
