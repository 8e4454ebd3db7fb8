/** The way in which a tool's code requests another attempt. Runs anywhere. */
import { MAX_TOOL_RETRY_AFTER_MS } from '../../protocol/limits/service-limits.js';
import { type Duration, durationMs, durationProblem } from '../../protocol/values/durations.js';

/**
 * Thrown by a tool's `run` to be run again. The call runs again after `after`, with the next `ctx.attempt` and the same
 * idempotency key, until its `maxAttempts` are used up, or the pause would outlast `timeouts.total`; then `message` is
 * its result, word for word. A lost worker uses up attempts, too. Any other error is a result at once.
 *
 * A tool whose effects are `'once'` is not run again: there the message is the result at once.
 */
export class ToolRetry extends Error {
  readonly code = 'tool_retry';
  /** Least pause in milliseconds, at most 24 hours. Absent: the engine's own growing pause. */
  readonly afterMs?: number;

  /** @throws {RangeError} when `after` is no duration; thrown inside `run`, that error is the call's result. */
  constructor(options: { readonly after?: Duration; readonly message: string }) {
    super(options.message);
    this.name = 'ToolRetry';
    const { after } = options;
    if (after === undefined) return;
    const problem = durationProblem(after, { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER });
    if (problem !== undefined) throw new RangeError(`ToolRetry: after ${problem}`);
    // Services ask for any pause (`Retry-After: 86400000`): one that exceeds the bound is shortened, not refused.
    this.afterMs = Math.min(durationMs(after) ?? 0, MAX_TOOL_RETRY_AFTER_MS);
  }
}

/** True also for instances of another copy of this package. */
export function isToolRetry(value: unknown): value is ToolRetry {
  return (
    value instanceof ToolRetry ||
    (value instanceof Error &&
      value.name === 'ToolRetry' &&
      'code' in value &&
      value.code === 'tool_retry')
  );
}
