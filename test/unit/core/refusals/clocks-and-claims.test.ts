/** Requests to claim a call, to move its deadline, to offer it anew and to revoke a decision: bounds, texts, verdicts. */
import { describe, expect, it } from 'vitest';
import { isoOf } from '../../../../src/core/state/time.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_LEASE_MS,
  MAX_OFFER_BYTES,
  MIN_LEASE_MS,
} from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import {
  ANSWER_MS,
  actor,
  EPOCH_MS,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import {
  changeSuspension,
  closeConversation,
  extendToolCall,
  revokeRule,
} from '../../../support/builders/verbs.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { claim, claimed, lost, offered } from '../../../support/schedules/core-offers.js';

describe('the lease of a claim', () => {
  const message = `must be a whole number of milliseconds from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}`;

  it.each([
    ['a text', '5000'],
    ['a fraction', MIN_LEASE_MS + 0.5],
    ['too short', MIN_LEASE_MS - 1],
    ['too long', MAX_LEASE_MS + 1],
    ['null', null],
  ])('that is %s is refused by its name', (_, leaseMs) => {
    expect(claim(offered(), { leaseMs })).toEqual({
      verdict: 'invalid',
      problems: [{ path: '/leaseMs', message }],
    });
  });

  it.each([MIN_LEASE_MS, MAX_LEASE_MS])('may be %d', (leaseMs) => {
    const m = offered();
    claimed(m, { leaseMs });
    expect(m.last('claimed')).toMatchObject({ leaseMs });
  });
});

describe('a claim', () => {
  it('of a call that a sub-agent runs is forbidden, and says which', () => {
    const subAgent = { agent: 'researcher', outlives: false };
    const call = plannedCall('c', { executor: 'external', subAgent } as object);
    const m = aMachineWith(modelCalls([call]));
    expect(claim(m)).toEqual({
      verdict: 'forbidden',
      reason: expect.stringContaining('researcher') as string,
    });
  });

  it('has an id of its own, and its loss is of that id and place', () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    expect(claimId).toMatch(new RegExp(`^claim_${m.last('claimed').seq}_[0-9a-z]+$`));
    for (const verdict of [lost(m, 'claim_other', seq), lost(m, claimId, seq - 1)])
      expect(verdict).toEqual({
        verdict: 'stale',
        why: 'already_resolved',
        status: 'awaiting_client',
      });
    expect(lost(m, claimId, seq)).not.toHaveProperty('verdict', 'stale');
    expect(lost(m, claimId, seq)).toMatchObject({ verdict: 'stale', why: 'already_resolved' });
  });

  it('without a request id gets one that no sender uses', () => {
    const m = offered();
    const before = m.state.lastSeq;
    claimed(m, { requestId: undefined });
    expect(m.last('claimed').requestId).toBe(`unnamed:c:${before + 1}`);
  });
});

describe('a move of a deadline', () => {
  const waiting = (): MachineUnderTest =>
    aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })]));
  const moved = (m: MachineUnderTest, fields: object) =>
    extendToolCall(m.machine, { toolCallId: 'c', requestId: 'e', actor: actor('ann'), ...fields });
  const deadline = isoOf(EPOCH_MS + ANSWER_MS);

  it.each([
    ['neither end', {}, '/until', 'either this or "by" must be given'],
    ['both ends', { by: 1, until: deadline }, '/until', 'either this or "by" must be given'],
    [
      'no instant',
      { until: 'tomorrow' },
      '/until',
      'must be an instant such as "2026-01-31T12:00:00Z"',
    ],
    ['a text', { by: '60000' }, '/by', 'must be a positive whole number of milliseconds'],
    ['zero', { by: 0 }, '/by', 'must be a positive whole number of milliseconds'],
    ['a fraction', { by: 1.5 }, '/by', 'must be a positive whole number of milliseconds'],
    [
      'the present deadline',
      { until: deadline },
      '/until',
      `must be after the present deadline, ${deadline}`,
    ],
  ])('by %s is refused by the name of the field', (_, fields, path, message) => {
    const m = waiting();
    expect(moved(m, fields)).toEqual({ verdict: 'invalid', problems: [{ path, message }] });
    expect(m.types()).toEqual([]);
  });

  it('goes as far as its latest end, and no further', () => {
    const m = waiting();
    const refused = moved(m, { by: 400 * 24 * 3_600_000 });
    const problem = refused.verdict === 'invalid' ? refused.problems[0] : undefined;
    const latest = /^the deadline can be moved to (\S+) at most$/.exec(problem?.message ?? '')?.[1];
    expect(problem?.path).toBe('/by');
    expect(moved(m, { until: latest })).toMatchObject({ verdict: 'accepted', deadline: latest });
  });

  it('may be of a millisecond', () => {
    expect(moved(waiting(), { by: 1 })).toMatchObject({
      deadline: isoOf(EPOCH_MS + ANSWER_MS + 1),
    });
  });
});

