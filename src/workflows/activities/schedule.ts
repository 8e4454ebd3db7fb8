/** Options of every activity and timer that the workflow schedules: each number with its reason. */
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

/** Summaries are bounded by the server (400 bytes) and hold no arguments: they are not encrypted by every codec. */
const MAX_SUMMARY_CHARS = 200;

export function summaryOf(text: string): string {
  return text.length <= MAX_SUMMARY_CHARS ? text : `${text.slice(0, MAX_SUMMARY_CHARS - 1)}…`;
}

/** Activities heartbeat by a timer, so a lost worker is noticed after this, whatever the length of the work. A tool may choose another time. */
const HEARTBEAT_TIMEOUT = DEFAULT_HEARTBEAT_MS satisfies Duration;
/** Slack over a tool's own run timeout, which its activity enforces itself with the better text. */
const RUN_TIMEOUT_SLACK_MS = 5_000;

/** Long enough for the slowest reasoning models; a stuck one is noticed by its stream, a lost worker by heartbeats. */
export const MODEL_CALL: ActivityOptions = {
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // Waits, so that what a cancelled call has said so far comes back.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: {
    initialInterval: '500ms',
    backoffCoefficient: 2,
    maximumInterval: '8s',
    // About 45 s of a provider's outage; lost workers count, too.
    maximumAttempts: 10,
  },
};

/** Short and read-only: checks of an answer that somebody waits for, so a lost worker is noticed sooner than elsewhere. */
export const CHECK_ANSWER: ActivityOptions = {
  startToCloseTimeout: '10s',
  heartbeatTimeout: '2s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', maximumInterval: '2s', maximumAttempts: 10 },
};

/** As above, but policies may take their time (see `POLICY_TIMEOUT_MS`). */
export const CHECK_EDIT: ActivityOptions = { ...CHECK_ANSWER, startToCloseTimeout: '30s' };

/** As above: a tool's `migrate` has a bound of its own, too. */
export const CHECK_DEFINITION: ActivityOptions = { ...CHECK_EDIT };

/** Validation and policies of one call; policies have bounds of their own. */
export const PLAN_CALL: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500ms', maximumInterval: '8s', maximumAttempts: 10 },
};

/** Nobody waits for it, so it may fail for a while: about a minute. Once it is given up, what it would say is of no use. */
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

/** Before the end of a conversation nobody waits: two tries. */
export const FLUSH_LOG: ActivityOptions = {
  startToCloseTimeout: '5s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', maximumAttempts: 2 },
};

/** Before a roll-over the next step of a turn may wait for it, and what the store lacks can be carried: one short try. */
export const FLUSH_BEFORE_ROLL_OVER: ActivityOptions = {
  startToCloseTimeout: '2s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
};

/** Beside that: the store is asked for one thing more, and what it does not take is carried as well. */
export const SPILL_TRANSCRIPT: ActivityOptions = {
  startToCloseTimeout: '3s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
};

/** Where the turn cannot go on without: there may be megabytes to be asked for. */
export const SPILL_WHATEVER_IT_TAKES: ActivityOptions = {
  ...SPILL_TRANSCRIPT,
  startToCloseTimeout: '20s',
};

/** A run that is due. */
export interface ToolRun {
  readonly plan: PlannedCall;
  /** From 1. */
  readonly run: number;
  /** When the call's time in all is over. */
  readonly endMs?: number | undefined;
  /** The task queue of the one worker that can go on with it. */
  readonly heldAt?: string | undefined;
}

type Named = Pick<PlannedCall, 'name' | 'toolCallId'>;

/** `run` counts from 1: how often the call was entered. The first has the plain id, which histories hold. */
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
    // The result of a cancelled call is recorded already: nobody waits for what the tool still does.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: '500ms',
      backoffCoefficient: 2,
      maximumInterval: '10s',
      // What runs once is asked about first, and run again by another activity.
      maximumAttempts: call.effects === 'once' ? 1 : call.maxAttempts,
    },
  };
}

/** A worker elsewhere may not heartbeat, unless the tool says that it does; ours always does. */
function heartbeatOf({ taskQueue, timeouts }: PlannedCall): ActivityOptions {
  const { heartbeatMs } = timeouts;
  if (heartbeatMs !== undefined) return { heartbeatTimeout: heartbeatMs };
  return taskQueue === undefined ? { heartbeatTimeout: HEARTBEAT_TIMEOUT } : {};
}

/** All attempts of a run: their pauses, too, end with the call's time in all. Its activity knows that, and has the better text. */
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

/** Somebody is waiting to be asked; it has no effects, so a lost worker costs another try. */
export function preflightOptions(call: PlannedCall): ActivityOptions {
  return {
    ...toolOptions(call, 1),
    activityId: preflightActivityId(call),
    summary: summaryOf(`preflight of ${call.name} (${call.toolCallId})`),
  };
}

/** Asking has no effects, so it may fail a few times: about 40 s of another service's outage. */
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
 * Options given with a call are merged *into* these, field by field: so these hold nothing but what the SDK insists on, and
 * every set above is complete in itself.
 */
export const activities = proxyActivities<ConversationActivities>({
  startToCloseTimeout: '1 minute',
});

/** What a timer is for, in the Temporal UI. */
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
