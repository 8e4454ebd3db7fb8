import { describe, expect, it, test } from 'vitest';
import { HistoryProbe } from '../../../../src/projection/source/history-probe.js';
import { createIsSettled } from '../../../../src/worker/sdk-workarounds/settled.js';
import {
  completed,
  type FakeEvent,
  fakeHistory,
  type Look,
  ME,
  STARTED_AT,
  started,
  timer,
} from '../../../support/fakes/fake-history.js';
import { promise } from '../../../support/promise.js';

const RUN = { workflowId: 'conversation:default:c1', runId: 'run-a' };

const event = (eventId: number, kind: string): FakeEvent => ({
  eventId,
  [`${kind}EventAttributes`]: {},
});
const scheduled = (eventId: number): FakeEvent => event(eventId, 'workflowTaskScheduled');
const signal = (eventId: number): FakeEvent => event(eventId, 'workflowExecutionSignaled');
const accepted = (eventId: number, protocolInstanceId: string): FakeEvent => ({
  eventId,
  workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId },
});
/** A task of which the worker knows only the start. */
const SIXTH = { lastId: 6, decidedIn: { id: 6, startedAt: STARTED_AT } } as const;

function server(...histories: readonly Look[]) {
  const { client, asked } = fakeHistory(...histories);
  return { isSettled: createIsSettled(new HistoryProbe(client), { identity: ME }), asked };
}

describe("the run in a worker's memory is settled", () => {
  test.each([
    ['its last task and what it left', { lastId: 8 }, [timer(8), completed(7)]],
    ['the same, with more behind it', { lastId: 8 }, [signal(9), timer(8), completed(7)]],
    [
      'a task that it decided',
      { lastId: 6, decidedIn: { id: 6, startedAt: STARTED_AT } },
      [completed(7), started(6)],
    ],
    [
      'that and what it left',
      { lastId: 8, decidedIn: { id: 6, startedAt: STARTED_AT } },
      [timer(8), completed(7), started(6)],
    ],
    ['a task with nothing for the workflow', { lastId: 6 }, [completed(7), started(6)]],
    [
      'a task of whose updates it took each',
      { ...SIXTH, accepted: new Set(['u1', 'u2']) },
      [timer(10), accepted(9, 'u2'), accepted(8, 'u1'), completed(7), started(6)],
    ],
    [
      'a task, and an update that came with the next',
      { ...SIXTH, accepted: new Set(['u1']) },
      [
        ...[accepted(12, 'u2'), completed(11), started(10), scheduled(9)],
        ...[accepted(8, 'u1'), completed(7), started(6)],
      ],
    ],
    [
      'its own end, decided with each update',
      { ...SIXTH, accepted: new Set(['u1']) },
      [event(9, 'workflowExecutionContinuedAsNew'), accepted(8, 'u1'), completed(7), started(6)],
    ],
    ['a pause by an operator', { lastId: 9 }, [event(9, 'workflowExecutionPaused'), timer(8)]],
    [
      'an end from outside, after any decision about the end',
      { lastId: 8, decidedIn: { id: 6, startedAt: STARTED_AT } },
      [event(8, 'workflowExecutionTerminated'), scheduled(7), signal(6)],
    ],
  ])('when the history has %s', async (_what, held, events) => {
    expect(await server([events]).isSettled(RUN, held)).toBe(true);
  });

  test.each([
    'workflowTaskCompleted',
    'activityTaskScheduled',
    'activityTaskCancelRequested',
    'timerStarted',
    'timerCanceled',
    'markerRecorded',
    'upsertWorkflowSearchAttributes',
    'workflowPropertiesModified',
    'workflowExecutionUpdateAccepted',
    'workflowExecutionUpdateCompleted',
    'workflowExecutionOptionsUpdated',
    'workflowExecutionPaused',
    'workflowExecutionUnpaused',
  ])('when the last event that the worker knows is %s', async (kind) => {
    const last = server([[event(8, kind), completed(7), started(6)]]);
    expect(await last.isSettled(RUN, { lastId: 8 })).toBe(true);
  });

  it('when the page before the newest shows it, and no further', async () => {
    const found = server([[timer(9)], [timer(8), completed(7), started(6)]]);
    expect(
      await found.isSettled(RUN, { lastId: 9, decidedIn: { id: 6, startedAt: STARTED_AT } }),
    ).toBe(true);
    expect(found.asked).toMatchObject([{ namespace: 'ns', execution: RUN }, { execution: RUN }]);
    const deep = server([[timer(12)], [timer(11)], [completed(7)]]);
    expect(
      await deep.isSettled(RUN, { lastId: 12, decidedIn: { id: 6, startedAt: STARTED_AT } }),
    ).toBe(false);
    expect(deep.asked).toHaveLength(2);
  });

  it('on a server without the call, which is not asked again', async () => {
    const old = server(Object.assign(new Error('what?'), { code: 12 }));
    const answers: boolean[] = [];
    for (let asked = 1; asked <= 5; asked += 1)
      answers.push(
        await old.isSettled(RUN, { lastId: 8, decidedIn: { id: 6, startedAt: STARTED_AT } }),
      );
    // One such answer may come from a proxy that is being replaced.
    expect(answers).toEqual([false, false, true, true, true]);
    expect(old.asked).toHaveLength(3);
  });
});

