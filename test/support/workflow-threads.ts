/**
 * Keeps the workflow threads of an ended worker for the next worker of the same test file. A new thread loads the SDK
 * and compiles the bundle, which costs more than many a test. A thread serves one worker at a time, and only when it
 * holds no workflow any more.
 */
import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm.js';

type Create = typeof ThreadedVMWorkflowCreator.create;
type Settings = Parameters<Create>[0];

/** Private fields of the SDK's `WorkerThreadClient`. */
interface ThreadState {
  readonly workerThread: { ref(): void; unref(): void };
  readonly workerExited: boolean;
  readonly exitError?: unknown;
  readonly requestIdToCompletion: ReadonlyMap<unknown, unknown>;
}

const kept: KeptThreads[] = [];
const createThreads: Create = ThreadedVMWorkflowCreator.create;

class KeptThreads extends ThreadedVMWorkflowCreator {
  code = '';
  key = '';

  get threads(): readonly ThreadState[] {
    return this.workerThreadClients as unknown as readonly ThreadState[];
  }

  get isFree(): boolean {
    return (
      this.workerThreadClients.every((client) => client.getActiveWorkflowCount() === 0) &&
      this.threads.every(
        ({ workerExited, exitError, requestIdToCompletion }) =>
          !workerExited && exitError === undefined && requestIdToCompletion.size === 0,
      )
    );
  }

  override async destroy(): Promise<void> {
    if (!this.isFree) return await super.destroy();
    // The process of the test file may end while the threads wait.
    for (const { workerThread } of this.threads) workerThread.unref();
    kept.push(this);
  }
}

/** Every setting of the threads but the code and the logger. */
function keyOf({ workflowBundle, registeredActivityNames, ...others }: Settings): string {
  const { threadPoolSize, isolateExecutionTimeoutMs, reuseV8Context } = others;
  return JSON.stringify([
    workflowBundle.filename,
    [...registeredActivityNames].sort(),
    { threadPoolSize, isolateExecutionTimeoutMs, reuseV8Context },
  ]);
}

ThreadedVMWorkflowCreator.create = async (settings: Settings) => {
  if (settings.patchActivationCallback !== undefined)
    return await createThreads.call(ThreadedVMWorkflowCreator, settings);
  const { code } = settings.workflowBundle;
  const key = keyOf(settings);
  const index = kept.findIndex((each) => each.key === key && each.code === code && each.isFree);
  const [found] = index < 0 ? [] : kept.splice(index, 1);
  if (found !== undefined) {
    for (const { workerThread } of found.threads) workerThread.ref();
    return found;
  }
  const created = await createThreads.call(KeptThreads, settings);
  return created instanceof KeptThreads ? Object.assign(created, { code, key }) : created;
};
