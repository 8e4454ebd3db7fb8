import { defaultDataConverter } from '@temporalio/common';
import { describe, expect, it, test } from 'vitest';
import type { HistoryEvent } from '../../../src/projection/source/history-tail.js';
import { recoverInputOf } from '../../../src/protocol/workflow/recovery.js';
import { partsOf } from '../../../src/worker/repair/apply.js';
import { activityRuns, doneTasks, through } from '../../../src/worker/repair/history.js';
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
const signal = (signalName: string, value: unknown) => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: payloads(value) },
});

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
    const entries = await recoveredEntries({ events: EVENTS, task, logged: [] }, converter);
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
    const entries = await recoveredEntries({ events: EVENTS, task, logged }, converter);
    expect(entries.map(({ type }) => type)).toEqual(['event', 'input', 'ended']);
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
    const entries = await recoveredEntries({ events, task, logged: [] }, converter);
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
