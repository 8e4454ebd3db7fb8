import { defaultDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { describe, expect, it, test } from 'vitest';
import type { HistoryEvent } from '../../../src/projection/source/history-tail.js';
import { UNDECODABLE } from '../../../src/protocol/workflow/messaging.js';
import { type RecoveredEntry, recoverInputOf } from '../../../src/protocol/workflow/recovery.js';
import { partsOf } from '../../../src/worker/repair/apply.js';
import { activityRuns, doneTasks, through } from '../../../src/worker/repair/history.js';
import { isOutdated } from '../../../src/worker/repair/plan.js';
import { recoveredEntries } from '../../../src/worker/repair/recovered.js';
import { promise } from '../../support/promise.js';

const { payloadConverter } = defaultDataConverter;
const converter = { ...defaultDataConverter, payloadCodecs: [] };
const payloads = (value: unknown) => ({ payloads: [payloadConverter.toPayload(value)] });

/** Events with ids from 1, a second apart. */
function history(...attributes: readonly object[]): readonly HistoryEvent[] {
  return attributes.map(
    (one, index) =>
      ({ eventId: index + 1, eventTime: { seconds: index + 1, nanos: 0 }, ...one }) as never,
  );
}
const scheduled = { workflowTaskScheduledEventAttributes: {} };
const startedTask = { workflowTaskStartedEventAttributes: {} };
const completed = (startedEventId: number) => ({
  workflowTaskCompletedEventAttributes: { startedEventId },
});
const activity = (activityId: string, byTask: number, effects = 'once') => ({
  activityTaskScheduledEventAttributes: {
    activityId,
    activityType: { name: activityId.startsWith('tool') ? 'runTool' : 'callModel' },
    workflowTaskCompletedEventId: byTask,
    input: payloads({ call: { effects } }),
  },
});
const done = (scheduledEventId: number, value: unknown) => ({
  activityTaskCompletedEventAttributes: { scheduledEventId, result: payloads(value) },
});
const cancelled = (scheduledEventId: number) => ({
  activityTaskCanceledEventAttributes: { scheduledEventId },
});
const signal = (signalName: string, value: unknown) => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: payloads(value) },
});
const undecodable = (signalName: string) => ({
  workflowExecutionSignaledEventAttributes: {
    signalName,
    input: { payloads: [{ metadata: { encoding: Buffer.from('binary/foreign') }, data: null }] },
  },
});
const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;
const reset = {
  workflowTaskFailedEventAttributes: {
    cause: WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
  },
};

/** The recovery of a reset at the first completed task of these events. */
async function recovered(events: readonly HistoryEvent[], logged: readonly object[] = []) {
  const [task] = doneTasks(events);
  if (task === undefined) throw new Error('no task');
  return await recoveredEntries({ events, task, logged: logged as never }, converter);
}

// A task schedules a tool (4) that ends in the next one (8), which schedules two more tools (9, 10); a signal follows.
const EVENTS = history(
  ...[scheduled, startedTask, completed(2), activity('tool:a:c1', 3)],
  ...[done(4, { envelope: 1 }), scheduled, startedTask, completed(7)],
  ...[
    activity('tool:b:c2', 8),
    activity('tool:c:c3', 8, 'none'),
    signal('sendMessage', { text: 'x' }),
  ],
);

