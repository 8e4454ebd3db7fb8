/** When a run is due to end, when that is postponed, and which states can be carried at all. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  MAX_CARRIED_EVENT_BYTES,
  ROLL_OVER_HISTORY_BYTES,
  ROLL_OVER_SIGNAL_COUNT,
  ROLL_OVER_UPDATE_COUNT,
} from '../../../src/protocol/limits/limits.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { canCarry, losesMessages, RollOver } from '../../../src/workflows/transcript/roll-over.js';
import { modelCalls, modelSays, plannedCall } from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { aMachine } from '../../support/schedules/core-driver.js';

const FRESH = { historySize: 1_000, historyLength: 30, continueAsNewSuggested: false };
const server = vi.hoisted(() => ({ info: {} }));
vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  workflowInfo: () => server.info as never,
}));

beforeEach(() => {
  server.info = { ...FRESH };
});

describe('a run', () => {
  it('is not due while nothing has grown', () => {
    const rollOver = new RollOver({ events: 1_000 });
    expect(rollOver.due(10)).toBeUndefined();
    expect(rollOver.overdue).toBe(false);
  });

  it.each([
    ['history_size', { historySize: ROLL_OVER_HISTORY_BYTES + 1 }],
    ['suggested', { continueAsNewSuggested: true }],
    ['history_events', { historyLength: 1_001 }],
  ] as const)('is due by %s', (reason, grown) => {
    server.info = { ...FRESH, ...grown };
    expect(new RollOver({ events: 1_000 }).due(10)).toBe(reason);
  });

  it('is due by updates, by signals, and on request', () => {
    const updated = new RollOver();
    for (let count = 0; count < ROLL_OVER_UPDATE_COUNT; count += 1) updated.countUpdate();
    expect(updated.due(10)).toBe('update_count');
    const signalled = new RollOver();
    for (let count = 0; count < ROLL_OVER_SIGNAL_COUNT; count += 1) signalled.countSignal();
    expect(signalled.due(10)).toBe('signal_count');
    const asked = new RollOver();
    asked.request();
    expect(asked.due(10)).toBe('requested');
  });

  it('is due when its turn has steps that should be stored, after all other reasons, and not again at once', () => {
    const rollOver = new RollOver({ events: 1_000 });
    expect(rollOver.due(10, true)).toBe('turn_size');
    server.info = { ...FRESH, historyLength: 1_001 };
    expect(rollOver.due(10, true)).toBe('history_events');
    rollOver.postpone(10);
    expect(rollOver.due(59, true)).toBeUndefined();
  });

  it('that could not be carried is due again after fifty events, not before', {
    ...promise('G188'),
  }, () => {
    const rollOver = new RollOver();
    rollOver.request();
    rollOver.postpone(100);
    expect([100, 149, 150].map((seq) => rollOver.due(seq))).toEqual([
      undefined,
      undefined,
      'requested',
    ]);
  });

  it("is overdue at a third of the server's limit: then nothing new begins in it", {
    ...promise('G188'),
  }, () => {
    const rollOver = new RollOver();
    server.info = { ...FRESH, historySize: 16 * 1024 * 1024 };
    expect(rollOver.overdue).toBe(false);
    server.info = { ...FRESH, historySize: 16 * 1024 * 1024 + 1 };
    expect(rollOver.overdue).toBe(true);
  });
});

describe('the carried state', () => {
  const small = aMachine().state;

  it('is refused when the store is so far behind that its events would be too many', () => {
    const event = { type: 'turn_ended', text: 'x'.repeat(1_024) } as unknown as CanonicalEvent;
    expect(
      canCarry(
        small,
        Array.from({ length: 200 }, () => event),
      ),
    ).toBe(true);
    const count = MAX_CARRIED_EVENT_BYTES / 1_024;
    expect(
      canCarry(
        small,
        Array.from({ length: count }, () => event),
      ),
    ).toBe(false);
  });

  it('is refused while a turn in progress is larger than a payload, and is accepted when it has ended', () => {
    const m = aMachine();
    m.send('use tools');
    const calls = Array.from({ length: 10 }, (_, index) => plannedCall(`c${index}`));
    m.model(modelCalls([...calls, plannedCall('q', { executor: 'human' })]));
    for (const call of calls) m.tool(call.toolCallId, 'y'.repeat(190 * 1_024));
    expect(canCarry(m.state, [])).toBe(false);
    m.resolve('q', { type: 'answer', value: 'yes' });
    expect(canCarry(m.state, [])).toBe(false);
    m.machine.endForCapacity();
    expect(m.last('turn_ended').error).toMatchObject({ code: 'model_context_too_long' });
    expect(canCarry(m.state, [])).toBe(true);
  });

  it('loses messages that the blob store could take', () => {
    const m = aMachine();
    for (let count = 0; count < 5; count += 1) {
      m.send('q');
      m.model(modelSays('x'.repeat(250 * 1_024)));
    }
    expect(losesMessages(m.state)).toBe(true);
    expect(losesMessages(small)).toBe(false);
  });
});
