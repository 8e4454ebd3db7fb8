/** State of an installation as an operator sees it: `GET /v1/operations`. */

/** One part of the view. A part that cannot be determined says why, and leaves the others as they are. */
export type SeenPart<Found> =
  | ({ readonly status: 'known' } & Found)
  | { readonly status: 'unavailable'; readonly reason: string };

/**
 * `up`: it gives signs of life. `silent`: none for some seconds; it was killed, or is held up. `gone`: it has stopped, or
 * was silent for more than a minute. `unknown`: it polls, and announces itself nowhere, as workers of other builds.
 */
export type WorkerState = 'up' | 'silent' | 'gone' | 'unknown';

export interface SeenWorker {
  readonly identity: string;
  readonly state: WorkerState;
  /** Absent for one that the server has not seen, or that polls another queue. */
  readonly polls: readonly ('workflow' | 'activity')[];
  /** ISO 8601; a poll of a worker that has nothing to do lasts up to a minute. Absent: the server has seen none. */
  readonly lastPollAt?: string;
  /** Name of the deployment of a versioned worker. */
  readonly deployment?: string;
  readonly buildId?: string;
  /** Absent for one that announces itself nowhere. */
  readonly agents?: readonly string[];
}

export interface SeenWorkers {
  readonly taskQueue: string;
  /** Those that are up first, 100 at most. */
  readonly workers: readonly SeenWorker[];
  readonly more: boolean;
  /** The reason for which the server's view of pollers is missing, or the store's of signs of life. */
  readonly incomplete?: string;
  /** Present when none is up. */
  readonly nextCommand?: string;
}

/** How long events took until the event log had them, for the conversations of the tenant that changed lately. */
export interface SeenLog {
  /** Conversations that changed within the last two minutes, of which the times are; 50 at most. */
  readonly conversations: number;
  /** The middle one. Milliseconds, between the clocks of the workflow and of the store. */
  readonly typicalMs?: number;
  readonly worstMs?: number;
}

/** The newest pass of the sweep: what it looked at, and what it repaired. */
export interface SeenPass {
  /** ISO 8601, by the clock of the leader; when the pass had ended. */
  readonly at: string;
  readonly tookMs: number;
  /** Conversations that were compared with Temporal. */
  readonly checked: number;
  /** Conversations whose workflow was queried, because it had moved. */
  readonly asked: number;
  /** Conversations that the store did not have, or had as closed. */
  readonly found: number;
  readonly gone: number;
  readonly endedSilently: number;
  readonly failed: number;
}

export interface SeenSweep {
  /** Identity of the worker that leads. Absent: none does now. */
  readonly leader?: string;
  /** Absent before the end of the first pass of a leader. */
  readonly lastPass?: SeenPass;
  /** Present when no worker leads. */
  readonly nextCommand?: string;
}

export interface DeadLetter {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Type of the event. */
  readonly type: string;
  /** Absent for events of no conversation. */
  readonly conversationId?: string;
  /** ISO 8601; when the event happened. */
  readonly at: string;
  readonly attempts: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly nextCommand: string;
}

/** Deliveries of the tenant's events that no sender tries again. */
export interface SeenWebhooks {
  readonly endpoints: number;
  /** 20 at most, by endpoint, newest first. */
  readonly deadLetters: readonly DeadLetter[];
  readonly more: boolean;
}

/** Calls that wait for input from outside. */
export interface SeenWaits {
  readonly conversations: number;
  readonly calls: number;
  /** There are more than were counted: the numbers are of 200 conversations, of those that end first. */
  readonly more: boolean;
}

/**
 * `failing`, `slow`: tasks of its workflow never complete. `unknown_outcome`: a run was lost, and a person must say what
 * became of it. `overdue`: the deadline of a call has passed, and no worker has ended its wait. `not_served`: no worker
 * serves its agent.
 */
export type TroubleReason = 'failing' | 'slow' | 'unknown_outcome' | 'overdue' | 'not_served';

export interface NeedsAttention {
  readonly conversationId: string;
  readonly reason: TroubleReason;
  /** ISO 8601 */
  readonly since: string;
  /** One sentence. */
  readonly text: string;
  readonly nextCommand: string;
}

export interface SeenTroubles {
  /** 20 of each reason at most. */
  readonly conversations: readonly NeedsAttention[];
  readonly more: boolean;
  /** The reason for which the server's own view is missing: these are the marks of the store. */
  readonly incomplete?: string;
}

export interface OperationsSeen {
  /** ISO 8601; when the oldest of the parts was looked at. Looks of the same seconds are shared. */
  readonly at: string;
  readonly tenant: string;
  readonly workers: SeenPart<SeenWorkers>;
  readonly sweep: SeenPart<SeenSweep>;
  readonly log: SeenPart<SeenLog>;
  readonly webhooks: SeenPart<SeenWebhooks>;
  readonly waits: SeenPart<SeenWaits>;
  readonly troubles: SeenPart<SeenTroubles>;
}

/** The answer of the API. */
export interface OperationsAnswer extends OperationsSeen {
  /** True under `colloquy dev` only: `POST /v1/operations/kill-worker` kills its worker, which is started again. */
  readonly killsWorkers: boolean;
}

export interface WorkerKilled {
  /** Process id of the worker that was killed; another one is being started. */
  readonly killedPid: number;
}
