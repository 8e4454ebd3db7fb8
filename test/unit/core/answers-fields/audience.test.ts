/** Actors who may resolve a call: inside and outside its audience, in the order of the verdicts. */

import { describe, expect, it } from 'vitest';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import type { Audience } from '../../../../src/protocol/values/audience.js';
import {
  APPROVE,
  actor,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { resolveBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const gatedFor = (audience: Audience): MachineUnderTest =>
  aMachineWith(modelCalls([gatedCall('c', { approval: { needed: true, audience } })]));

/**
 * Ann's turn is over; Cat's message joined the turn after it had made a detached call, which none of its requesters
 * may approve.
 */
function joinedByCat(): MachineUnderTest {
  const m = aMachine();
  m.send('hello');
  const approval = { needed: true as const, audience: { exclude: ['requester'] } };
  const first = plannedCall('first');
  m.model(modelCalls([first, gatedCall('c', { mode: 'detach', approval })]));
  m.send('and refund it', { actor: actor('cat'), onBusy: 'steer' });
  return m.tool('first').model(modelSays('done'));
}

const verdictsOf = (m: MachineUnderTest, ...approvers: readonly string[]): readonly string[] =>
  approvers.map((id) => m.resolve('c', APPROVE, { actor: actor(id) }).verdict);

describe('an approval with an audience', () => {
  const admits: [string, Audience, ReturnType<typeof actor>, boolean][] = [
    ['a named user', { users: ['ben'] }, actor('ben'), true],
    ['another actor', { users: ['ben'] }, actor('eve'), false],
    ['a role', { roles: ['lead'] }, actor('x', { roles: ['dev', 'lead'] }), true],
    ['another role', { roles: ['lead'] }, actor('x', { roles: ['dev'] }), false],
    ['no role at all', { roles: ['lead'] }, actor('lead'), false],
    ['a user beside roles', { users: ['ben'], roles: ['lead'] }, actor('ben'), true],
    ['an empty list', { users: [] }, actor('ben'), false],
    ['everybody but one', { exclude: ['ben'] }, actor('eve'), true],
    ['the one', { exclude: ['ben'] }, actor('ben'), false],
    [
      'a named user who is excluded',
      { users: ['a', 'ben'], exclude: ['ben'] },
      actor('ben'),
      false,
    ],
    ['the requester', { exclude: ['requester'] }, actor('ann'), false],
    ['a user of the name "requester"', { exclude: ['requester'] }, actor('ben'), true],
    ['an unverified actor', { requireVerified: true }, actor('ben', { verified: false }), false],
    ['a verified actor', { requireVerified: true }, actor('ben'), true],
    ['one in one of two', { users: ['ben'], also: [{ roles: ['lead'] }] }, actor('ben'), false],
    [
      'one in both of two',
      { users: ['ben'], also: [{ roles: ['lead'] }] },
      actor('ben', { roles: ['lead'] }),
      true,
    ],
  ];
  it.each(admits)('%s', (_title, audience, who, isAdmitted) => {
    const m = gatedFor(audience);
    expect(m.pending).toMatchObject([{ audience }]);
    for (const resolution of [APPROVE, DENY]) {
      const again = gatedFor(audience);
      const { verdict } = again.resolve('c', resolution, { actor: who });
      expect(verdict).toBe(isAdmitted ? 'accepted' : 'forbidden');
      if (!isAdmitted) expect(again.types()).toEqual([]);
    }
  });

  it('also excludes the senders of messages that joined the turn, where requesters are excluded', {
    ...promise('G67'),
  }, () => {
    const m = aMachine();
    m.send('hello');
    m.send('and refund it', { actor: actor('cat'), onBusy: 'steer' });
    m.model(modelCalls([plannedCall('first')])).tool('first');
    const approval = { needed: true as const, audience: { exclude: ['requester'] } };
    m.model(modelCalls([gatedCall('c', { approval })]));
    m.rollOver();
    expect(verdictsOf(m, 'cat', 'ann', 'ben')).toEqual(['forbidden', 'forbidden', 'accepted']);
  });

  it('excludes the senders of messages that joined the turn of a detached call at any time, also when the turn is over', {
    ...promise('G67'),
  }, () => {
    const m = joinedByCat();
    m.rollOver();
    expect(m.last('turn_ended').status).toBe('completed');
    expect(verdictsOf(m, 'cat', 'ann', 'ben')).toEqual(['forbidden', 'forbidden', 'accepted']);
  });

  it('knows the actors who joined after a detached call was made', () => {
    const m = joinedByCat();
    expect(verdictsOf(m, 'cat')).toEqual(['forbidden']);
  });

  it('is checked after unknown and duplicate, and before everything else', {
    ...promise('G67'),
  }, () => {
    const m = gatedFor({ users: ['ben'] });
    const eve = { actor: actor('eve') };
    expect(m.resolve('other', APPROVE, eve).verdict).toBe('unknown');
    const wrong = [
      { type: 'yes' },
      { type: 'approve', note: 1 },
      null,
      { type: 'result', value: 1 },
    ];
    const verdicts = wrong.map((it) => m.resolve('c', it as unknown as Resolution, eve).verdict);
    expect(verdicts).toEqual(['forbidden', 'forbidden', 'forbidden', 'stale']);
    expect(m.resolve('c', APPROVE, { ...eve, argsDigest: 'sha256:0' }).verdict).toBe('forbidden');
    m.clock.advance(10 * 24 * 60 * 60_000);
    const late = { receivedAt: m.clock.iso() };
    expect(m.resolve('c', APPROVE, { ...eve, ...late }).verdict).toBe('forbidden');
    expect(m.resolve('c', APPROVE, late).verdict).toBe('expired');
    m.clock.advance(-10 * 24 * 60 * 60_000);
    expect(m.resolve('c', APPROVE, { requestId: 'r1' }).verdict).toBe('accepted');
    expect(m.resolve('c', APPROVE, { ...eve, requestId: 'r1' }).verdict).toBe('duplicate');
    expect(m.resolve('c', APPROVE, eve).verdict).toBe('forbidden');
    expect(m.resolve('c', APPROVE).verdict).toBe('stale');
  });

  it('holds for signals, whose refusal is in the log; a raw signal may claim a name, but no verification', {
    ...promise('G67'),
  }, () => {
    const m = gatedFor({ users: ['ben'], requireVerified: true });
    resolveBySignal(m.machine, { toolCallId: 'c', resolution: APPROVE, actor: { id: 'ben' } });
    resolveBySignal(m.machine, { toolCallId: 'c', resolution: APPROVE });
    expect(m.types()).toEqual(['resolution_refused', 'resolution_refused']);
    expect(m.last('resolution_refused')).toMatchObject({ verdict: 'forbidden' });
    expect(m.pending).toHaveLength(1);
  });

  it('does not delay its expiry, whose actor is the system', () => {
    const m = gatedFor({ users: ['nobody'] });
    m.advance(2 * 60 * 60_000);
    expect(m.last('tool_result').result).toMatchObject({
      status: 'expired',
      actor: { id: 'system' },
    });
  });
});

describe('an answer with an audience', () => {
  const audience: Audience = { roles: ['clerk'] };
  const clerk = { actor: actor('cleo', { roles: ['clerk'] }) };

  it.each([
    ['human', answer(1)],
    ['client', result(1)],
    ['external', result(1)],
  ] as const)('is accepted from that audience alone: %s', (executor, resolution) => {
    const m = aMachineWith(modelCalls([plannedCall('c', { executor, answerAudience: audience })]));
    expect(m.pending).toMatchObject([{ audience }]);
    expect(m.resolve('c', resolution).verdict).toBe('forbidden');
    expect(m.resolve('c', resolution, clerk).verdict).toBe('accepted');
  });

  it('does not affect who approves the call, and the approval’s audience does not affect who answers', {
    ...promise('A23'),
  }, () => {
    const approval = { needed: true as const, audience: { users: ['boss'] } };
    const plan = { executor: 'client' as const, approval, answerAudience: audience };
    const m = aMachineWith(modelCalls([gatedCall('c', plan)]));
    expect(m.resolve('c', APPROVE, clerk).verdict).toBe('forbidden');
    expect(m.resolve('c', APPROVE, { actor: actor('boss') }).verdict).toBe('accepted');
    expect(m.pending).toMatchObject([{ kind: 'client_execution', audience }]);
    expect(m.resolve('c', result(1), { actor: actor('boss') }).verdict).toBe('forbidden');
    expect(m.resolve('c', APPROVE, { actor: actor('boss') }).verdict).toBe('stale');
    expect(m.resolve('c', APPROVE, clerk).verdict).toBe('forbidden');
    expect(m.resolve('c', result(1), clerk).verdict).toBe('accepted');
  });
});
