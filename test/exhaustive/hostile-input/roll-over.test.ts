/**
 * A roll-over at the worst moment: between any two inputs, twice in a row, and with the worker lost on the way. Only
 * the log may change. The other tables of this kind show that every single input has the same effect after a
 * roll-over.
 */

import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import { toolLost } from '../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  resolve,
  sendMessage,
  takeInboxEvent,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';

type Over = Parameters<typeof plannedCall>[1];
const step = (...calls: ReturnType<typeof plannedCall>[]): MachineUnderTest =>
  aMachineWith(modelCalls(calls));
const calling = (over: Over = {}) => step(plannedCall('c', over), plannedCall('other'));
const after = (m: MachineUnderTest, resolution: Resolution): MachineUnderTest => {
  m.resolve('c', resolution, { requestId: 'first' });
  return m;
};
const speaking = (): MachineUnderTest => {
  const m = aMachine();
  m.send('hello');
  return m;
};
const lost = { timedOut: false, message: 'the worker was lost' };
const losing = (over: Over): MachineUnderTest => {
  const m = calling({ effects: 'once', ...over });
  toolLost(m.machine, 'c', lost);
  return m;
};

const STATES: readonly [string, () => MachineUnderTest][] = [
  ['never spoke', () => aMachine()],
  ['is idle', () => speaking().model(modelSays('done'))],
  ['waits for its model', speaking],
  [
    'is being stopped',
    () => {
      const m = speaking();
      cancelTurn(m.machine, { requestId: 'stop' });
      return m;
    },
  ],
  [
    'has a queue, a steering message and an inbox',
    () => {
      const m = speaking();
      m.trySend('next', { onBusy: 'queue' });
      m.trySend('and', { onBusy: 'steer' });
      takeInboxEvent(m.machine, { eventId: 'e', kind: 'news', payload: 1 });
      return m;
    },
  ],
  ['runs a tool', () => calling()],
  ['has half of its results', () => calling({ executor: 'human' }).tool('other')],
  ['has a call that is being shaped', () => calling({ executor: 'client', preflight: true })],
  ['waits for an approval', () => step(gatedCall('c'), plannedCall('other'))],
  [
    'checks an edit',
    () => after(step(gatedCall('c')), { type: 'approve', input: { edited: true } }),
  ],
  ['is between two phases', () => after(step(gatedCall('c', { executor: 'client' })), APPROVE)],
  [
    'checks an answer',
    () => after(calling({ executor: 'human', recheckAnswer: true }), answer('yes')),
  ],
  [
    'has taken an answer back',
    () => after(calling({ executor: 'human', recheckAnswer: true }), answer('yes')).checkFails('c'),
  ],
  ['asks what a lost run did', () => losing({ reconcile: true })],
  ['holds an unknown outcome', () => losing({ onOutcomeUnknown: 'hold' })],
  [
    'has a detached call',
    () => calling({ executor: 'external', mode: 'detach' }).tool('other').model(modelSays('asked')),
  ],
  [
    'takes a late result',
    () => calling({ executor: 'external', lateResult: 'inbox' }).advance(ANSWER_MS),
  ],
  [
    'remembers a decision',
    () => after(step(gatedCall('c')), { type: 'deny', remember: { for: 'conversation' } }),
  ],
];

/** The state for readers and drivers, without the position of the log. */
function seenOf(m: MachineUnderTest): unknown {
  const { seq: _seq, updatedAt: _at, ...snapshot } = snapshotOf(m.state);
  return { snapshot, effects: m.effects(), transcript: m.state.transcript };
}

describe.each(STATES)('a conversation that %s', (_name, build) => {
  const ways: readonly [string, (m: MachineUnderTest) => void, number][] = [
    ['rolls over', (m) => m.rollOver(), 1],
    ['rolls over three times in a row', (m) => m.rollOver().rollOver().rollOver(), 3],
    ['loses its worker before and after', (m) => m.restart().rollOver().restart(), 1],
  ];
  it.each(ways)('%s, and only the log has changed', promise('G129'), (_way, change, times) => {
    const m = build();
    const before = seenOf(m);
    m.mark();
    change(m);
    expect(m.types()).toEqual(Array.from({ length: times }, () => 'rolled_over'));
    expect(seenOf(m)).toEqual(before);
    expectInvariants(m);
  });

  it('gives repeats of accepted requests the same replies as before', () => {
    const m = build();
    const resolution = m.all('resolution').find(({ requestId }) => requestId === 'first');
    const reverted = m.all('resolution_reverted').length > 0;
    const [message] = m.all('user_message');
    m.rollOver().mark();
    if (resolution !== undefined && !reverted)
      expect(resolve(m.machine, resolution)).toMatchObject({
        verdict: 'duplicate',
        first: { seq: resolution.seq },
      });
    if (message !== undefined)
      expect(sendMessage(m.machine, { text: 'hello', requestId: message.requestId })).toMatchObject(
        {
          accepted: false,
          refusal: { code: 'duplicate', reply: { turnId: message.turnId } },
        },
      );
    expect(m.types()).toEqual([]);
  });

  it('comes to the same end as without a roll-over', () => {
    const ends = [build(), build().rollOver()].map((m) => {
      closeConversation(m.machine);
      m.resolve('c', result('too late'));
      expectInvariants(m);
      return m.events.filter(({ type }) => type !== 'rolled_over').map(({ type }) => type);
    });
    expect(ends[1]).toEqual(ends[0]);
  });
});
