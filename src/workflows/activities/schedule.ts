/** Options of every activity and timer that the workflow schedules, each number with its reason. */
import type { Duration } from '@temporalio/common';
import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
} from '@temporalio/workflow';
import { planForRun, totalEndOf } from '../../core/calls/clocks.js';
import type { EffectOf, TimerEffect } from '../../core/decide/effects.js';
import type { CallState } from '../../core/state/calls.js';
import { type ConversationState, callOf } from '../../core/state/state.js';
import { activityIdOf } from '../../core/work/effects.js';
import type { WorkType } from '../../core/work/row.js';
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
const CHECK_ANSWER: ActivityOptions = {
  startToCloseTimeout: '10s',
  heartbeatTimeout: '2s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', maximumInterval: '2s', maximumAttempts: 10 },
};

/** Like `CHECK_ANSWER`, with more time for policies (see `POLICY_TIMEOUT_MS`). */
const CHECK_EDIT: ActivityOptions = { ...CHECK_ANSWER, startToCloseTimeout: '30s' };

/** Like `CHECK_EDIT`; a tool's `migrate` is bounded as well. */
const CHECK_DEFINITION: ActivityOptions = { ...CHECK_EDIT };

/** Options for validation and policies of one call; policies have their own time limits. */
const PLAN_CALL: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500ms', maximumInterval: '8s', maximumAttempts: 10 },
};

/** Nothing waits for a summary, so its attempts may fail for about a minute. After that, its result is of no use. */
const SUMMARIZE: ActivityOptions = {
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
  summary: 'state of the closed conversation, or of the origin of a fork',
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumAttempts: 4 },
};

/** Used when the turn cannot continue without offloading: the request may hold megabytes. */
export const OFFLOAD_NEEDED: ActivityOptions = {
  ...OFFLOAD_TRANSCRIPT,
  startToCloseTimeout: '20s',
};

/** Options of all that runs code of a tool. */
export function toolOptions({
  timeouts,
  taskQueue,
  effects,
  maxAttempts,
}: PlannedCall): ActivityOptions {
  return {
    startToCloseTimeout: timeouts.runMs + RUN_TIMEOUT_SLACK_MS,
    ...heartbeatOf(timeouts, taskQueue),
    ...(taskQueue === undefined
      ? {}
      : { taskQueue, scheduleToStartTimeout: FOREIGN_QUEUE_TIMEOUT_MS }),
    // The result of a cancelled call is already recorded, so the workflow does not wait for the tool to stop.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: '500ms',
      backoffCoefficient: 2,
      maximumInterval: '10s',
      // A tool with effects `once` is reconciled first; a second run is another activity.
      maximumAttempts: effects === 'once' ? 1 : maxAttempts,
    },
  };
}

/**
 * A worker of another service may not heartbeat unless the tool sets `heartbeatMs`; workers of the engine always do.
 */
function heartbeatOf(
  { heartbeatMs }: PlannedCall['timeouts'],
  taskQueue: string | undefined,
): ActivityOptions {
  if (heartbeatMs !== undefined) return { heartbeatTimeout: heartbeatMs };
  return taskQueue === undefined ? { heartbeatTimeout: HEARTBEAT_TIMEOUT } : {};
}

/**
 * Bounds all attempts of a run and the pauses between them by the total time of the call. The activity knows this limit
 * and reports it with a better message.
 */
function runOptions(call: CallState): ActivityOptions {
  const endMs = totalEndOf(call);
  const heldAt = call.ask?.question.heldAt;
  return {
    ...toolOptions(planForRun(call, Date.now())),
    // The task queue of the one worker that holds this call open and can continue it.
    ...(heldAt === undefined
      ? {}
      : { taskQueue: heldAt, scheduleToStartTimeout: HELD_QUEUE_TIMEOUT_MS }),
    ...(endMs === undefined
      ? {}
      : { scheduleToCloseTimeout: Math.max(1, endMs - Date.now()) + RUN_TIMEOUT_SLACK_MS }),
  };
}

/** Reconciling has no effects, so it may fail a few times: about 40 s of another service's outage. */
function reconcileOptions({ plan }: CallState): ActivityOptions {
  return {
    ...toolOptions(plan),
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 3,
      maximumInterval: '30s',
      maximumAttempts: 5,
    },
  };
}