describe('the recovered input of a run that is reset', () => {
  it('is every end and input in order; a tool with effects once without an end is lost, not run again', {
    ...promise('G21'),
  }, async () => {
    const [task] = doneTasks(EVENTS);
    if (task === undefined) throw new Error('no task');
    const { entries } = await recoveredEntries({ events: EVENTS, task, logged: [] }, converter);
    expect(entries).toEqual([
      { type: 'ended', activityId: 'tool:a:c1', end: { as: 'completed', result: { envelope: 1 } } },
      { type: 'input', by: 'signal', name: 'sendMessage', input: { text: 'x' } },
      { type: 'ended', activityId: 'tool:b:c2', end: { as: 'timed_out', timeout: 'HEARTBEAT' } },
    ]);
  });

  it('excludes events that the log has: the log supplies them', async () => {
    const [task] = doneTasks(EVENTS);
    if (task === undefined) throw new Error('no task');
    // Decided in the task that was started at second 7, which has seen the end of the first tool.
    const logged = [{ type: 'turn_started', seq: 9, at: new Date(7_000).toISOString() } as never];
    const { entries } = await recoveredEntries({ events: EVENTS, task, logged }, converter);
    expect(entries.map(({ type }) => type)).toEqual(['event', 'input', 'ended']);
  });

  it('has a run of a tool with effects once that was cancelled as lost, and others not at all', {
    ...promise('G21'),
  }, async () => {
    const events = history(
      ...[scheduled, startedTask, completed(2), activity('tool:a:c1', 3)],
      ...[activity('tool:b:c2', 3, 'none'), cancelled(4), cancelled(5)],
    );
    expect((await recovered(events)).entries).toEqual([
      { type: 'ended', activityId: 'tool:a:c1', end: { as: 'timed_out', timeout: 'HEARTBEAT' } },
    ]);
  });

  it('has the signals that the first discarded task took: the run drops what stands before its recovery', async () => {
    const events = history(
      ...[signal('sendMessage', { text: 'x' }), scheduled, startedTask, completed(3)],
    );
    const input = { type: 'input', by: 'signal', name: 'sendMessage', input: { text: 'x' } };
    expect((await recovered(events)).entries).toEqual([input]);
    // The log shows what the task, of the third second, decided.
    const logged = [{ type: 'turn_started', seq: 9, at: new Date(3_000).toISOString() }];
    expect((await recovered(events, logged)).entries.map(({ type }) => type)).toEqual(['event']);
  });

  it('has a signal that cannot be decoded as the workflow sees it, with a warning', {
    ...promise('G21'),
  }, async () => {
    const events = history(
      ...[scheduled, startedTask, completed(2), undecodable('sendMessage')],
      ...[undecodable('recover'), signal('sendMessage', { text: 'x' })],
    );
    const { entries, warnings } = await recovered(events);
    expect(entries).toEqual([
      { type: 'input', by: 'signal', name: 'sendMessage', input: UNDECODABLE },
      { type: 'input', by: 'signal', name: 'sendMessage', input: { text: 'x' } },
    ]);
    expect(warnings).toEqual([expect.stringContaining('"sendMessage" (event 4)')]);
  });

  it('has the turn ids that callers got', async () => {
    const events = history(
      scheduled,
      startedTask,
      completed(2),
      activity('model:turn_abc-1_3_f00ba4:1', 3),
    );
    const [task] = doneTasks(events);
    if (task === undefined) throw new Error('no task');
    const { entries } = await recoveredEntries({ events, task, logged: [] }, converter);
    expect(entries).toEqual([{ type: 'turn_token', ordinal: 3, token: 'f00ba4' }]);
  });

  it('is split into parts that one signal can carry, at any size', () => {
    const entries = Array.from({ length: 7 }, (_, nth) => ({
      type: 'ended' as const,
      activityId: `tool:a:c${String(nth)}`,
      end: { as: 'completed' as const, result: 'x'.repeat(500_000) },
    }));
    const parts = partsOf({ entries });
    expect(parts.map(({ part, parts: all }) => [part, all])).toEqual([
      [1, 4],
      [2, 4],
      [3, 4],
      [4, 4],
    ]);
    expect(parts.flatMap((part) => part.entries)).toEqual(entries);
    expect(new Set(parts.map(({ recoveryId }) => recoveryId)).size).toBe(1);
  });
});

const LOST = { as: 'timed_out', timeout: 'HEARTBEAT' } as const;
const PAID = { as: 'completed', result: 'paid' } as const;

/** A run after its repair: the recovery (5, 6) has replaced a signal (4), which the server applied again. */
const repaired = (entries: readonly RecoveredEntry[], ...later: readonly object[]) => {
  const part = { recoveryId: 'r1', parts: 2 };
  return history(
    ...[scheduled, startedTask, reset, signal('sendMessage', { text: 'of before' })],
    ...[1, 2].map((nth) =>
      signal('recover', { ...part, part: nth, entries: nth === 1 ? [] : entries }),
    ),
    ...[scheduled, startedTask, completed(8), ...later],
  );
};

