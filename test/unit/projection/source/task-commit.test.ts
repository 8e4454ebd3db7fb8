import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HistoryProbe } from '../../../../src/projection/source/history-probe.js';
import { createFindCompletion } from '../../../../src/projection/source/task-commit.js';
import {
  completed,
  fakeHistory,
  type Look,
  ME,
  STARTED_AT,
  started,
  timer,
} from '../../../support/fakes/fake-history.js';
import { KEY } from '../../../support/samples/log-events.js';

// The clock of a test moves the timers of this module only if they are the global ones.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<object>()),
  setTimeout: (ms: number) => new Promise((resolve) => globalThis.setTimeout(resolve, ms)),
}));

const TARGET = { runId: 'run-a', task: { id: 6, startedAt: STARTED_AT }, pushedAt: 0 };

function server(...answers: readonly Look[]) {
  const { client, asked } = fakeHistory(...answers);
  const find = createFindCompletion(new HistoryProbe(client), { identity: ME });
  const isCommitted: (...args: Parameters<typeof find>) => Promise<boolean> = async (...args) =>
    (await find(...args)) !== undefined;
  return { find, isCommitted, asked };
}

describe('whether a task was committed', () => {
  it('is shown by the event after its start', async () => {
    const { isCommitted, asked } = server([[completed(7), started(6)]]);
    expect(await isCommitted(KEY, TARGET)).toBe(true);
    expect(asked).toMatchObject([
      {
        namespace: 'ns',
        execution: { workflowId: 'conversation:default:c1', runId: 'run-a' },
      },
    ]);
  });

  it.each([
    ['another process completed it', [completed(7, '1@there#ffff')]],
    ['it timed out or failed', [{ eventId: 7, workflowTaskTimedOutEventAttributes: {} }]],
    ['another event stands there', [timer(8), timer(7)]],
    ['the completion is of another task', [completed(7, ME, 4), started(6)]],
    ['another attempt was completed', [completed(7), started(6, STARTED_AT + 1)]],
    ['its start is not to be found', [completed(7)]],
  ])('is denied when %s', async (_what, events) => {
    expect(await server([events]).isCommitted(KEY, TARGET)).toBe(false);
  });

  it.each([
    ['the length of the history', [timer(8), completed(7), started(6)], { historyLength: 8 }],
    [
      'no length when a later task was completed',
      [completed(11, ME, 10), started(10), timer(8), completed(7), started(6)],
      {},
    ],
  ])('comes with %s', async (_what, events, completion) => {
    expect(await server([events]).find(KEY, TARGET)).toEqual(completion);
  });

  it.each([
    ['any worker completed it', [completed(7, '1@there#ffff'), started(6)], true],
    ['another attempt was completed', [completed(7), started(6, STARTED_AT + 1)], false],
    ['it is no task', [completed(7, ME, 4), started(6)], false],
  ])('of a replay may be the work of any worker: %s', async (_what, events, isCommitted) => {
    const replayed = { ...TARGET, byAnyWorker: true };
    expect(await server([events]).isCommitted(KEY, replayed)).toBe(isCommitted);
  });

  it('is read on the page before the newest, and no further', async () => {
    expect(
      await server([
        [timer(9), timer(8)],
        [completed(7), started(6)],
      ]).isCommitted(KEY, TARGET),
    ).toBe(true);
    const deep = server([[timer(12)], [timer(11)], [completed(7)]]);
    expect(await deep.isCommitted(KEY, TARGET)).toBe(false);
    expect(deep.asked).toHaveLength(2);
  });

  it('is shown by a start on the page before', async () => {
    const found = server([[completed(7)], [started(6)]]);
    expect(await found.isCommitted(KEY, TARGET)).toBe(true);
    expect(found.asked).toHaveLength(2);
  });

  it.each([
    ['at once when it was pushed a while ago', 50, 1],
    ['only a moment later when it was pushed just now', 0, 0],
  ])('is read %s', async (_what, agoMs, atOnce) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { isCommitted, asked } = server([[completed(7), started(6)]]);
    const found = isCommitted(KEY, { ...TARGET, pushedAt: performance.now() - agoMs });
    await nextTurnOfLoop();
    expect(asked).toHaveLength(atOnce);
    await vi.advanceTimersByTimeAsync(1);
    expect(await found).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('is awaited while the task is still on its way, and only for a bounded time', async () => {
    const early = server([[timer(6)]], [[timer(5)]], [[completed(7), started(6)]]);
    expect(await early.isCommitted(KEY, TARGET)).toBe(true);
    expect(early.asked).toHaveLength(3);
    const never = server([[timer(6)]]);
    expect(await never.isCommitted(KEY, TARGET)).toBe(false);
    expect(never.asked).toHaveLength(6);
  });

  it('is unknown when the server fails; a server without the call is not asked again', async () => {
    const flaky = server(new Error('away'), [[completed(7), started(6)]]);
    expect(await flaky.isCommitted(KEY, TARGET)).toBe(false);
    expect(await flaky.isCommitted(KEY, TARGET)).toBe(true);
    const old = server(Object.assign(new Error('what?'), { code: 12 }));
    for (let asked = 1; asked <= 5; asked += 1)
      expect(await old.isCommitted(KEY, TARGET)).toBe(false);
    expect(old.asked).toHaveLength(3);
  });
});