describe('a new offer of a waiting call', () => {
  const waiting = (): MachineUnderTest =>
    aMachineWith(
      modelCalls([plannedCall('c', { executor: 'human', answerDefinition: 'sha256:old' })]),
    );
  const offer = (m: MachineUnderTest, given: unknown) =>
    changeSuspension(m.machine, { toolCallId: 'c', offer: given });
  const NEW = { definition: 'sha256:new' };
  const base = utf8Bytes(JSON.stringify({ ...NEW, answerSchema: { description: '' } }));
  const ofBytes = (bytes: number) => ({
    ...NEW,
    answerSchema: { description: 'x'.repeat(bytes - base) },
  });

  it.each([
    ['no object', 7],
    ['a name that is no text', { definition: 7 }],
    ['a schema that is no object', { ...NEW, answerSchema: 'string' }],
    ['a schema that is none', { ...NEW, answerSchema: { $ref: '#/nowhere' } }],
    ['a default that is no object', { ...NEW, onExpireDefault: 7 }],
    ['a default without a value', { ...NEW, onExpireDefault: {} }],
    ['one byte too many', ofBytes(MAX_OFFER_BYTES + 1)],
    [
      'too deep',
      {
        ...NEW,
        onExpireDefault: {
          value: Array.from({ length: MAX_ANSWER_DEPTH }).reduce<unknown>((inner) => [inner], 0),
        },
      },
    ],
  ])('with %s is refused', (_, given) => {
    const m = waiting();
    expect(offer(m, given)).toEqual({
      verdict: 'invalid',
      problems: [{ path: '/offer', message: 'is not a valid offer' }],
    });
    expect(m.types()).toEqual([]);
  });

  it.each([
    ['the name alone', NEW],
    ['as many bytes as allowed', ofBytes(MAX_OFFER_BYTES)],
    [
      'all fields',
      {
        ...NEW,
        answerSchema: { type: 'string' },
        recheckAnswer: true,
        recheckOnly: 'unknown_keys',
        onExpireDefault: { value: 'none' },
      },
    ],
  ])('with %s takes its place', (_, given) => {
    const m = waiting();
    expect(offer(m, given)).not.toHaveProperty('verdict');
    expect(m.types()).toEqual(['suspension_changed']);
    expect(m.last('suspension_changed')).toMatchObject({ toolCallId: 'c', offer: given });
  });

  it('leaves out fields that have another form', () => {
    const m = waiting();
    offer(m, { ...NEW, recheckAnswer: 'yes', recheckOnly: 'some', other: 1 });
    expect(m.last('suspension_changed').offer).toEqual(NEW);
  });

  it('of a call that is not known, of one without a pinned form, and of one in place is refused', () => {
    const m = waiting();
    expect(changeSuspension(m.machine, { toolCallId: 'x', offer: NEW })).toEqual({
      verdict: 'unknown',
      what: 'tool_call',
    });
    expect(offer(m, { definition: 'sha256:old' })).toMatchObject({
      verdict: 'stale',
      why: 'already_resolved',
    });
    const gated = aMachineWith(modelCalls([gatedCall('c')]));
    expect(offer(gated, NEW)).toMatchObject({ verdict: 'stale', why: 'other_kind' });
  });
});

describe('a revocation', () => {
  const remembered = (): MachineUnderTest => {
    const m = aMachineWith(modelCalls([gatedCall('c'), gatedCall('d', { name: 'other.tool' })]));
    for (const id of ['c', 'd'])
      m.resolve(id, { type: 'deny', remember: { for: 'conversation' } } as never, {
        requestId: `r-${id}`,
      });
    m.model(modelSays('done')).mark();
    return m;
  };
  const rulesOf = (m: MachineUnderTest) => (m.state.rules ?? []).map(({ ruleId }) => ruleId);

  it.each([undefined, 7, ''])('of %s needs the id of a decision', (ruleId) => {
    const message = 'must be a non-empty string';
    expect(revokeRule(remembered().machine, { ruleId, actor: actor('ann') })).toEqual({
      accepted: false,
      refusal: {
        code: 'invalid_request',
        message,
        problems: [{ path: '/ruleId', message }],
      },
    });
  });

  it('is of one decision that is remembered', () => {
    const m = remembered();
    const [first = '', second = ''] = rulesOf(m);
    expect(revokeRule(m.machine, { ruleId: second, actor: actor('ann') })).toMatchObject({
      accepted: true,
    });
    expect(rulesOf(m)).toEqual([first]);
    expect(revokeRule(m.machine, { ruleId: second, actor: actor('ann') })).toMatchObject({
      refusal: { code: 'unknown_rule', message: `No rule "${second}"` },
    });
    const long = 'r'.repeat(300);
    expect(revokeRule(m.machine, { ruleId: long, actor: actor('ann') })).toMatchObject({
      refusal: { message: `No rule "${long.slice(0, 200)}"` },
    });
    closeConversation(m.machine);
    expect(revokeRule(m.machine, { ruleId: first, actor: actor('ann') })).toMatchObject({
      refusal: { code: 'conversation_closed' },
    });
    expect(rulesOf(m)).toEqual([first]);
  });
});
