/** Refused signals are recorded; a call that no worker took did not run. */

import { describe, expect, it } from 'vitest';
import { toolFinished, toolLost } from '../../../support/builders/call-ends.js';
import { modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { sendMessage, sendMessageBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

describe('a message that comes as a signal', () => {
  it('and is refused leaves its request id and the reason in the log', promise('G119'), () => {
    const m = aMachine();
    sendMessageBySignal(m.machine, { text: 'one', requestId: 'r1' });
    sendMessageBySignal(m.machine, { text: 'two', requestId: 'r2' });
    sendMessageBySignal(m.machine, { text: 'one', requestId: 'r1' });
    const refused = m.events.filter((event) => event.type === 'message_refused');
    expect(refused).toMatchObject([{ requestId: 'r2', code: 'busy' }]);
  });

  it('does not keep an idle conversation alive when it is refused', () => {
    const m = aMachine();
    const { updatedAt } = m.machine.state;
    sendMessageBySignal(m.machine, null);
    expect(m.machine.state.updatedAt).toBe(updatedAt);
  });
});

describe('a call on a queue without pollers', () => {
  it('ends as not run, with any declared effects of the tool', promise('G122'), () => {
    const m = aMachine();
    sendMessage(m.machine, { text: 'go' });
    const call = plannedCall('pay', { effects: 'once', taskQueue: 'elsewhere' });
    const turnId = m.machine.state.turn?.turnId ?? '';
    m.modelCompleted({ turnId, step: 1 }, modelCalls([call]));
    toolLost(m.machine, 'pay', { timedOut: false, neverStarted: true, message: 'x' });
    expect(m.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { status: 'errored', envelope: { ok: false, error: { code: 'not_available' } } },
    });
  });
});

describe('a call that is held open with an older server', () => {
  const NEVER_TAKEN = { timedOut: true, neverStarted: true };
  const TIMED_OUT = { timedOut: true };
  const CRASHED = { timedOut: false };

  it.each([
    ['none', NEVER_TAKEN],
    ['none', TIMED_OUT],
    ['none', CRASHED],
    ['idempotent', NEVER_TAKEN],
    ['idempotent', TIMED_OUT],
    ['idempotent', CRASHED],
    ['once', NEVER_TAKEN],
    ['once', CRASHED],
  ] as const)(
    'with effects %s and lost with its worker (%o), has an unknown outcome',
    promise('G152'),
    (effects, loss) => {
      const m = aMachine();
      sendMessage(m.machine, { text: 'go' });
      const turnId = m.machine.state.turn?.turnId ?? '';
      m.modelCompleted(
        { turnId, step: 1 },
        modelCalls([plannedCall('push', { effects, maxAttempts: 3 })]),
      );
      const question = { form: { type: 'number' }, heldAt: 'colloquy-held-1' };
      toolFinished(m.machine, 'push', { ask: question, executionMs: 5 });
      expect(m.resolve('push', { type: 'answer', value: 3 }).verdict).toBe('accepted');
      toolLost(m.machine, 'push', { ...loss, message: 'x' });
      expect(m.events.find((event) => event.type === 'tool_result')).toMatchObject({
        result: {
          status: 'errored',
          envelope: { ok: false, error: { code: 'outcome_unknown' } },
        },
      });
    },
  );
});
