/** Sees from outside whether workflows yield: one timer for all of a worker, where the SDK has a thread for every step. */
import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';

/** How often it is looked whether steps come to an end. */
const LOOK_MS = 5_000;

/**
 * A step that is seen so often is given up. Looks are counted, not time, so that a machine that slept is not taken for a loop;
 * and so many that the steps before it, at most 40 of a worker, have had theirs.
 */
const LOOKS = 12;

/** A workflow does not yield: its thread is lost with all that it would have served. The process has to end. */
export class WorkflowStuck extends Error {
  readonly code = 'workflow_stuck';
  readonly runId: string;
  constructor(runId: string, seconds: number) {
    super(
      `A step of run ${runId} has not come to an end in ${seconds} s, and holds up whatever shares its thread. ` +
        'This worker ends; its conversations go on in others.',
    );
    this.name = 'WorkflowStuck';
    this.runId = runId;
  }
}

interface Step {
  readonly runId: string;
  looks: number;
}

export class StuckWatch {
  readonly #steps = new Set<Step>();
  readonly #timer: NodeJS.Timeout;
  /** Never resolves. @throws WorkflowStuck */
  readonly stuck: Promise<never>;

  constructor({ lookMs = LOOK_MS, looks = LOOKS } = {}) {
    let tell = (_error: WorkflowStuck): void => undefined;
    this.stuck = new Promise<never>((_, reject) => {
      tell = reject;
    });
    // Whoever runs the worker hears of it; before that nobody does.
    this.stuck.catch(() => undefined);
    this.#timer = setInterval(() => {
      for (const step of this.#steps) {
        step.looks += 1;
        if (step.looks > looks) tell(new WorkflowStuck(step.runId, (lookMs * looks) / 1_000));
      }
    }, lookMs).unref();
  }

  /** The same creator; the steps of its workflows are watched. */
  over(creator: WorkflowCreator): WorkflowCreator {
    return {
      createWorkflow: async (options) =>
        this.#watched(await creator.createWorkflow(options), options.info.runId),
      destroy: async () => {
        clearInterval(this.#timer);
        await creator.destroy();
      },
    };
  }

  #watched(workflow: Workflow, runId: string): Workflow {
    return {
      activate: async (activation) => {
        const step = { runId, looks: 0 };
        this.#steps.add(step);
        try {
          return await workflow.activate(activation);
        } finally {
          this.#steps.delete(step);
        }
      },
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: () => workflow.dispose(),
    };
  }
}
