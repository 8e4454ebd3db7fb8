/**
 * A workflow task that was given something must not look like a heartbeat in the history.
 *
 * The SDK takes a task for one when neither it nor the task before it left a command, and the next was scheduled right after
 * it: that is how a history looks when an update waited and the worker that should have taken it was lost. A worker that
 * replays then decides anew what the task had decided, together with all that came later and in another order; and once an
 * update was accepted in that next task, no worker can replay the run any more (decision 12). That holds for what changed nothing, too,
 * such as a refused signal: beside it an update gives its commands in another order than alone.
 *
 * So such a task gets a command that does nothing. Whether it needs one is seen by the length of the history: a task before it
 * that no code of ours was part of, because an update was refused in it, is seen by nothing else.
 */
import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';

const SUMMARY = 'not a wait: marks a task as decided, and does nothing when it fires';

/** Its completion; then the scheduling and the start of the next. */
const EVENTS_BETWEEN_TASKS = 3;
/** Its start stands in the history together with its end. */
const EVENTS_OF_AN_ACTIVITY = 2;

/** Of one workflow task: the id of the event with which it was started, and how many events its commands leave. */
interface Task {
  readonly startedId: number;
  readonly commands: number;
}

export class TaskSeal {
  #before: Task = { startedId: 0, commands: 0 };
  #task: Task = { startedId: 0, commands: 0 };
  /** Started by one seal and cancelled by the next: each costs one event, and at most one timer is open. */
  #timer: CancellationScope | undefined;

  /** The task has commands of its own, which leave so many events. */
  acted(events = 1): void {
    this.#look();
    const { startedId, commands } = this.#task;
    this.#task = { startedId, commands: commands + events };
  }

  /** To be called when everything that follows from what the task was given has been started. */
  close(): void {
    this.#look();
    if (this.#task.commands > 0 || this.#isNextToCommands()) return;
    this.acted();
    const open = this.#timer;
    this.#timer = undefined;
    if (open === undefined) this.#start();
    else open.cancel();
  }

  /** The task before was one of ours with commands, and all that came since is the end of one activity. */
  #isNextToCommands(): boolean {
    const { startedId, commands } = this.#before;
    const expected = startedId + commands + EVENTS_BETWEEN_TASKS + EVENTS_OF_AN_ACTIVITY;
    return commands > 0 && this.#task.startedId === expected;
  }

  #start(): void {
    const scope = new CancellationScope({ cancellable: true });
    this.#timer = scope;
    const over = (): void => {
      if (this.#timer === scope) this.#timer = undefined;
    };
    scope.run(() => sleep(MAX_WAIT_MS, { summary: SUMMARY })).then(over, over);
  }

  #look(): void {
    const { historyLength } = workflowInfo();
    if (historyLength === this.#task.startedId) return;
    this.#before = this.#task;
    this.#task = { startedId: historyLength, commands: 0 };
  }
}
