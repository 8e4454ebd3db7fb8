/** Second, unknown, repeated and late answers: each has one verdict, and none changes anything. */

import { describe, expect, it } from 'vitest';
import {
  ANSWER_MS,
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
import { cancelTurn, closeConversation, resolveBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const open = (): MachineUnderTest =>
  aMachineWith(modelCalls([plannedCall('q', { executor: 'human' }), plannedCall('s')]));

const ends: [string, (m: MachineUnderTest) => unknown, Record<string, unknown>][] = [
  [
    'answered',
    (m) => m.resolve('q', answer('first'), { actor: actor('ben') }),
    { verdict: 'stale', why: 'already_resolved', status: 'resolved', by: 'ben' },
  ],
  [
    'declined',
    (m) => m.resolve('q', { type: 'decline' }, { actor: actor('ben') }),
    { verdict: 'stale', why: 'already_resolved', status: 'errored', by: 'ben' },
  ],
  ['expired', (m) => m.advance(ANSWER_MS), { verdict: 'expired' }],
  [
    'cancelled with its turn',
    (m) => cancelTurn(m.machine, { actor: actor('cleo') }),
    { verdict: 'stale', why: 'already_resolved', status: 'cancelled', by: 'cleo' },
  ],
  [
    'closed with its conversation',
    (m) => closeConversation(m.machine, { actor: actor('dan') }),
    { verdict: 'stale', why: 'already_resolved', status: 'cancelled', by: 'dan' },
  ],
];

describe('a call that has been', () => {
  for (const [how, end, expected] of ends) {
    it(`${how} answers every later resolution with ${String(expected['verdict'])}, and records nothing (S8)`, {
      ...promise('S8', 'A36'),
    }, () => {
      const m = open();
      end(m);
      m.mark();
      expect(m.resolve('q', answer('second'))).toMatchObject(expected);
      expect(m.resolve('q', APPROVE)).toMatchObject(expected);
      expect(m.types()).toEqual([]);
    });

    it(`${how} still does so when its turn is over, after a roll-over and after re-opening`, {
      ...promise('S8'),
    }, () => {
      const m = open();
      end(m);
      if (m.state.turn !== undefined) m.tool('s').model(modelSays('ok'));
      expect(m.resolve('q', answer('second'))).toMatchObject(expected);
      if (!m.state.closed) m.rollOver();
      expect(m.resolve('q', answer('second'))).toMatchObject(expected);
      closeConversation(m.machine);
      m.reopen();
      expect(m.resolve('q', answer('second'))).toMatchObject(expected);
    });
  }
});

describe('a resolution', () => {
  it('of a call that never existed is unknown', promise('S8', 'A36'), () => {
    const m = open();
    for (const callId of ['nobody', '__proto__', 'constructor', 'toString'])
      expect(m.resolve(callId, APPROVE)).toEqual({ verdict: 'unknown', what: 'tool_call' });
    expect(m.types()).toEqual([]);
  });

  it('from the second of two clients is stale, and names the first (S17)', {
    ...promise('S17', 'A52'),
  }, () => {
    const m = aMachineWith(
      modelCalls([plannedCall('c', { executor: 'client' }), plannedCall('s')]),
    );
    expect(m.resolve('c', result('tab one'), { actor: actor('tab-1') })).toMatchObject({
      verdict: 'accepted',
    });
    expect(m.resolve('c', result('tab two'), { actor: actor('tab-2') })).toMatchObject({
      verdict: 'stale',
      by: 'tab-1',
      at: m.clock.iso(),
    });
    expect(m.types()).toEqual(['resolution', 'tool_result']);
  });

  it('sent again under its request id is a duplicate that repeats the first verdict, with any outcome of the call', {
    ...promise('G35', 'A46'),
  }, () => {
    const m = aMachineWith(modelCalls([gatedCall('c1')]));
    const first = m.resolve('c1', APPROVE, { requestId: 'click-1' });
    const again = { verdict: 'duplicate', first };
    expect(m.resolve('c1', APPROVE, { requestId: 'click-1' })).toEqual(again);
    m.tool('c1').model(modelSays('ok')).rollOver();
    expect(m.resolve('c1', APPROVE, { requestId: 'click-1' })).toEqual(again);
    closeConversation(m.machine);
    m.reopen();
    expect(m.resolve('c1', APPROVE, { requestId: 'click-1' })).toEqual(again);
    expect(m.all('resolution')).toHaveLength(1);
  });

  it('may share its request id with a message and with resolutions of other calls', () => {
    const m = aMachine();
    const reply = m.send('go', { requestId: 'job-7' });
    m.model(modelCalls([gatedCall('a'), gatedCall('b')]));
    const first = m.resolve('a', APPROVE, { requestId: 'job-7' });
    expect(first).toMatchObject({ verdict: 'accepted' });
    expect(m.resolve('b', APPROVE, { requestId: 'job-7' })).toMatchObject({ verdict: 'accepted' });
    expect(m.resolve('a', APPROVE, { requestId: 'job-7' })).toEqual({
      verdict: 'duplicate',
      first,
    });
    expect(m.trySend('go', { requestId: 'job-7' })).toMatchObject({
      refusal: { code: 'duplicate', reply },
    });
  });

  it('refused once may be sent again under the same request id', () => {
    const m = open();
    expect(m.resolve('q', APPROVE, { requestId: 'r' })).toMatchObject({
      verdict: 'stale',
      why: 'other_kind',
      openKind: 'elicitation',
    });
    expect(m.resolve('q', answer(1), { requestId: 'r' })).toMatchObject({ verdict: 'accepted' });
  });

  it('of a tool that needs no answer is stale', () => {
    const m = open();
    expect(m.resolve('s', result(1))).toMatchObject({ verdict: 'stale', status: 'running' });
  });
});

describe('a signal sent by hand, with no request id', () => {
  const signal = { toolCallId: 'c1', resolution: { type: 'approve' }, actor: { id: 'ops' } };

  it('approves as an unverified actor', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1')]));
    expect(resolveBySignal(m.machine, signal)).toMatchObject({ verdict: 'accepted' });
    expect(m.last('resolution')).toMatchObject({
      actor: { id: 'ops', verified: false, channel: 'temporal' },
      requestId: expect.stringMatching(/^digest:/) as string,
    });
  });

  it('and sent twice counts once: the second is dropped without a record', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1', { executor: 'client' })]));
    resolveBySignal(m.machine, signal);
    expect(resolveBySignal(m.machine, { ...signal })).toMatchObject({ verdict: 'duplicate' });
    expect(m.types()).toEqual(['resolution', 'suspension']);
  });

  it('by another person is another answer, refused and recorded with its verdict', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1', { executor: 'client' })]));
    resolveBySignal(m.machine, signal);
    m.mark();
    resolveBySignal(m.machine, { ...signal, actor: { id: 'dev' } });
    expect(m.types()).toEqual(['resolution_refused']);
    const { detail, ...refused } = m.last('resolution_refused');
    expect(refused).toMatchObject({ toolCallId: 'c1', verdict: 'stale', actor: { id: 'dev' } });
    expect(JSON.parse(detail)).toMatchObject({ verdict: 'stale', by: 'ops' });
  });

  it('has the same digest in any order of its fields', () => {
    const m = aMachineWith(modelCalls([gatedCall('c1')]));
    resolveBySignal(m.machine, { toolCallId: 'c1', resolution: { type: 'deny', reason: 'no' } });
    expect(
      resolveBySignal(m.machine, { resolution: { reason: 'no', type: 'deny' }, toolCallId: 'c1' }),
    ).toMatchObject({ verdict: 'duplicate' });
  });
});

describe('a roll-over with a pending approval', () => {
  it('changes nothing for the approver (S43)', promise('S43'), () => {
    const m = aMachineWith(modelCalls([gatedCall('c1', { executor: 'client' })]));
    const before = m.pending;
    m.rollOver();
    expect(m.types()).toEqual(['rolled_over']);
    expect(m.pending).toEqual(before);
    expect(m.resolve('c1', APPROVE)).toMatchObject({ verdict: 'accepted' });
    m.rollOver();
    expect(m.resolve('c1', DENY)).toMatchObject({ verdict: 'stale' });
    m.resolve('c1', result(1));
    expect(m.types()).toEqual([
      ...['resolution', 'suspension', 'rolled_over'],
      ...['resolution', 'tool_result'],
    ]);
    m.rollOver().model(modelSays('done'));
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', text: 'done' });
  });
});
