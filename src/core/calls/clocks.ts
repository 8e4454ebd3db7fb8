/** Time limits of one call: when its waits end, when their end is announced, and how far they may be moved. Pure. */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import type { CallState, SuspendedCall } from '../state/calls.js';
import { isoOf } from '../state/time.js';
import { askTimeoutMs } from './ask.js';

/** The deadline of a wait, and whether the limit on the call's total time determines it. */
export type WaitEnd = Pick<Suspension, 'deadline' | 'limitedBy'>;

/** The end of a wait that opens now. A wait that opens again keeps its old deadline. */
export function waitEndOf(call: CallState, kind: SuspensionKind, nowMs: number): WaitEnd {
  const { approvalMs, answerMs } = call.plan.timeouts;
  const waitMs = kind === 'approval' ? approvalMs : (askTimeoutMs(call, kind) ?? answerMs);
  const own = isoOf(nowMs + finiteWaitMs(waitMs));
  return cappedEnd(call, call.reopenUntil ?? own);
}

/** The deadline, or the end of the call's total time when that comes first. */
export function cappedEnd(call: CallState, deadline: string): WaitEnd {
  const totalEnd = totalEndOf(call);
  return totalEnd === undefined || Date.parse(deadline) < totalEnd
    ? { deadline }
    : { deadline: isoOf(totalEnd), limitedBy: 'total' };
}

/** The latest deadline that an extension may set, in milliseconds since the epoch. */
export function latestEndMs(call: CallState, suspension: Suspension): number {
  const longest = Date.parse(suspension.openedAt) + MAX_WAIT_MS;
  return Math.min(longest, totalEndOf(call) ?? longest);
}

/** End of the call's total time, in milliseconds since the epoch; undefined where it is not limited. */
export function totalEndOf(call: CallState): number | undefined {
  const { totalMs } = call.plan.timeouts;
  return totalMs === undefined || call.askedAt === undefined
    ? undefined
    : Date.parse(call.askedAt) + finiteWaitMs(totalMs);
}

/** Makes every wait finite, also where a plan says otherwise or would lead to an impossible date. */
function finiteWaitMs(milliseconds: number): number {
  return Number.isFinite(milliseconds)
    ? Math.min(Math.max(0, milliseconds), MAX_WAIT_MS)
    : MAX_WAIT_MS;
}

/**
 * When the end of the open wait is to be announced; undefined when it already was, or the wait is too short for that.
 */
export function warningAt(call: SuspendedCall): string | undefined {
  const { suspension, plan, warned } = call;
  if (plan.warnBeforeMs === undefined) return undefined;
  const { deadline, openedAt } = suspension;
  const atMs = Date.parse(deadline) - finiteWaitMs(plan.warnBeforeMs);
  return warned === deadline || atMs <= Date.parse(openedAt) ? undefined : isoOf(atMs);
}

/** The plan with the time limit of one run cut to the call's remaining time. */
export function planForRun(call: CallState, nowMs: number): PlannedCall {
  const { plan } = call;
  const totalEnd = totalEndOf(call);
  if (totalEnd === undefined) return plan;
  const runMs = Math.min(plan.timeouts.runMs, Math.max(1, totalEnd - nowMs));
  return { ...plan, timeouts: { ...plan.timeouts, runMs } };
}
