/**
 * Checks from outside whether workflows yield: one timer for all of a worker, where the SDK has a thread for every
 * step.
 */
import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';

/** Milliseconds between two checks. */
const CHECK_INTERVAL_MS = 5_000;

/**
 * Number of checks after which a step is given up. Checks are counted, not time, so that a machine that slept is not
 * taken for a loop; and there are enough that the steps before it, at most 40 of a worker, have had their time.
 */
const CHECKS = 12;

/**
 * A workflow does not yield: its thread is lost, with everything that the thread would have served. The process must
 * exit.
 */
export class WorkflowStuck extends Error {
  readonly code = 'workflow_stuck';
  readonly runId: string;
  constructor(runId: string, seconds: number) {
    super(
      `A step of run ${runId} has not come to an end in ${seconds} s, and blocks every workflow on its thread. ` +
        'This worker exits; its conversations continue on others.',
    );
    this.name = 'WorkflowStuck';
    this.runId = runId;
  }
}

interface Step {
  readonly runId: string;
  checks: number;
}

export class StuckWatch {
  readonly #steps = new Set<Step>();
  readonly #timer: NodeJS.Timeout;
  /** Never resolves. @throws WorkflowStuck */
  readonly stuck: Promise<never>;

  constructor({ checkMs = CHECK_INTERVAL_MS, checks = CHECKS } = {}) {
    let fail = (_error: WorkflowStuck): void => undefined;
    this.stuck = new Promise<never>((_, reject) => {
      fail = reject;
    });
    // `run()` awaits this promise; until then a rejection must not count as unhandled.
    this.stuck.catch(() => undefined);
    this.#timer = setInterval(() => {
      for (const step of this.#steps) {
        step.checks += 1;
        if (step.checks > checks) fail(new WorkflowStuck(step.runId, (checkMs * checks) / 1_000));
      }
    }, checkMs).unref();
  }

  /** Wraps a creator: the steps of its workflows are watched. */
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
        const step = { runId, checks: 0 };
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
