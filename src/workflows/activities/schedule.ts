/** Options of every activity and timer that the workflow schedules, each number with its reason. */
import type { Duration } from '@temporalio/common';
import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
} from '@temporalio/workflow';
import type { TimerEffect } from '../../core/decide/effects.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import {
  DEFAULT_HEARTBEAT_MS,
  FOREIGN_QUEUE_TIMEOUT_MS,
  HELD_QUEUE_TIMEOUT_MS,
} from '../../protocol/limits/limits.js';
import type { ConversationActivities } from '../../protocol/workflow/activities.js';

/** The server bounds summaries to 400 bytes. Summaries hold no arguments, because not every codec encrypts them. */
const MAX_SUMMARY_CHARS = 200;

export function summaryOf(text: string): string {
  return text.length <= MAX_SUMMARY_CHARS ? text : `${text.slice(0, MAX_SUMMARY_CHARS - 1)}…`;
}

/**
 * Time after which a lost worker is noticed. Activities heartbeat by a timer, so the length of the work does not
 * matter. A tool may set its own.
 */
const HEARTBEAT_TIMEOUT = DEFAULT_HEARTBEAT_MS satisfies Duration;
/** Slack over a tool's own run timeout: the activity enforces that timeout itself, with a better message. */
const RUN_TIMEOUT_SLACK_MS = 5_000;

/** Long enough for the slowest reasoning models. The stream watch notices a stuck model, heartbeats a lost worker. */
export const MODEL_CALL: ActivityOptions = {
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // The workflow waits for the activity to end, so that the partial output of a cancelled call comes back.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: {
    initialInterval: '500ms',
    backoffCoefficient: 2,
    maximumInterval: '8s',
    // Covers about 45 s of a provider's outage; attempts of lost workers count as well.
    maximumAttempts: 10,
  },
};

/**
 * Short, read-only checks of an answer. The caller waits for the verdict, so a lost worker is noticed sooner than
 * elsewhere.
 */
export const CHECK_ANSWER: ActivityOptions = {
  startToCloseTimeout: '10s',
  heartbeatTimeout: '2s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', maximumInterval: '2s', maximumAttempts: 10 },
};

/** Like `CHECK_ANSWER`, with more time for policies (see `POLICY_TIMEOUT_MS`). */
export const CHECK_EDIT: ActivityOptions = { ...CHECK_ANSWER, startToCloseTimeout: '30s' };

/** Like `CHECK_EDIT`; a tool's `migrate` is bounded as well. */
export const CHECK_DEFINITION: ActivityOptions = { ...CHECK_EDIT };

/** Options for validation and policies of one call; policies have their own time limits. */
export const PLAN_CALL: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500ms', maximumInterval: '8s', maximumAttempts: 10 },
};

/** Nothing waits for a summary, so its attempts may fail for about a minute. After that, its result is of no use. */
export const SUMMARIZE: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 3,
    maximumInterval: '30s',
    maximumAttempts: 5,
  },
};

/** Two tries before the end of a conversation: nothing waits for this activity. */
export const FLUSH_LOG: ActivityOptions = {
  startToCloseTimeout: '5s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', maximumAttempts: 2 },
};

/**
 * One short try before a roll-over: the next step of a turn may wait for it, and events that the store lacks are
 * carried over.
 */
export const FLUSH_BEFORE_ROLL_OVER: ActivityOptions = {
  startToCloseTimeout: '2s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
};

/**
 * One short try beside `FLUSH_BEFORE_ROLL_OVER`: the store gets one more request, and messages that it does not take
 * are carried over.
 */
export const OFFLOAD_TRANSCRIPT: ActivityOptions = {
  startToCloseTimeout: '3s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
};

/**
 * The callers of a reopened conversation wait for it, so a store that is down is reported after about a second and a
 * half. A lost worker is noticed late enough for a page of the log and for the state, whose folds let no heartbeat
 * through.
 */
export const RESTORE_STATE_OPTIONS: ActivityOptions = {
  summary: 'state of the closed conversation',
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumAttempts: 4 },
};

/** Used when the turn cannot continue without offloading: the request may hold megabytes. */
export const OFFLOAD_UNLIMITED_RETRIES: ActivityOptions = {
  ...OFFLOAD_TRANSCRIPT,
  startToCloseTimeout: '20s',
};

