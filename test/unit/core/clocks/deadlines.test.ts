/** Deadlines: the outcome without an answer, and the winner when the answer and the deadline meet. */

import { describe, expect, it } from 'vitest';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import { MAX_WAIT_MS } from '../../../../src/protocol/limits/limits.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  APPROVE,
  answer,
  EPOCH_MS,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { resolveBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const question = (): MachineUnderTest =>
  aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));

describe('a wait without an answer', () => {
  it('expires with the text "user did not respond", as neither a denial nor a cancel (S13)', {
    ...promise('G85', 'S13', 'A45'),
  }, () => {
    const m = question();
    m.advance(ANSWER_MS);
    expect(m.types()).toEqual(['expired', 'tool_result']);
    expect(m.last('expired')).toMatchObject({ kind: 'elicitation', deadline: m.clock.iso() });
    expect(m.last('tool_result').result).toEqual({
      status: 'expired',
      envelope: { ok: false, error: { code: 'expired', message: 'user did not respond' } },
      provenance: 'trusted',
      actor: { id: 'system', verified: true, channel: 'system' },
    });
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(m.resolve('q', answer(1))).toEqual({ verdict: 'expired', deadline: m.clock.iso() });
  });

  it('of an approval says that the tool did not run, and the tool does not run', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1')]));
    m.advance(APPROVAL_MS);
    expect(m.types()).toEqual(['expired', 'tool_result']);
    expect(m.last('tool_result').result.envelope).toMatchObject({
      error: {
        code: 'expired',
        message: 'user did not respond: the approval expired, the tool did not run',
      },
    });
  });

  it('gives the default value where the tool has one, but never for its approval', () => {
    const onExpireDefault = { value: 'no preference' };
    const m = aMachineWith(
      modelCalls([
        plannedCall('q', { executor: 'human', onExpireDefault }),
        gatedCall('g', { executor: 'client', onExpireDefault }),
      ]),
    );
    m.advance(ANSWER_MS).advance(APPROVAL_MS);
    expect(m.all('tool_result').map((event) => event.result)).toMatchObject([
      { status: 'expired', envelope: { ok: true, result: 'no preference' } },
      { status: 'expired', envelope: { ok: false } },
    ]);
  });

  it('has the deadline in its event, and the same one after a trip through JSON (S15)', () => {
    const m = question();
    const [before] = m.effects();
    m.clock.advance(ANSWER_MS / 2);
    m.rollOver();
    expect(m.effects()).toEqual([before]);
    expect(before).toMatchObject({
      type: 'await_deadline',
      deadline: new Date(EPOCH_MS + ANSWER_MS).toISOString(),
    });
    m.advance(ANSWER_MS / 2 - 1);
    expect(m.types()).toEqual(['rolled_over']);
    m.advance(1);
    expect(m.types()).toEqual(['expired', 'tool_result']);
  });

  it('is finite under any plan', promise('A44', 'H23'), () => {
    for (const answerMs of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -5]) {
      const timeouts = { approvalMs: 1, answerMs, runMs: 1 };
      const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human', timeouts })]));
      const waitMs = Date.parse(m.pending[0]!.deadline) - EPOCH_MS;
      expect(waitMs).toBe(answerMs < 0 ? 0 : MAX_WAIT_MS);
    }
  });

  it('ignores a timer that fires twice, too late, for an older deadline, or for no call', () => {
    const m = question();
    m.deadlinePassed('q', '2020-01-01T00:00:00.000Z');
    m.deadlinePassed('nobody');
    m.deadlinePassed('__proto__');
    expect(m.types()).toEqual([]);
    const { deadline } = m.pending[0]!;
    m.deadlinePassed('q', deadline);
    m.deadlinePassed('q', deadline);
    expect(m.types()).toEqual(['expired', 'tool_result']);
  });
});

