/** Claims: which client runs a call that many may see, and the effects of a lost lease. */

import { describe, expect, it } from 'vitest';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import {
  ANSWER_MS,
  actor,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  modelSays,
  plannedCall,
  result,
  turn,
} from '../../../support/builders/core-builders.js';
import {
  claimToolCall,
  leaseLost,
  refuseClaim,
  refuseLeaseLoss,
  resolveBatch,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';
import {
  claim,
  claimed,
  GRACE_MS,
  iso,
  LEASE_MS,
  lost,
  offered,
  TAB,
} from '../../../support/schedules/core-offers.js';

describe('a claim', () => {
  it('ends the claim timeout, and is shown to readers', promise('S16', 'A51'), () => {
    const m = offered();
    m.advance(5_000);
    const verdict = claimed(m);
    expect(m.types()).toEqual(['claimed']);
    expect(verdict.leaseUntil).toBe(iso(5_000 + LEASE_MS));
    const [entry] = m.pending;
    expect(entry?.claimBy).toBeUndefined();
    expect(entry?.claim).toEqual({
      by: 'ann',
      claimId: verdict.claimId,
      at: iso(5_000),
      leaseMs: LEASE_MS,
      leaseUntil: verdict.leaseUntil,
      seq: verdict.seq,
    });
    m.rollOver().advance(GRACE_MS);
    expect(m.types()).toEqual(['rolled_over']);
    expect(m.pending).toMatchObject([{ claim: { claimId: verdict.claimId } }]);
    expect(m.effectTypes()).toEqual(['await_deadline']);
    expectInvariants(m);
  });

  it('is held by one client: of two tabs of one user the other is refused, and so is its result (S17, A52)', {
    ...promise('G70', 'S17', 'A52'),
  }, () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    const second = claim(m);
    expect(second).toEqual({
      verdict: 'stale',
      why: 'held',
      status: 'awaiting_client',
      by: 'ann',
      at: iso(0),
      until: iso(LEASE_MS),
    });
    expect(refuseClaim(m.machine, { toolCallId: 'c', actor: TAB })).toEqual(second);
    const notHolder = { verdict: 'stale', why: 'not_holder', by: 'ann', at: iso(0) };
    expect(m.resolve('c', result('two'), { actor: TAB })).toMatchObject(notHolder);
    expect(m.resolve('c', result('two'), { actor: TAB, claimId: 'claim_1' })).toMatchObject(
      notHolder,
    );
    expect(m.resolve('c', result('two'), { claimId })).toMatchObject(notHolder);
    expect(m.resolve('c', { type: 'error', message: 'no' })).toMatchObject(notHolder);
    expect(m.events.at(-1)?.seq).toBe(seq);
    expect(m.resolve('c', result('one'), { actor: TAB, claimId }).verdict).toBe('accepted');
    expect(m.last('tool_result').result.envelope).toEqual({ ok: true, result: 'one' });
    expectInvariants(m);
  });

  it('is not required: an unclaimed valid result is accepted', () => {
    const m = offered();
    expect(m.resolve('c', result(1)).verdict).toBe('accepted');
  });

  it('that was never granted has no effect on an unclaimed call', () => {
    const m = offered();
    expect(m.resolve('c', result(1), { claimId: 'claim_9' }).verdict).toBe('accepted');
  });

  it('is renewed by its holder, under the same id; an older loss no longer counts', () => {
    const m = offered();
    const first = claimed(m);
    m.advance(MINUTE_MS);
    const again = claimed(m, { claimId: first.claimId, leaseMs: 2 * MINUTE_MS });
    expect(again).toMatchObject({ claimId: first.claimId, leaseUntil: iso(3 * MINUTE_MS) });
    expect(m.last('claimed')).toMatchObject({ renewal: true });
    expect(m.pending[0]?.claim).toMatchObject({ at: iso(0), seq: again.seq });
    expect(claim(m, { claimId: first.claimId, actor: actor('eve') })).toMatchObject({
      why: 'held',
    });
    expect(lost(m, first.claimId, first.seq)).toMatchObject({ verdict: 'stale' });
    expect(lost(m, first.claimId, again.seq)).toMatchObject({ lost: true });
    expectInvariants(m);
  });

  it('is made once for one request, also after a roll-over', () => {
    const m = offered();
    const first = claim(m, { requestId: 'r' });
    m.rollOver();
    expect(claim(m, { requestId: 'r' })).toEqual({ verdict: 'duplicate', first });
    expect(m.all('claimed')).toHaveLength(1);
  });

  it('is no duplicate for another actor with the same request id: that claim is judged anew', () => {
    const m = offered();
    const first = claim(m, { requestId: 'r' });
    expect(claim(m, { requestId: 'r', actor: actor('eve') })).toMatchObject({
      verdict: 'stale',
      why: 'held',
      by: 'ann',
    });
    m.rollOver();
    expect(claim(m, { requestId: 'r', actor: actor('eve') })).toMatchObject({ why: 'held' });
    expect(claim(m, { requestId: 'r' })).toEqual({ verdict: 'duplicate', first });
  });

  it('that was lost is over: under the same id it is judged anew, and another’s claim stands', () => {
    const m = offered();
    const { claimId, seq } = claimed(m, { requestId: 'r' });
    lost(m, claimId, seq);
    const others = claimed(m, { actor: actor('eve') });
    expect(claim(m, { requestId: 'r' })).toMatchObject({
      verdict: 'stale',
      why: 'held',
      by: 'eve',
    });
    lost(m, others.claimId, others.seq);
    const again = claimed(m, { requestId: 'r' });
    expect(again.claimId).not.toBe(claimId);
    expect(claim(m, { requestId: 'r' })).toMatchObject({ verdict: 'duplicate', first: again });
    expectInvariants(m);
  });

  it('may be renewed any number of times: no other request is forgotten for it', () => {
    const m = offered();
    const { claimId } = claimed(m);
    const before = m.state.requests.length;
    for (let time = 0; time < 50; time += 1) claim(m, { claimId });
    expect(m.state.requests).toHaveLength(before);
  });

  it('that is only a renewal never takes a call whose lease was lost', () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    expect(claim(m, { claimId, renewOnly: true })).toMatchObject({ verdict: 'accepted', claimId });
    lost(m, claimId, seq + 1);
    expect(claim(m, { claimId, renewOnly: true })).toEqual({
      verdict: 'stale',
      why: 'not_holder',
      status: 'awaiting_client',
    });
    expect(claim(m, { claimId })).toMatchObject({ verdict: 'accepted' });
  });

  it('is for actors who may answer', () => {
    const m = offered({ answerAudience: { users: ['boss'] } });
    expect(claim(m)).toMatchObject({ verdict: 'forbidden' });
    expect(claim(m, { actor: actor('boss') })).toMatchObject({ verdict: 'accepted' });
  });

  it('is for programs: approvals and questions are not claimed', () => {
    const gated = aMachineWith(modelCalls([gatedCall('c', { executor: 'client' })]));
    expect(claim(gated)).toMatchObject({
      verdict: 'stale',
      why: 'other_kind',
      openKind: 'approval',
    });
    const asked = aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })]));
    expect(claim(asked)).toMatchObject({ why: 'other_kind', openKind: 'elicitation' });
  });

  it('of an unknown, an ended or an expired call gets that verdict', () => {
    const m = offered();
    expect(claim(m, { toolCallId: 'nobody' })).toEqual({ verdict: 'unknown', what: 'tool_call' });
    m.resolve('c', result(1));
    expect(claim(m)).toMatchObject({ verdict: 'stale', why: 'already_resolved', by: 'ben' });
    m.rollOver();
    expect(claim(m)).toMatchObject({ verdict: 'stale', why: 'already_resolved', by: 'ben' });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a lease of nothing', { leaseMs: 0 }, '/leaseMs'],
    ['a lease of days', { leaseMs: 9e8 }, '/leaseMs'],
    ['a lease in words', { leaseMs: '5m' }, '/leaseMs'],
    ['a bad request id', { requestId: '' }, '/requestId'],
  ])('is refused with %s', (_title, fields, path) => {
    const m = offered();
    expect(claim(m, fields)).toMatchObject({ verdict: 'invalid', problems: [{ path }] });
    expect(m.types()).toEqual([]);
  });

  it('ends with the wait: when its answer is reverted the call is offered anew, without a claim timeout', () => {
    const m = offered({ recheckAnswer: true });
    const { claimId } = claimed(m);
    m.resolve('c', result('bad'), { actor: TAB, claimId });
    m.checkFails('c');
    expect(m.pending).toHaveLength(1);
    expect(m.pending[0]?.claim).toBeUndefined();
    expect(m.pending[0]?.claimBy).toBeUndefined();
    expect(claim(m, { actor: actor('eve') }).verdict).toBe('accepted');
    expectInvariants(m);
  });

  it('does not outlive the deadline: the late result of a held call is accepted from any client, once', () => {
    const m = offered({ executor: 'external', lateResult: 'inbox' });
    claimed(m);
    m.advance(ANSWER_MS);
    m.model(modelSays('it did not come'));
    expect(m.resolve('c', result(7)).verdict).toBe('accepted_late');
    expectInvariants(m);
  });
});