/** About two minutes of a server that is away, or of workers that do not have the sub-agent yet. */
const START_CHILD: ActivityOptions = {
  startToCloseTimeout: '20s',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500ms', maximumInterval: '20s', maximumAttempts: 12 },
};

/** About half an hour of a server that is away: a sub-agent that is not stopped goes on spending. */
const STOP_CHILD: ActivityOptions = {
  ...START_CHILD,
  retry: { initialInterval: '500ms', maximumInterval: '30s', maximumAttempts: 60 },
};

/**
 * The last duties of a conversation that closes towards its parent and its sub-agents: half a day of an outage. A parent
 * that gets no report waits until the deadline of its call.
 */
export const AT_THE_END: ActivityOptions = {
  ...START_CHILD,
  scheduleToCloseTimeout: '12 hours',
  retry: { initialInterval: '500ms', maximumInterval: '1 minute' },
};

interface Schedule<Type extends WorkType> {
  /** The purpose for the Temporal UI. `named`: the call of the effect, or else the model. */
  readonly summary: (effect: EffectOf<Type>, named: string) => string;
  readonly options: ActivityOptions | ((call: CallState) => ActivityOptions);
}

/** How the activity of each effect is scheduled. Its id is in the row of the effect (`core/work/effects.ts`). */
const SCHEDULE: { readonly [Type in WorkType]: Schedule<Type> } = {
  call_model: {
    summary: ({ step }, model) => `model ${model} step ${step}`,
    options: MODEL_CALL,
  },
  summarize: {
    summary: ({ ordinal }) => `summary ${ordinal} of the conversation`,
    options: SUMMARIZE,
  },
  plan_call: { summary: (_, named) => `plan ${named}`, options: PLAN_CALL },
  // A preflight has no effects, so a lost worker costs only another attempt.
  preflight_tool: {
    summary: (_, named) => `preflight of ${named}`,
    options: (call) => toolOptions(planForRun(call, Date.now())),
  },
  run_tool: { summary: (_, named) => `tool ${named}`, options: runOptions },
  reconcile_tool: { summary: (_, named) => `what became of ${named}`, options: reconcileOptions },
  check_answer: { summary: (_, named) => `check answer of ${named}`, options: CHECK_ANSWER },
  check_edit: { summary: (_, named) => `check edited input of ${named}`, options: CHECK_EDIT },
  start_child: { summary: ({ childId }) => `start sub-agent ${childId}`, options: START_CHILD },
  stop_child: { summary: ({ childId }) => `stop sub-agent ${childId}`, options: STOP_CHILD },
  check_definition: {
    summary: (_, named) => `check definition of ${named}`,
    options: CHECK_DEFINITION,
  },
};

/** Options of the activity that carries out the effect. */
export function optionsOf<Type extends WorkType>(
  effect: EffectOf<Type>,
  { state, modelName }: { readonly state: ConversationState; readonly modelName: string },
): ActivityOptions {
  const { type } = effect;
  const { summary, options } = SCHEDULE[type];
  const call = 'toolCallId' in effect ? callOf(state, effect.toolCallId) : undefined;
  const named = call === undefined ? modelName : `${call.plan.name} (${call.plan.toolCallId})`;
  const activityId = activityIdOf(state, effect);
  return {
    ...(typeof options === 'function' ? call && options(call) : options),
    summary: summaryOf(summary(effect, named)),
    ...(activityId === undefined ? {} : { activityId }),
  };
}

type TimerTexts = {
  readonly [Type in TimerEffect['type']]: (timer: EffectOf<Type>) => string;
};

const TIMER_TEXTS: TimerTexts = {
  await_deadline: ({ kind, name }) => `${kind} ${name}`,
  await_warning: ({ kind, name }) => `warning of ${kind} ${name}`,
  await_claim: ({ name }) => `claim of ${name}`,
  await_inbox_turn: () => 'next turn of the inbox',
  await_turn_limit: () => 'time of the turn',
};

/** The purpose of a timer for the Temporal UI. */
export function timerSummary<Type extends TimerEffect['type']>(timer: EffectOf<Type>): string {
  const { type, deadline } = timer;
  return summaryOf(`${TIMER_TEXTS[type](timer)} until ${deadline}`);
}

/**
 * Options given with a call are merged into these, field by field. So these hold only what the SDK requires, and every
 * set above is complete in itself.
 */
export const activities = proxyActivities<ConversationActivities>({
  startToCloseTimeout: '1 minute',
});