describe('the recovered input of a run that was repaired before', promise('G21'), () => {
  const x = { type: 'input', by: 'signal', name: 'sendMessage' } as const;
  const entries = [
    { type: 'event', event: { seq: 4 } as never },
    { type: 'turn_token', ordinal: 2, token: 'f00ba4' },
    { ...x, input: { text: 'of before' } },
    { type: 'ended', activityId: 'tool:pay:c1', end: PAID },
    { type: 'ended', activityId: 'tool:wire:c2', end: LOST },
    { type: 'ended', activityId: 'model:t:1', end: PAID },
  ] as const satisfies readonly RecoveredEntry[];

  it('has the outcomes and inputs of the first discarded part, and no input twice', async () => {
    const events = repaired(entries, signal('sendMessage', { text: 'later' }));
    expect((await recovered(events)).entries).toEqual([
      ...entries.slice(1),
      { ...x, input: { text: 'later' } },
    ]);
  });

  it('keeps the ends of tools whose calls the run may not have reached, also where the log is up to date', async () => {
    const logged = [{ type: 'turn_started', seq: 9, at: new Date(8_000).toISOString() }];
    expect((await recovered(repaired(entries), logged)).entries.slice(1)).toEqual([
      entries[1],
      entries[3],
      entries[4],
    ]);
  });

  it('has nothing of a recovery that no reset has followed', async () => {
    const part = { recoveryId: 'forged', part: 1, parts: 1, entries };
    const events = history(
      ...[scheduled, startedTask, completed(2), signal('recover', part)],
      ...[scheduled, startedTask, completed(6), reset, scheduled, startedTask, completed(10)],
    );
    expect((await recovered(events)).entries).toEqual([]);
  });
});

describe('a plan', promise('G21'), () => {
  const own = new Set([3, 4]);
  const foreign = signal('recover', {});
  const ours = [foreign, foreign];

  it.each([
    [
      'input comes before its recovery',
      [scheduled, signal('x', {}), ...ours],
      new Set([3, 4]),
      true,
    ],
    [
      'input comes behind its recovery',
      [scheduled, startedTask, ...ours, signal('x', {})],
      own,
      false,
    ],
    ['another recovery comes before it', [scheduled, foreign, ...ours], own, true],
    ['another recovery comes behind it', [scheduled, startedTask, ...ours, foreign], own, true],
  ])('is made again, or not, when %s', (_, events, sent, isOld) => {
    expect(isOutdated({ historyLength: 1 }, history(...events), sent)).toBe(isOld);
  });
});

const partWith = (entry: unknown): unknown => ({
  recoveryId: 'r',
  part: 1,
  parts: 1,
  entries: [entry],
});

describe('a recovery', () => {
  it.each([
    null,
    'x',
    {},
    { recoveryId: 'r', part: 2, parts: 1, entries: [] },
    ...[null, 'x', {}, { type: 'constructor' }, { type: 'event', event: null }].map(partWith),
    ...[
      { type: 'event', event: { seq: '1' } },
      { type: 'turn_token', ordinal: 1 },
    ].map(partWith),
    ...[
      { type: 'input', input: {} },
      { type: 'ended', activityId: 'a' },
    ].map(partWith),
  ])('that is malformed is ignored: %j', (input) => {
    expect(recoverInputOf(input)).toBeUndefined();
  });
});

test('a history is cut behind the decisions of a task', () => {
  const [first] = doneTasks(EVENTS);
  if (first === undefined) throw new Error('no task');
  expect(through(EVENTS, first)).toHaveLength(4);
  expect(activityRuns(EVENTS).map(({ activityId, byTask }) => [activityId, byTask])).toEqual([
    ['tool:a:c1', 3],
    ['tool:b:c2', 8],
    ['tool:c:c3', 8],
  ]);
});
