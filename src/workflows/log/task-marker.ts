/**
 * Keeps a workflow task that received input from looking like a heartbeat in the history.
 *
 * The SDK takes a task for a heartbeat when neither it nor the task before it left a command, and the next was
 * scheduled right after it: an update was waiting, and the worker that should have taken it was lost. A worker that
 * replays then decides anew, in another order, and once the next task has accepted an update, no worker can replay the
 * run any more (decision 12). The same holds for inputs that changed nothing, such as a refused signal.
 *
 * So such a task gets a command that does nothing. The length of the history alone shows an earlier task in which no
 * code of the engine ran, because its update was refused.
 */
import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';

const SUMMARY = 'not a wait: marks a task as decided, and does nothing when it fires';

/** The completion of a task, then the scheduling and the start of the next. */
const EVENTS_BETWEEN_TASKS = 3;
/** The start of an activity is written to the history together with its end. */
const EVENTS_OF_AN_ACTIVITY = 2;

/** One workflow task: the id of the event that started it, and the number of events that its commands leave. */
interface Task {
  readonly startedId: number;
  readonly commands: number;
}

export class TaskMarker {
  #before: Task = { startedId: 0, commands: 0 };
  #task: Task = { startedId: 0, commands: 0 };
  /** Started by one marker and cancelled by the next: each costs one event, and at most one timer is open. */
  #timer: CancellationScope | undefined;

  /** Records that the task has commands of its own, which leave this many events. */
  acted(events = 1): void {
    this.#update();
    const { startedId, commands } = this.#task;
    this.#task = { startedId, commands: commands + events };
  }

  /** Called when everything that follows from the task's input has been started. */
  close(): void {
    this.#update();
    if (this.#task.commands > 0 || this.#isNextToCommands()) return;
    this.acted();
    const open = this.#timer;
    this.#timer = undefined;
    if (open === undefined) this.#start();
    else open.cancel();
  }

  /** True when the task before was one of the engine's with commands, and only the end of one activity came since. */
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

  #update(): void {
    const { historyLength } = workflowInfo();
    if (historyLength === this.#task.startedId) return;
    this.#before = this.#task;
    this.#task = { startedId: historyLength, commands: 0 };
  }
}
