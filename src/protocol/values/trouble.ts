/**
 * Trouble of a run: its workflow tasks fail or time out again and again. The workflow cannot know of it, so it is no
 * event of the log: it is read from Temporal, and the store keeps it as a mark beside the projected state.
 */

/** `failing`: workflow tasks failed, as they do after a bad deploy. `slow`: tasks only ran out of time. */
export const TROUBLE_KINDS = ['failing', 'slow'] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  /** The run whose tasks do not complete. */
  readonly runId: string;
  /** Attempts that have failed or timed out since a task of the run was last completed. */
  readonly attempts: number;
  /** ISO 8601; when the first of these attempts failed, or its task was scheduled. */
  readonly since: string;
  /** First line of the newest failure in history; absent where tasks only timed out. */
  readonly error?: string;
}

/**
 * More consecutive failed attempts at a task than these are trouble. One or two follow from a deploy or a killed
 * worker, and pass.
 */
export const PASSING_TASK_ATTEMPTS = 3;

/** Error messages are cut to this, since they appear in lists and logs. */
const MAX_ERROR_CHARS = 300;

export function firstLineOf(message: string): string {
  const [line = ''] = message.trimStart().split('\n', 1);
  return line.length <= MAX_ERROR_CHARS ? line : `${line.slice(0, MAX_ERROR_CHARS - 1)}…`;
}

/** Why an input was left as a signal; given beside the verdict `queued`. */
export type QueuedReason = 'workflow_failing' | 'no_worker' | 'workers_busy';
