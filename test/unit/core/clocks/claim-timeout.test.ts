/** A call that no client claims: the claim timeout, and its effects. */

import { describe, expect, it } from 'vitest';
import { LATE_TOLERANCE_MS } from '../../../../src/protocol/limits/limits.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  APPROVE,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  modelSays,
  result,
} from '../../../support/builders/core-builders.js';
import { extendToolCall } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';
import {
  claim,
  clocks,
  GRACE_MS,
  iso,
  offered,
  TAB,
} from '../../../support/schedules/core-offers.js';

describe('a call that no client claims', () => {
  it('ends when its claim timeout is over, with a text that names the tool and the timeout (S16, A51)', {
    ...promise('G69', 'S16', 'A51'),
  }, () => {
    const m = offered();
    expect(m.pending).toMatchObject([{ claimBy: iso(GRACE_MS), deadline: iso(ANSWER_MS) }]);
    expect(m.effectTypes()).toEqual(['await_claim']);
    m.advance(GRACE_MS);
    expect(m.types()).toEqual(['expired', 'tool_result']);
    expect(m.last('expired')).toMatchObject({ unclaimed: true, deadline: iso(GRACE_MS) });
    expect(m.last('tool_result').result).toMatchObject({
      status: 'expired',
      actor: { id: 'system' },
      envelope: {
        ok: false,
        error: {
          code: 'unclaimed',
          message:
            'No client is available to run tool "client.tool": none took the call within 15000ms; it did not run',
        },
      },
    });
    m.model(modelSays('no client was there'));
    expect(claim(m)).toEqual({ verdict: 'expired', deadline: iso(GRACE_MS) });
    expect(m.resolve('c', result(1))).toEqual({ verdict: 'expired', deadline: iso(GRACE_MS) });
    expectInvariants(m);
  });

  it('has its claim timeout from the start of its client phase, not while it waits for an approval', () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client', timeouts: clocks })]));
    expect(m.pending[0]?.claimBy).toBeUndefined();
    m.advance(APPROVAL_MS / 2);
    m.resolve('c', APPROVE);
    expect(m.pending).toMatchObject([{ claimBy: iso(APPROVAL_MS / 2 + GRACE_MS) }]);
    m.rollOver().advance(GRACE_MS);
    expect(m.last('expired')).toMatchObject({ kind: 'client_execution', unclaimed: true });
    expectInvariants(m);
  });

  it('gives the default answer where the tool has one', () => {
    const m = offered({ onExpireDefault: { value: [] } });
    m.advance(GRACE_MS);
    expect(m.last('tool_result').result.envelope).toEqual({ ok: true, result: [] });
  });

  it('accepts a late result where the tool allows late results', () => {
    const m = offered({ executor: 'external', lateResult: 'inbox' });
    m.advance(GRACE_MS);
    m.model(modelSays('nobody'));
    expect(m.resolve('c', result(7)).verdict).toBe('accepted_late');
    expect(m.last('inbox_event')).toMatchObject({ eventId: 'tr:c' });
    expectInvariants(m);
  });

  it('keeps its claim timeout when its deadline is moved or announced', () => {
    const m = offered({ warnBeforeMs: ANSWER_MS - 1_000 });
    m.advance(1_000);
    expect(m.types()).toEqual(['suspension_expiring']);
    extendToolCall(m.machine, { toolCallId: 'c', by: MINUTE_MS, actor: TAB });
    expect(m.pending).toMatchObject([{ claimBy: iso(GRACE_MS) }]);
    m.advance(GRACE_MS);
    expect(m.last('expired')).toMatchObject({ unclaimed: true });
  });

  it('needs no second timer where the claim timeout is the whole wait', () => {
    const m = offered({ timeouts: { ...clocks, claimMs: ANSWER_MS } });
    expect(m.effectTypes()).toEqual(['await_deadline']);
    m.advance(ANSWER_MS);
    expect(m.last('expired')).toMatchObject({ unclaimed: true, deadline: iso(ANSWER_MS) });
  });

  it('accepts an answer that came in time, though the timer is behind', () => {
    const m = offered();
    m.clock.advance(2 * GRACE_MS);
    const late = m.resolve('c', result(1), { receivedAt: iso(GRACE_MS + 5_000) });
    expect(late).toEqual({ verdict: 'expired', deadline: iso(GRACE_MS) });
    expect(claim(m).verdict).toBe('expired');
    const inTime = m.resolve('c', result(1), { receivedAt: iso(GRACE_MS) });
    expect(inTime.verdict).toBe('accepted');
  });

  it('may be claimed by a client that came in time, though the timer is behind', () => {
    const m = offered();
    m.clock.advance(2 * GRACE_MS);
    const latest = GRACE_MS + LATE_TOLERANCE_MS;
    expect(claim(m, { receivedAt: iso(latest + 1) }).verdict).toBe('expired');
    expect(claim(m, { receivedAt: iso(latest) }).verdict).toBe('accepted');
  });

  it('of an old plan waits for its answer without a claim timeout', () => {
    const { claimMs: _none, ...old } = clocks;
    const m = offered({ timeouts: old });
    expect(m.effectTypes()).toEqual(['await_deadline']);
    m.advance(ANSWER_MS);
    expect(m.last('tool_result').result.envelope).toMatchObject({ error: { code: 'expired' } });
    expect(m.last('expired')).not.toHaveProperty('unclaimed');
  });
});
