/** Numbers of waiting calls and of conversations in trouble: part of the event log port, for metrics. */
import type { SuspensionKind } from '../../../protocol/calls/suspensions.js';

/** The calls of one kind that wait now, over all tenants. */
export interface WaitCounts {
  readonly kind: SuspensionKind;
  readonly open: number;
  /** Those whose deadline has passed: no worker has ended their wait yet. */
  readonly overdue: number;
  /** When the one that waits longest began to, by the clock of its workflow; milliseconds since 1970. */
  readonly oldestOpenedAtMs: number;
}

export interface LogCounts {
  /** A kind of which no call waits is absent. */
  readonly waits: readonly WaitCounts[];
  /** Open conversations whose workflow tasks fail, by marks that hold. */
  readonly failing: number;
  /** Open conversations whose workflow tasks only time out, by marks that hold. */
  readonly slow: number;
}

export interface LogStatistics {
  /** Reads every waiting call along one index, so callers keep the result for some seconds. */
  counts(): Promise<LogCounts>;
}
