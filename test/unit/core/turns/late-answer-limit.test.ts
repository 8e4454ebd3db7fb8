/**
 * The limit of expired calls that may still be answered late: an answer that is reported as accepted is never
 * dropped.
 */
import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { MAX_LATE_CALLS } from '../../../../src/protocol/limits/limits.js';
import {
  ANSWER_MS,
  MINUTE_MS,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { messageTextOf } from '../../../support/schedules/core-inbox.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const external = (toolCallId: string, more: Partial<PlannedCall> = {}): PlannedCall =>
  plannedCall(toolCallId, { executor: 'external', lateResult: 'inbox', ...more });
const SHORT = { approvalMs: 1, answerMs: 1, runMs: 1 };

/** As many expired calls as may be answered late. */
const shortCalls = (): readonly PlannedCall[] =>
  Array.from({ length: MAX_LATE_CALLS }, (_, index) =>
    external(`late-${index}`, { timeouts: SHORT }),
  );

describe('one expired call beyond the limit for late answers', () => {
  it('is new input when its result comes right after its deadline, although it is the oldest call', {
    ...promise('G77'),
  }, () => {
    const m = aMachineWith(modelCalls([external('first'), ...shortCalls()]));
    m.advance(MINUTE_MS);
    // The result comes as the deadline passes, before any timer has fired.
    m.clock.advance(ANSWER_MS);
    expect(m.resolve('first', result('worth it')).verdict).toBe('accepted_late');
    expect(m.last('inbox_event')).toMatchObject({ toolCallId: 'first' });
    m.model(modelSays('I see'));
    expect(messageTextOf(m)).toContain('worth it');
    expectInvariants(m);
  });

  it('does not touch a late answer that a worker still checks', promise('G77'), () => {
    const m = aMachineWith(
      modelCalls([external('checked', { timeouts: SHORT, recheckAnswer: true })]),
    );
    m.advance(MINUTE_MS);
    expect(m.resolve('checked', result('worth it')).verdict).toBe('accepted_late');
    m.model(modelCalls(shortCalls()));
    m.advance(MINUTE_MS);
    m.checked('checked', 'worth it');
    expect(m.last('inbox_event')).toMatchObject({ toolCallId: 'checked' });
    expectInvariants(m);
  });

  it('makes the call that expired first unanswerable, which is reported', promise('G77'), () => {
    const m = aMachineWith(modelCalls([external('old', { timeouts: SHORT })]));
    m.advance(MINUTE_MS);
    m.model(modelCalls(shortCalls()));
    m.advance(MINUTE_MS);
    expect(m.resolve('old', result(1)).verdict).toBe('expired');
    expect(m.resolve('late-0', result(1)).verdict).toBe('accepted_late');
    expectNoLoss(m);
  });
});

function expectNoLoss(m: MachineUnderTest): void {
  const late = m.all('resolution').filter((event) => event.late === true);
  expect(m.all('inbox_event').map(({ toolCallId }) => toolCallId)).toEqual(
    late.map(({ toolCallId }) => toolCallId),
  );
}
