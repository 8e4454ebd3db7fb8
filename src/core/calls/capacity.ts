/**
 * How much the calls that wait hold together: all of it is carried in one payload by every roll-over, for verdicts have to be right from the
 * first task of a run. Pure.
 */

import type { ToolResult } from '../../protocol/calls/results.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_WAITING_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallState, ConversationState } from '../state/state.js';

/** Calls never change, so each is measured once. */
const sizes = new WeakMap<CallState, number>();

/**
 * The result of a call that would have to wait, and finds no room; undefined when it does. One alone always does. Judged when a call comes
 * to wait, with each question that it asks, and when it is detached.
 */
export function noRoomResult(
  state: ConversationState,
  call: Pick<CallState, 'plan'> & Partial<CallState>,
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
  const error = {
    code: 'too_many_calls',
    message: TEXTS.waitingTooLarge(MAX_WAITING_BYTES),
  } as const;
  return { status: 'errored', envelope: { ok: false, error }, provenance: 'trusted' };
}

function isWaiting({ suspension, aside }: CallState): boolean {
  return suspension !== undefined || aside === 'detached';
}

/** What waits already, or opens again, holds what it held; what was approved runs where it runs; what a lost run did is to be found out. */
function isKept({ suspension, approver, reopenUntil, lost, ask }: Partial<CallState>): boolean {
  const isApproved = approver !== undefined && ask === undefined;
  return isApproved || [suspension, reopenUntil, lost].some((found) => found !== undefined);
}

function carriedBytesOf(call: CallState): number {
  const known = sizes.get(call);
  if (known !== undefined) return known;
  const bytes = bytesOf(call) + (call.suspension === undefined ? bytesOf(toBeShownOf(call)) : 0);
  sizes.set(call, bytes);
  return bytes;
}

/** What a wait will show where it is not open yet; then the call holds it twice. */
function toBeShownOf({ prepared, plan }: Pick<CallState, 'plan'> & Partial<CallState>): unknown {
  return [prepared?.payload, plan];
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
