/** How long what is over is kept: a setting of workers, carried out by the one that leads the sweep. */
import { type Duration, durationMs, durationProblem } from '../define/checks/durations.js';
import { MIN_RETENTION_MS } from '../protocol/limits/service-limits.js';

export interface RetentionOptions {
  /** Conversations that were closed longer ago are deleted: `'30 days'`, or milliseconds; at least a minute. */
  readonly closedAfter: Duration;
}

const BOUNDS = { minMs: MIN_RETENTION_MS, maxMs: Number.MAX_SAFE_INTEGER };

/** Milliseconds; undefined = for ever. @throws {TypeError} naming the field and what it must be. */
export function retentionMs(retention: RetentionOptions | undefined): number | undefined {
  if (retention === undefined) return undefined;
  const problem = durationProblem(retention.closedAfter, BOUNDS);
  if (problem !== undefined) throw new TypeError(`retention.closedAfter ${problem}`);
  return durationMs(retention.closedAfter);
}
