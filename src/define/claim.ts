/** What a definition says of claims: how long a call may wait for somebody to take it. Judged at definition. Runs anywhere. */
import type { CallTimeouts } from '../protocol/tools.js';
import { shown } from './problems.js';

/** The grace is a part of the wait. `given`: as its author wrote it. */
export function claimProblem(
  { claimMs, answerMs }: CallTimeouts,
  given: unknown = claimMs,
): string | undefined {
  return claimMs === undefined || claimMs <= answerMs
    ? undefined
    : `must be at most timeouts.answer (${answerMs} ms), got ${shown(given)}`;
}
