/**
 * A request id names one request: the same content again is a repeat, other content under it is refused and changes
 * nothing.
 */

import { describe, expect, it } from 'vitest';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import {
  APPROVE,
  actor,
  answer,
  DENY,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  result,
  turn,
} from '../../../support/builders/core-builders.js';
import {
  cancelTurn,
  extendToolCall,
  refuseCancel,
  resolveBatch,
  resolveBySignal,
  sendMessageBySignal,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { asks, digestOf, NUMBER } from '../../../support/schedules/core-asks.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const ID = { requestId: 'one' };
const REUSED = {
  verdict: 'invalid',
  problems: [{ path: '/requestId', message: expect.stringContaining('other content') as string }],
};

function unchanged(m: MachineUnderTest, act: () => unknown): unknown {
  const before = m.events.length;
  const outcome = act();
  expect(m.events).toHaveLength(before);
  return outcome;
}

describe('a request id that a call has seen', () => {
  it('does not let the answer to the first question pass for an answer to the second', {
    ...promise('G37'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('c')]));
    asks(m, 'c', NUMBER);
    const first = digestOf(m.pending[0]);
    m.resolve('c', answer(1), { ...first, ...ID });
    asks(m, 'c', NUMBER);
    const second = digestOf(m.pending[0]);
    for (const again of [answer(1), answer(2)])
      expect(unchanged(m, () => m.resolve('c', again, { ...second, ...ID }))).toMatchObject(REUSED);
    expect(m.resolve('c', answer(1), { ...first, ...ID }).verdict).toBe('duplicate');
    expect(m.resolve('c', answer(2), { ...second, requestId: 'two' }).verdict).toBe('accepted');
    expectInvariants(m);
    expectViewsAgree(m.events);
  });

  it('does not let a client take its approval for its result, also over a roll-over', {
    ...promise('G37'),
  }, () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client' })]));
    m.resolve('c', APPROVE, ID);
    m.rollOver();
    expect(unchanged(m, () => m.resolve('c', result(7), ID))).toMatchObject(REUSED);
    expect(m.resolve('c', result(7), { requestId: 'two' }).verdict).toBe('accepted');
  });

  it('refuses other content after the call has ended, too; the same content is a repeat, in any order of its keys', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    m.resolve('q', answer({ a: 1, b: 2 }), ID);
    expect(m.resolve('q', answer({ b: 2, a: 1 }), ID)).toMatchObject({ verdict: 'duplicate' });
    expect(m.resolve('q', answer({ a: 1, b: 3 }), ID)).toMatchObject(REUSED);
    expect(m.resolve('q', { type: 'decline' }, ID)).toMatchObject(REUSED);
  });

  it('may serve for every call once: a job has one id', promise('G37'), () => {
    const m = aMachineWith(modelCalls([gatedCall('a'), gatedCall('b')]));
    expect(m.resolve('a', APPROVE, ID).verdict).toBe('accepted');
    expect(m.resolve('b', DENY, ID).verdict).toBe('accepted');
    expect(m.resolve('b', APPROVE, ID)).toMatchObject(REUSED);
  });

  it('is free again once its answer was reverted', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('q', { executor: 'human', recheckAnswer: true })]),
    );
    m.resolve('q', answer('x'), ID);
    m.checkFails('q');
    expect(m.resolve('q', answer('y'), ID).verdict).toBe('accepted');
  });

  it('leaves the refusal in the log when it came as a signal', () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client' })]));
    m.resolve('c', APPROVE, ID);
    m.mark();
    const input = { toolCallId: 'c', resolution: result(7), actor: actor('ben'), ...ID };
    expect(resolveBySignal(m.machine, input).verdict).toBe('invalid');
    expect(m.types()).toEqual(['resolution_refused']);
  });

  it('refuses a batch of results with other content', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { executor: 'client' })]));
    const send = (resultJson: string) =>
      resolveBatch(m.machine, {
        stepId: stepIdFor(turn(1), 1),
        results: [{ toolCallId: 'c', resultJson }],
        actor: actor('ann'),
        ...ID,
      });
    expect(send('1').verdict).toBe('accepted');
    expect(send('1').verdict).toBe('duplicate');
    expect(unchanged(m, () => send('2'))).toMatchObject({
      verdict: 'invalid',
      faults: REUSED.problems,
    });
  });
});

describe('a request id that a conversation has seen', () => {
  it('does not let a second text pass for the first message', promise('G37'), () => {
    const m = aMachine();
    const { turnId } = m.send('hello', ID);
    expect(m.trySend('hello', ID)).toMatchObject({
      refusal: { code: 'duplicate', reply: { turnId } },
    });
    expect(unchanged(m, () => m.trySend('good bye', ID))).toMatchObject({
      accepted: false,
      refusal: { code: 'invalid_request', problems: REUSED.problems },
    });
    sendMessageBySignal(m.machine, { text: 'good bye', ...ID });
    expect(m.last('message_refused')).toMatchObject({ requestId: 'one', code: 'invalid_request' });
    expectInvariants(m);
  });

  it('stops no other turn than the one that it has stopped', promise('G37'), () => {
    const m = aMachine();
    const { turnId } = m.send('hello');
    const next = m.send('and then?', { onBusy: 'queue' });
    const stop = (input: object) => cancelTurn(m.machine, { actor: actor('ann'), ...ID, ...input });
    expect(stop({ turnId })).toMatchObject({ cancelled: true, turnId });
    for (const input of [{ turnId }, {}])
      expect(unchanged(m, () => stop(input))).toMatchObject({ cancelled: true, turnId });
    const reused = { ...ID, turnId: next.turnId };
    expect(unchanged(m, () => refuseCancel(m.machine, reused))).toMatchObject({
      code: 'invalid_request',
      problems: [{ path: '/requestId' }],
    });
    const other = { turnId: next.turnId, requestId: 'two' };
    expect(stop(other)).toMatchObject({ cancelled: true, turnId: next.turnId });
    expectInvariants(m);
  });

  it('names one move of a deadline', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    const extend = (fields: object) =>
      extendToolCall(m.machine, { toolCallId: 'q', actor: actor('boss'), ...ID, ...fields });
    const moved = extend({ by: MINUTE_MS });
    expect(moved.verdict).toBe('accepted');
    expect(extend({ by: MINUTE_MS })).toEqual({ verdict: 'duplicate', first: moved });
    expect(extend({ until: m.pending[0]?.deadline }).verdict).toBe('duplicate');
    expect(unchanged(m, () => extend({ by: 2 * MINUTE_MS }))).toMatchObject(REUSED);
    expect(extend({ until: '2026-03-01T13:00:00Z' })).toMatchObject(REUSED);
  });
});