describe('an answer that meets the deadline (S14)', promise('G47', 'S14'), () => {
  const AT = { deadline: 0, tolerance: 1_000 };
  const cases: [string, { late: number; stamp?: string | number; accepted: boolean }][] = [
    ['comes exactly at the deadline', { late: AT.deadline, accepted: true }],
    ['comes unstamped at the end of the tolerance', { late: AT.tolerance, accepted: true }],
    ['comes unstamped past the tolerance', { late: AT.tolerance + 1, accepted: false }],
    [
      'was stamped in time and comes an hour late, as when no worker ran',
      { late: 3_600_000, stamp: -1, accepted: true },
    ],
    [
      'was stamped at the end of the tolerance',
      { late: 3_600_000, stamp: AT.tolerance, accepted: true },
    ],
    [
      'was stamped past the tolerance',
      { late: 3_600_000, stamp: AT.tolerance + 1, accepted: false },
    ],
    ['was stamped in the future, which is read as now', { late: 500, stamp: 1e9, accepted: true }],
    [
      'was stamped in the future and comes past the tolerance',
      { late: 1_001, stamp: 1e9, accepted: false },
    ],
    [
      'is stamped with garbage, which counts as unstamped',
      { late: 5_000, stamp: 'yesterday', accepted: false },
    ],
    [
      'is stamped with a year only, which counts as unstamped',
      { late: 5_000, stamp: '2020', accepted: false },
    ],
    [
      'is stamped with no offset, which each time zone reads differently',
      { late: 5_000, stamp: '2020-01-01T00:00:00', accepted: false },
    ],
    [
      'is stamped with an offset',
      { late: 5_000, stamp: '2026-03-01T14:00:00+02:00', accepted: true },
    ],
  ];
  for (const [when, { late, stamp, accepted }] of cases)
    it(`and ${when} is ${accepted ? 'accepted' : 'expired'}`, () => {
      const m = question();
      m.clock.advance(ANSWER_MS + late);
      const receivedAt = typeof stamp === 'number' ? m.clock.iso(stamp - late) : stamp;
      const verdict = m.resolve('q', answer('blue'), { receivedAt });
      expect(verdict.verdict).toBe(accepted ? 'accepted' : 'expired');
      m.advance(0);
      expect(m.types()).toEqual(
        accepted ? ['resolution', 'tool_result'] : ['expired', 'tool_result'],
      );
    });

  const orders: [string, (m: MachineUnderTest) => unknown, string][] = [
    ['the answer first', (m) => [m.resolve('q', answer(1)), m.advance(0)], 'resolved'],
    ['the timer first', (m) => [m.advance(0), m.resolve('q', answer(1))], 'expired'],
  ];
  for (const [order, act, status] of orders)
    it(`has one winner when both are there with ${order}`, () => {
      const m = question();
      m.clock.advance(ANSWER_MS);
      act(m);
      expect(m.all('tool_result').map((event) => event.result.status)).toEqual([status]);
      expect(m.effectTypes()).toEqual(['call_model']);
    });

  it('and comes late as a signal finds its call expired first, and is recorded as refused', () => {
    const m = question();
    m.clock.advance(ANSWER_MS + 1_001);
    const resolution: Resolution = answer('blue');
    resolveBySignal(m.machine, { toolCallId: 'q', resolution, requestId: 'late' });
    expect(m.types()).toEqual(['expired', 'tool_result', 'resolution_refused']);
    expect(m.last('resolution_refused')).toMatchObject({
      toolCallId: 'q',
      verdict: 'expired',
      requestId: 'late',
      actor: { verified: false, channel: 'temporal' },
    });
  });

  it('and is an approval in time starts the next phase with its full time', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1', { executor: 'client' })]));
    m.clock.advance(APPROVAL_MS + 30_000);
    m.resolve('c1', APPROVE, { receivedAt: m.clock.iso(-60_000) });
    expect(m.pending[0]?.deadline).toBe(m.clock.iso(ANSWER_MS));
  });
});
