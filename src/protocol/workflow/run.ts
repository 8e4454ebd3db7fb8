/** The run of a conversation in Temporal, as operators see it. */

export interface ConversationRun {
  readonly workflowId: string;
  readonly namespace: string;
  /**
   * The newest run. Absent, like the next fields, with status `gone`: Temporal has none any more, and the log is what
   * is left.
   */
  readonly runId?: string;
  /** The status in Temporal, in lower case, such as `running` and `completed`. */
  readonly status: string;
  /** Counted for this run alone: a roll-over begins a new history. */
  readonly historyEvents?: number;
  readonly historyBytes?: number;
  /** ISO 8601 */
  readonly startedAt?: string;
  readonly closedAt?: string;
}
