/** The clocks of a call: its total time, the warning before the end, and moving a deadline. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { MAX_WAIT_MS } from '../../../../src/protocol/limits/limits.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  APPROVE,
  actor,
  answer,
  EPOCH_MS,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  RUN_MS,
} from '../../../support/builders/core-builders.js';
import { extendToolCall, refuseExtension } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { warning } from '../../../support/schedules/core-claims.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const iso = (ms: number): string => new Date(EPOCH_MS + ms).toISOString();
const TOTAL_MS = 65 * MINUTE_MS;
const limited = { approvalMs: APPROVAL_MS, answerMs: ANSWER_MS, runMs: RUN_MS, totalMs: TOTAL_MS };

const question = (overrides: Partial<PlannedCall> = {}): MachineUnderTest =>
  aMachineWith(modelCalls([plannedCall('q', { executor: 'human', ...overrides })]));

const extend = (m: MachineUnderTest, fields: Record<string, unknown>) =>
  extendToolCall(m.machine, {
    toolCallId: 'q',
    requestId: `extend-${m.events.length}`,
    actor: actor('boss'),
    ...fields,
  });

describe("a call's total time", () => {
  it('ends the wait that it reaches, with a text of its own', promise('G76'), () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client', timeouts: limited })]));
    m.advance(APPROVAL_MS - MINUTE_MS);
    m.resolve('c', APPROVE);
    expect(m.pending).toMatchObject([
      { kind: 'client_execution', deadline: iso(TOTAL_MS), limitedBy: 'total' },
    ]);
    m.rollOver().advance(6 * MINUTE_MS);
    expect(m.last('expired')).toMatchObject({ limitedBy: 'total', deadline: iso(TOTAL_MS) });
    expect(m.last('tool_result').result.envelope).toEqual({
      ok: false,
      error: {
        code: 'expired',
        message: `user did not respond: the time for the whole call (${TOTAL_MS}ms) ran out`,
      },
    });
    expectInvariants(m);
  });

  it('ends an approval with the text that the tool did not run', () => {
    const timeouts = { ...limited, totalMs: MINUTE_MS };
    const m = aMachineWith(modelCalls([gatedCall('c', { timeouts })]));
    m.advance(MINUTE_MS);
    const { envelope } = m.last('tool_result').result;
    expect(JSON.stringify(envelope)).toContain('before it was approved, the tool did not run');
  });
});

describe('the warning before the end of a wait', () => {
  it('comes once, as an event, and changes nothing else', promise('G74'), () => {
    const m = question({ warnBeforeMs: 2 * MINUTE_MS });
    expect(m.effects()).toMatchObject([
      { type: 'await_deadline' },
      { type: 'await_warning', deadline: iso(ANSWER_MS - 2 * MINUTE_MS) },
    ]);
    m.advance(ANSWER_MS - 2 * MINUTE_MS);
    expect(m.types()).toEqual(['suspension_expiring']);
    expect(m.effectTypes()).toEqual(['await_deadline']);
    m.rollOver().restart();
    expect(m.effectTypes()).toEqual(['await_deadline']);
    const ends = m.pending[0]?.deadline ?? '';
    m.machine.fired(warning('q', ends));
    expect(m.types()).toEqual(['rolled_over']);
    expectInvariants(m);
  });

  it('does not come when the call was answered meanwhile', () => {
    const m = question({ warnBeforeMs: 2 * MINUTE_MS });
    const ends = m.pending[0]?.deadline ?? '';
    m.resolve('q', answer('yes'));
    m.mark();
    m.machine.fired(warning('q', ends));
    m.machine.fired(warning('nobody', ends));
    expect(m.types()).toEqual([]);
  });

  it('comes again for a deadline that was moved', () => {
    const m = question({ warnBeforeMs: 2 * MINUTE_MS });
    m.advance(ANSWER_MS - MINUTE_MS);
    extend(m, { by: ANSWER_MS });
    m.advance(ANSWER_MS);
    expect(m.all('suspension_expiring').map(({ deadline }) => deadline)).toEqual([
      iso(ANSWER_MS),
      iso(2 * ANSWER_MS),
    ]);
  });

  it('is left out where the wait is shorter', () => {
    expect(question({ warnBeforeMs: ANSWER_MS }).effectTypes()).toEqual(['await_deadline']);
  });
});

describe('moving a deadline', () => {
  it('records it, and the old timer has no effect any more', () => {
    const m = question();
    expect(extend(m, { by: MINUTE_MS })).toMatchObject({
      verdict: 'accepted',
      deadline: iso(ANSWER_MS + MINUTE_MS),
    });
    expect(m.last('extended')).toMatchObject({
      previousDeadline: iso(ANSWER_MS),
      actor: { id: 'boss' },
    });
    m.deadlinePassed('q', iso(ANSWER_MS));
    m.rollOver().advance(ANSWER_MS);
    expect(m.pending).toMatchObject([{ deadline: iso(ANSWER_MS + MINUTE_MS) }]);
    expect(m.resolve('q', answer('in time')).verdict).toBe('accepted');
    expectInvariants(m);
  });

  it('is done once for one request id, also after a roll-over', () => {
    const m = question();
    const first = extend(m, { by: MINUTE_MS, requestId: 'r' });
    m.rollOver();
    expect(extend(m, { by: MINUTE_MS, requestId: 'r' })).toEqual({ verdict: 'duplicate', first });
    const until = iso(ANSWER_MS + MINUTE_MS);
    expect(extend(m, { until, requestId: 'r' })).toEqual({ verdict: 'duplicate', first });
    expect(extend(m, { until, by: 1, requestId: 'r' })).toMatchObject({ verdict: 'invalid' });
    expect(m.pending[0]?.deadline).toBe(iso(ANSWER_MS + MINUTE_MS));
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['earlier than now stands', { until: iso(ANSWER_MS) }, '/until'],
    ['beyond the cap', { by: MAX_WAIT_MS }, '/by'],
    ['by nothing', { by: 0 }, '/by'],
    ['by half a millisecond', { by: 0.5 }, '/by'],
    ['by a text', { by: '1h' }, '/by'],
    ['until no instant', { until: 'tomorrow' }, '/until'],
    ['both ways', { by: 1, until: iso(2 * ANSWER_MS) }, '/until'],
    ['in no way', {}, '/until'],
    ['with a bad request id', { by: 1, requestId: '' }, '/requestId'],
  ])('is refused %s, with the field', (_title, fields, path) => {
    const m = question();
    expect(extend(m, fields)).toMatchObject({ verdict: 'invalid', problems: [{ path }] });
    expect(refuseExtension(m.machine, { toolCallId: 'q', ...fields })).toBeDefined();
    expect(m.types()).toEqual([]);
  });

  it("never exceeds the call's total time", promise('G73'), () => {
    const m = question({ timeouts: limited });
    const beyond = extend(m, { by: TOTAL_MS });
    expect(beyond.verdict).toBe('invalid');
    expect(JSON.stringify(beyond)).toContain(iso(TOTAL_MS));
    expect(extend(m, { until: iso(TOTAL_MS) })).toMatchObject({ verdict: 'accepted' });
    expect(m.pending).toMatchObject([{ limitedBy: 'total' }]);
    expectInvariants(m);
  });

  it('is for actors who may answer', () => {
    const m = question({ answerAudience: { users: ['boss'] } });
    expect(extend(m, { by: 1, actor: actor('eve') })).toMatchObject({ verdict: 'forbidden' });
    expect(extend(m, { by: 1 })).toMatchObject({ verdict: 'accepted' });
  });

  it(
    'comes too late for a call that expired, was answered or never existed',
    promise('G73'),
    () => {
      const m = question();
      m.clock.advance(ANSWER_MS);
      expect(extend(m, { by: 1 })).toEqual({ verdict: 'expired', deadline: iso(ANSWER_MS) });
      m.advance(0).rollOver();
      expect(extend(m, { by: 1 })).toMatchObject({ verdict: 'expired' });
      const other = question();
      other.resolve('q', answer('yes'));
      expect(extend(other, { by: 1 })).toMatchObject({ verdict: 'stale', by: 'ben' });
      expect(extend(other, { by: 1, toolCallId: 'nobody' })).toMatchObject({ verdict: 'unknown' });
    },
  );

  it.each<[unknown]>([
    [null],
    [undefined],
    ['q'],
    [[]],
    [{ toolCallId: 5 }],
    [{ toolCallId: '__proto__' }],
  ])('takes %j without throwing', (input) => {
    const m = question();
    expect(['invalid', 'unknown']).toContain(extendToolCall(m.machine, input).verdict);
    expect(m.types()).toEqual([]);
  });
});