describe("the run in a worker's memory is not settled", () => {
  test.each([
    ['ends before what it knows: a task vanished, or may', { lastId: 10 }, [timer(8)]],
    ['has something else there: a signal', { lastId: 9 }, [scheduled(10), signal(9), timer(8)]],
    ['has something else there: the next task', { lastId: 10 }, [scheduled(10), signal(9)]],
    [
      'has a task that waits',
      { lastId: 10, decidedIn: { id: 10, startedAt: STARTED_AT } },
      [scheduled(10), signal(9)],
    ],
    [
      'has a task under way',
      { lastId: 11, decidedIn: { id: 11, startedAt: STARTED_AT } },
      [started(11), scheduled(10)],
    ],
    [
      'has lost the task',
      { lastId: 11, decidedIn: { id: 11, startedAt: STARTED_AT } },
      [event(12, 'workflowTaskTimedOut'), started(11)],
    ],
    [
      'has it completed by another worker',
      { lastId: 11, decidedIn: { id: 11, startedAt: STARTED_AT } },
      [completed(12, '1@there#ffff'), started(11)],
    ],
    [
      'has another attempt completed',
      { lastId: 11, decidedIn: { id: 11, startedAt: STARTED_AT } },
      [completed(12), started(11, STARTED_AT - 5)],
    ],
    [
      'has a task under way, which may carry an update',
      { lastId: 11 },
      [started(11), scheduled(10)],
    ],
    [
      'has lost a task that may have carried an update',
      { lastId: 11 },
      [scheduled(13), event(12, 'workflowTaskTimedOut'), started(11), scheduled(10)],
    ],
    [
      'has an update that came with the task, and not to this worker',
      { lastId: 6 },
      [accepted(8, 'u1'), completed(7, '1@there#ffff'), started(6)],
    ],
    [
      'has one that came to it before it forgot the run',
      { lastId: 6 },
      [accepted(8, 'u1'), completed(7), started(6)],
    ],
    [
      'has one beside what it decided',
      { ...SIXTH, accepted: new Set(['u1']) },
      [accepted(9, 'u2'), accepted(8, 'u1'), completed(7), started(6)],
    ],
    [
      'has an end that was decided with an update which came to another',
      SIXTH,
      [event(9, 'workflowExecutionContinuedAsNew'), accepted(8, 'u1'), completed(7), started(6)],
    ],
    ['is empty', { lastId: 3 }, []],
  ])('when the history %s', promise('G14'), async (_what, held, events) => {
    expect(await server([events]).isSettled(RUN, held)).toBe(false);
  });

  test.each([
    'workflowExecutionStarted',
    'workflowExecutionSignaled',
    'workflowExecutionCancelRequested',
    'workflowTaskScheduled',
    'workflowTaskTimedOut',
    'workflowTaskFailed',
    'activityTaskStarted',
    'activityTaskCompleted',
    'activityTaskFailed',
    'activityTaskTimedOut',
    'activityTaskCanceled',
    'timerFired',
  ])('when the last event that the worker knows is %s', async (kind) => {
    const last = server([[event(8, kind), completed(7), started(6)]]);
    expect(await last.isSettled(RUN, { lastId: 8 })).toBe(false);
  });

  it('when a server that has answered before does not know the call: a proxy may stand before it', async () => {
    const away = Object.assign(new Error('404'), { code: 12 });
    const behind = server([[timer(8), completed(7)]], away);
    expect(await behind.isSettled(RUN, { lastId: 8 })).toBe(true);
    expect(await behind.isSettled(RUN, { lastId: 8 })).toBe(false);
  });

  it('when a proxy does not know the call once or twice: the next read decides', async () => {
    const proxy = Object.assign(new Error('404'), { code: 12 });
    const replaced = server(proxy, proxy, [[signal(9), timer(8)]]);
    for (let asked = 1; asked <= 3; asked += 1)
      expect(await replaced.isSettled(RUN, { lastId: 9 })).toBe(false);
    expect(replaced.asked).toHaveLength(3);
  });

  it('when the server fails; it is asked again', async () => {
    const flaky = server(new Error('away'), [[timer(8), completed(7)]]);
    expect(await flaky.isSettled(RUN, { lastId: 8 })).toBe(false);
    expect(await flaky.isSettled(RUN, { lastId: 8 })).toBe(true);
  });
});
