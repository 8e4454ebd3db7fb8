import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StuckWatch, WorkflowStuck } from '../../../../src/worker/sdk-workarounds/stuck-watch.js';
import { promise } from '../../../support/promise.js';

const MINUTE = 60_000;
type CreateOptions = Parameters<WorkflowCreator['createWorkflow']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;

const optionsOf = (runId: string): CreateOptions => ({ info: { runId } }) as CreateOptions;

/** The test ends each step. */
function creator() {
  const ends: ((completion: Completion) => void)[] = [];
  const destroy = vi.fn(() => Promise.resolve());
  const made: WorkflowCreator = {
    createWorkflow: () =>
      Promise.resolve({
        activate: () => new Promise<Completion>((resolve) => ends.push(resolve)),
        getAndResetSinkCalls: () => Promise.resolve([]),
        dispose: () => Promise.resolve(),
      }),
    destroy,
  };
  return { made, ends, destroy };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('a step that has not ended in a minute is stuck, and the error names its run', {
  ...promise('G19'),
}, async () => {
  const watch = new StuckWatch();
  const { made } = creator();
  const onStuck = vi.fn();
  watch.stuck.catch(onStuck);
  const workflow = await watch.over(made).createWorkflow(optionsOf('run-1'));
  void workflow.activate({});
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(onStuck).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(MINUTE / 4);
  expect(onStuck).toHaveBeenCalledExactlyOnceWith(expect.any(WorkflowStuck));
  await expect(watch.stuck).rejects.toMatchObject({
    code: 'workflow_stuck',
    runId: 'run-1',
    message: expect.stringMatching(/run-1 has not come to an end in 60 s/) as string,
  });
});

it('steps that end are not stuck, in any number and in runs of any age', async () => {
  const watch = new StuckWatch();
  const { made, ends } = creator();
  const onStuck = vi.fn();
  watch.stuck.catch(onStuck);
  const workflow = await watch.over(made).createWorkflow(optionsOf('run-1'));
  for (let count = 0; count < 5; count += 1) {
    const completion = { runId: 'run-1' };
    const step = workflow.activate({});
    await vi.advanceTimersByTimeAsync(MINUTE / 2);
    ends.shift()?.(completion);
    expect(await step).toBe(completion);
  }
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(onStuck).not.toHaveBeenCalled();
});

it("a step that fails is over, and its failure is the worker's", async () => {
  const watch = new StuckWatch();
  const onStuck = vi.fn();
  watch.stuck.catch(onStuck);
  const { made } = creator();
  const failing: WorkflowCreator = {
    ...made,
    createWorkflow: async (options) => ({
      ...(await made.createWorkflow(options)),
      activate: () => Promise.reject(new Error('thread ended')),
    }),
  };
  const workflow = await watch.over(failing).createWorkflow(optionsOf('run-1'));
  await expect(workflow.activate({})).rejects.toThrow('thread ended');
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(onStuck).not.toHaveBeenCalled();
});

it('a timer that comes late, as after a machine has slept, counts once', async () => {
  const watch = new StuckWatch();
  const { made } = creator();
  const onStuck = vi.fn();
  watch.stuck.catch(onStuck);
  const workflow = await watch.over(made).createWorkflow(optionsOf('run-1'));
  void workflow.activate({});
  vi.setSystemTime(Date.now() + 24 * 60 * MINUTE);
  await vi.advanceTimersByTimeAsync(MINUTE / 2);
  expect(onStuck).not.toHaveBeenCalled();
});

it('the watch stops when the worker has ended', async () => {
  const watch = new StuckWatch();
  const { made, destroy } = creator();
  const watched = watch.over(made);
  const workflow = await watched.createWorkflow(optionsOf('run-1'));
  void workflow.activate({});
  await watched.destroy();
  expect(destroy).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
