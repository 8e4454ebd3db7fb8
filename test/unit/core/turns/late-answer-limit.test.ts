/**
 * The limit of expired calls that may still be answered late: an answer that is reported as accepted is never
 * dropped.
 */
import { describe, expect, it } from 'vitest';
import { carriedBytes, MAX_CARRIED_STATE_BYTES } from '../../../../src/core/context/carry-over.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { MAX_LATE_BYTES, MAX_LATE_CALLS } from '../../../../src/protocol/limits/limits.js';
import { toolPrepared } from '../../../support/builders/call-ends.js';
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

describe('expired calls with large schemas and payloads', () => {
  const payload = { text: 'x'.repeat(60_000) };
  const large = (id: string): PlannedCall =>
    plannedCall(id, {
      ...{ executor: 'client', lateResult: 'inbox', preflight: true },
      timeouts: { ...SHORT, claimMs: 1 },
    });
  /** Calls that expire one after the other, each in a turn of its own. */
  const expired = (count: number, coreRevision: number): MachineUnderTest => {
    const m = aMachineWith(modelCalls([large('c-0')]), {
      settings: { coreRevision, maxSteps: 50 },
    });
    for (let index = 0; index < count; index += 1) {
      toolPrepared(m.machine, `c-${index}`, { ok: true, payload, argsDigest: 'sha256:x' });
      m.advance(MINUTE_MS);
      m.model(index + 1 < count ? modelCalls([large(`c-${index + 1}`)]) : modelSays('no page'));
    }
    return m;
  };

  it(
    'never keep a run from its end: the newest are kept that a roll-over carries',
    promise('G77'),
    () => {
      const m = expired(30, 2);
      expect(carriedBytes(m.state)).toBeLessThan(MAX_CARRIED_STATE_BYTES / 4);
      expect(m.resolve('c-28', result(1)).verdict).toBe('accepted_late');
      expect(m.resolve('c-0', result(1)).verdict).toBe('expired');
      expectNoLoss(m);
      expectInvariants(m);
    },
  );

  it('were kept by their number alone before revision 2', () => {
    expect(carriedBytes(expired(30, 1).state)).toBeGreaterThan(MAX_CARRIED_STATE_BYTES);
  });

  it('is kept where it alone is larger than the bound', promise('G77'), () => {
    const schema = { type: 'string', description: 'x'.repeat(MAX_LATE_BYTES) };
    const m = aMachineWith(
      modelCalls([external('huge', { timeouts: SHORT, answerSchema: schema })]),
    );
    m.advance(MINUTE_MS);
    expect(m.resolve('huge', result('worth it')).verdict).toBe('accepted_late');
  });
});

function expectNoLoss(m: MachineUnderTest): void {
  const late = m.all('resolution').filter((event) => event.late === true);
  expect(m.all('inbox_event').map(({ toolCallId }) => toolCallId)).toEqual(
    late.map(({ toolCallId }) => toolCallId),
  );
}
