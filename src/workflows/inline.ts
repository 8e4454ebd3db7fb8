/**
 * Inline tools: a run as a local activity, inside the workflow task that is under way. One event of history instead of three,
 * and no task of its own; but the replies of a task leave when it ends, so whatever it has accepted waits for the run.
 *
 * L1  So a tool runs inline only in a task that the end of an activity or timer has started, and that has accepted no input.
 * L2  Inputs that a validator refuses do not count: they leave no history, so a replay could not know of them.
 * L3  It has one attempt of `INLINE_TIMEOUT_MS`. What does not end in it, however it failed, is run as a normal activity. A
 *     worker that is killed in it leaves no marker, so the run is made again.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunToolInput, RunToolResult } from '../protocol/activities.js';
import { isRecord } from '../protocol/json.js';
import {
  activities,
  inlineOptions,
  localActivities,
  runOptions,
  summaryOf,
  type ToolRun,
} from './schedule.js';

/** What has happened in the workflow task that is under way. A task is known by the length of the history before it. */
export class TaskOrigin {
  #inputAt: number | undefined;
  #endAt: number | undefined;

  /** An update or a signal was accepted. */
  readonly input = (): void => {
    this.#inputAt = workflowInfo().historyLength;
  };

  /** An activity or a timer has ended. */
  readonly workEnded = (): void => {
    this.#endAt = workflowInfo().historyLength;
  };

  /** True when nobody waits for the end of this task. */
  get mayRunInline(): boolean {
    const task = workflowInfo().historyLength;
    return this.#endAt === task && this.#inputAt !== task;
  }
}

/** Runs it here and now; failing that, as an activity. */
export async function runInline(due: ToolRun, input: RunToolInput): Promise<RunToolResult> {
  const { plan } = due;
  try {
    return await localActivities.runTool.executeWithOptions(inlineOptions(plan), [input]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const pause = pauseOf(error);
    if (pause !== undefined) {
      const summary = summaryOf(`pause of ${plan.name} (${plan.toolCallId})`);
      await sleep(pause, { summary });
    }
    const options = runOptions({ ...due, plan: { ...plan, maxAttempts: plan.maxAttempts - 1 } });
    return await activities.runTool.executeWithOptions(options, [{ ...input, attemptsBefore: 1 }]);
  }
}

/** What a tool that threw a `ToolRetry` asks for, in milliseconds. */
function pauseOf(error: unknown): number | undefined {
  // That of a local activity comes as it is.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) return undefined;
  const [detail]: readonly unknown[] = cause.details ?? [];
  const afterMs = isRecord(detail) ? detail['afterMs'] : undefined;
  return typeof afterMs === 'number' && afterMs > 0 ? afterMs : undefined;
}