describe('a claim of a call of a batch', () => {
  it('must come with its result; without it the whole batch is refused', () => {
    const m = offered();
    const { claimId } = claimed(m);
    const stepId = stepIdFor(turn(1), 1);
    const send = (more: object) =>
      resolveBatch(m.machine, {
        stepId,
        results: [{ toolCallId: 'c', resultJson: '1', ...more }],
        actor: TAB,
      });
    expect(send({})).toMatchObject({ verdict: 'stale', faults: [{ toolCallId: 'c' }] });
    expect(send({ claimId })).toMatchObject({ verdict: 'accepted' });
    expectInvariants(m);
  });
});

describe('a lost lease', () => {
  it('offers the call again: any client may claim or answer it, the former holder included', () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    expect(lost(m, claimId, seq)).toEqual({ lost: true, seq: seq + 1 });
    expect(m.last('lease_lost')).toMatchObject({ claimId, by: 'ann' });
    expect(m.pending[0]?.claim).toBeUndefined();
    expect(m.effectTypes()).toEqual(['await_deadline']);
    const next = claimed(m, { actor: actor('eve') });
    expect(next.claimId).not.toBe(claimId);
    expect(m.resolve('c', result(1), { actor: TAB, claimId })).toMatchObject({ why: 'not_holder' });
    lost(m, next.claimId, next.seq);
    expect(m.resolve('c', result(1), { actor: TAB, claimId }).verdict).toBe('accepted');
    expectInvariants(m);
  });

  it('is recorded once, and for the claim that it names', () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    lost(m, claimId, seq);
    expect(lost(m, claimId, seq)).toMatchObject({ verdict: 'stale' });
    const next = claimed(m);
    expect(lost(m, claimId, 10_000)).toMatchObject({ verdict: 'stale' });
    expect(m.pending[0]?.claim?.claimId).toBe(next.claimId);
    m.resolve('c', result(1), { actor: TAB, claimId: next.claimId });
    const length = m.events.length;
    expect(lost(m, next.claimId, next.seq)).toMatchObject({ verdict: 'stale' });
    expect(m.events).toHaveLength(length);
  });

  it('starts no second claim timeout: the wait continues to its deadline', () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    lost(m, claimId, seq);
    m.advance(ANSWER_MS - 1);
    expect(m.pending).toHaveLength(1);
    m.advance(1);
    expect(m.last('expired')).not.toHaveProperty('unclaimed');
    expect(m.last('tool_result').result.envelope).toMatchObject({ error: { code: 'expired' } });
  });
});

describe('hostile claims', () => {
  it.each<[unknown]>([
    [null],
    [undefined],
    ['c'],
    [[]],
    [{ toolCallId: 5 }],
    [{ toolCallId: '__proto__' }],
    [{ toolCallId: 'c' }],
    [{ toolCallId: 'c', claimId: null, seq: 99 }],
    [{ toolCallId: 'c', claimId: undefined, seq: Number.NaN }],
  ])('%j throws nothing, and loses no lease', (input) => {
    const m = offered();
    refuseClaim(m.machine, input);
    claimToolCall(m.machine, input);
    const { length } = m.events;
    expect(refuseLeaseLoss(m.machine, input)).toMatchObject({ verdict: 'stale' });
    expect(leaseLost(m.machine, input)).toMatchObject({ verdict: 'stale' });
    expect(m.events).toHaveLength(length);
    expectInvariants(m);
  });
});