/** A run of a tool that is due. */
export interface ToolRun {
  readonly plan: PlannedCall;
  /** Number of the run, from 1. */
  readonly run: number;
  /** When the total time of the call ends, in milliseconds since the epoch. */
  readonly endMs?: number | undefined;
  /** The task queue of the one worker that holds this call open and can continue it. */
  readonly heldAt?: string | undefined;
}

type Named = Pick<PlannedCall, 'name' | 'toolCallId'>;

/** `run` is the number of the run, from 1. The first run has the plain id, which kept histories contain. */
export function toolActivityId({ name, toolCallId }: Named, run: number): string {
  return `tool:${name}:${toolCallId}${run > 1 ? `:${run}` : ''}`;
}

export function preflightActivityId({ name, toolCallId }: Named): string {
  return `preflight:${name}:${toolCallId}`;
}

export function reconcileActivityId({ name, toolCallId }: Named, run: number): string {
  return `reconcile:${name}:${toolCallId}:${run}`;
}

export function toolOptions(call: PlannedCall, run: number): ActivityOptions {
  return {
    activityId: toolActivityId(call, run),
    summary: summaryOf(`tool ${call.name} (${call.toolCallId})`),
    startToCloseTimeout: call.timeouts.runMs + RUN_TIMEOUT_SLACK_MS,
    ...heartbeatOf(call),
    ...(call.taskQueue === undefined
      ? {}
      : { taskQueue: call.taskQueue, scheduleToStartTimeout: FOREIGN_QUEUE_TIMEOUT_MS }),
    // The result of a cancelled call is already recorded, so the workflow does not wait for the tool to stop.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: '500ms',
      backoffCoefficient: 2,
      maximumInterval: '10s',
      // A tool with effects `once` is reconciled first; a second run is another activity.
      maximumAttempts: call.effects === 'once' ? 1 : call.maxAttempts,
    },
  };
}

/**
 * A worker of another service may not heartbeat unless the tool sets `heartbeatMs`; workers of the engine always do.
 */
function heartbeatOf({ taskQueue, timeouts }: PlannedCall): ActivityOptions {
  const { heartbeatMs } = timeouts;
  if (heartbeatMs !== undefined) return { heartbeatTimeout: heartbeatMs };
  return taskQueue === undefined ? { heartbeatTimeout: HEARTBEAT_TIMEOUT } : {};
}

/**
 * Bounds all attempts of a run and the pauses between them by the total time of the call. The activity knows this limit
 * and reports it with a better message.
 */
export function runOptions({ plan, run, endMs, heldAt }: ToolRun): ActivityOptions {
  const options = {
    ...toolOptions(plan, run),
    ...(heldAt === undefined
      ? {}
      : { taskQueue: heldAt, scheduleToStartTimeout: HELD_QUEUE_TIMEOUT_MS }),
  };
  if (endMs === undefined) return options;
  const leftMs = Math.max(1, endMs - Date.now());
  return { ...options, scheduleToCloseTimeout: leftMs + RUN_TIMEOUT_SLACK_MS };
}

/**
 * Options of a preflight. The client is asked only after it. It has no effects, so a lost worker costs only another
 * attempt.
 */
export function preflightOptions(call: PlannedCall): ActivityOptions {
  return {
    ...toolOptions(call, 1),
    activityId: preflightActivityId(call),
    summary: summaryOf(`preflight of ${call.name} (${call.toolCallId})`),
  };
}

/** Reconciling has no effects, so it may fail a few times: about 40 s of another service's outage. */
export function reconcileOptions(call: PlannedCall, run: number): ActivityOptions {
  return {
    ...toolOptions(call, run),
    activityId: reconcileActivityId(call, run),
    summary: summaryOf(`what became of ${call.name} (${call.toolCallId})`),
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 3,
      maximumInterval: '30s',
      maximumAttempts: 5,
    },
  };
}

/**
 * Options given with a call are merged into these, field by field. So these hold only what the SDK requires, and every
 * set above is complete in itself.
 */
export const activities = proxyActivities<ConversationActivities>({
  startToCloseTimeout: '1 minute',
});

/** Returns the purpose of a timer for the Temporal UI. */
export function timerText(effect: TimerEffect): string {
  switch (effect.type) {
    case 'await_deadline':
      return `${effect.kind} ${effect.name}`;
    case 'await_warning':
      return `warning of ${effect.kind} ${effect.name}`;
    case 'await_claim':
      return `claim of ${effect.name}`;
    case 'await_turn_limit':
      return 'time of the turn';
  }
}
