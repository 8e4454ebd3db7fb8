/** How long closed conversations are kept: a setting of workers, carried out by the worker that leads the sweep. */

import { MIN_RETENTION_MS } from '../protocol/limits/service-limits.js';
import { type Duration, durationMs, durationProblem } from '../protocol/values/durations.js';

export interface RetentionOptions {
  /** Conversations that were closed longer ago are deleted: `'30 days'`, or milliseconds; at least a minute. */
  readonly closedAfter: Duration;
}

const BOUNDS = { minMs: MIN_RETENTION_MS, maxMs: Number.MAX_SAFE_INTEGER };

/** Returns milliseconds; undefined = forever. @throws {TypeError} that names the field and the rule. */
export function retentionMs(retention: RetentionOptions | undefined): number | undefined {
  if (retention === undefined) return undefined;
  const problem = durationProblem(retention.closedAfter, BOUNDS);
  if (problem !== undefined) throw new TypeError(`retention.closedAfter ${problem}`);
  return durationMs(retention.closedAfter);
}
