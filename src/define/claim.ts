/** What a definition says of claims: how long a call may wait for somebody to take it. Judged at definition. Runs anywhere. */
import { isRecord } from '../protocol/json.js';
import { DEFAULT_CLAIM_GRACE_MS } from '../protocol/limits.js';
import type { CallTimeouts, Executor, ToolMode } from '../protocol/tools.js';
import { durationMs } from './durations.js';
import type { Untyped } from './legal.js';
import { type ProblemList, shown } from './problems.js';

/** A front end that is there takes a call at once; a detached call may wait for one to come back. */
export function claimGraceOf(
  given: unknown,
  of: { readonly executor: Executor; readonly mode: ToolMode; readonly answerMs: number },
): Pick<CallTimeouts, 'claimMs'> {
  const { executor, mode, answerMs } = of;
  const claimMs = durationMs(given);
  if (claimMs !== undefined) return { claimMs };
  if (executor !== 'client' || mode === 'detach') return {};
  return { claimMs: Math.min(DEFAULT_CLAIM_GRACE_MS, answerMs) };
}

/** The grace is a part of the wait. */
export function checkClaim(
  { timeouts }: Untyped,
  { claimMs, answerMs }: CallTimeouts,
  problems: ProblemList,
): void {
  if (claimMs === undefined || claimMs <= answerMs) return;
  problems.add(
    'timeouts.claim',
    `must be at most timeouts.answer (${answerMs} ms), got ${shown(isRecord(timeouts) ? timeouts['claim'] : undefined)}`,
  );
}
