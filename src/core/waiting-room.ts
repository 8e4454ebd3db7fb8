/**
 * How much the calls that wait hold together: all of it is carried in one payload by every roll-over, for verdicts have to be right from the
 * first task of a run. Pure.
 */
import { type Json, utf8Bytes } from '../protocol/json.js';
import { MAX_WAITING_BYTES } from '../protocol/limits.js';
import type { Suspension } from '../protocol/suspensions.js';
import { TEXTS } from '../protocol/texts.js';
import type { ToolResult } from '../protocol/tools.js';
import { isSince } from './revision.js';
import type { CallState, ConversationState } from './state.js';

/** Calls never change, so each is measured once. */
const sizes = new WeakMap<CallState, number>();

/**
 * The result of a call that would have to wait, and finds no room; undefined when it does. One alone always does, and so does one that has
 * waited before.
 */
export function noRoomResult(
  state: ConversationState,
  call: Pick<CallState, 'plan'> & Partial<CallState>,
  suspension?: Suspension,
): ToolResult | undefined {
  if (!isSince(state, 7) || hasWaited(call)) return undefined;
  let others = 0;
  for (const other of Object.values(state.calls))
    if (other.plan.toolCallId !== call.plan.toolCallId && isWaiting(other))
      others += carriedBytesOf(other);
  if (others === 0) return undefined;
  const shown = suspension ?? promptOf(call);
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

function hasWaited(call: Partial<CallState>): boolean {
  const { suspension, aside, approver, reopenUntil, lost, ask } = call;
  const isAskedAgain = ask !== undefined && ask.ordinal > 1;
  return (
    suspension !== undefined ||
    aside !== undefined ||
    approver !== undefined ||
    reopenUntil !== undefined ||
    lost !== undefined ||
    isAskedAgain
  );
}

function carriedBytesOf(call: CallState): number {
  const known = sizes.get(call);
  if (known !== undefined) return known;
  const bytes = bytesOf(call) + (call.suspension === undefined ? bytesOf(promptOf(call)) : 0);
  sizes.set(call, bytes);
  return bytes;
}

/** What will be shown where it is not shown yet: it is in the call twice then. */
function promptOf({ prepared, plan }: Pick<CallState, 'plan'> & Partial<CallState>): Json {
  return prepared?.payload ?? plan.input ?? null;
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
