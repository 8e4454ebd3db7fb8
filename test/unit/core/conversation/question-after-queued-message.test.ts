/** A message that is queued already when a call becomes pending for a person does not wait for that person. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import { MAX_DETACHED_CALLS } from '../../../../src/protocol/limits/limits.js';
import { callPlanned } from '../../../support/builders/call-ends.js';
import {
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { sendMessageBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { asks } from '../../../support/schedules/core-asks.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const question = (id = 'q'): PlannedCall => plannedCall(id, { executor: 'human' });

function working(settings: Partial<AgentSettings> = {}): MachineUnderTest {
  const m = aMachine({ settings: { whileWaiting: 'detach', ...settings } });
  m.send('hello');
  return m;
}

function detachedIn(m: MachineUnderTest): readonly string[] {
  expectInvariants(m);
  expectViewsAgree(m.events);
  return m.pending.flatMap(({ toolCallId, detached }) => (detached === true ? [toolCallId] : []));
}

describe('a message that is queued when a question opens', () => {
  it('because the agent queues messages while it works gets its turn when the model has continued without the answer', {
    ...promise('G114'),
  }, () => {
    const m = working({ onBusy: 'queue' });
    expect(m.send('and my order?')).toMatchObject({ turnId: turn(2), ahead: 1 });
    m.model(modelCalls([question(), gatedCall('g')]));
    expect(detachedIn(m)).toEqual(['q', 'g']);
    m.model(modelSays('I have asked'));
    expect(m.last('turn_ended')).toMatchObject({ turnId: turn(1), text: 'I have asked' });
    m.model(modelSays('it is on its way'));
    expect(m.last('turn_ended')).toMatchObject({ turnId: turn(2), text: 'it is on its way' });
    m.rollOver();
    expect(m.resolve('q', answer('red')).verdict).toBe('accepted');
    expect(m.last('turn_started').inbox).toEqual(['tr:q']);
    expect(detachedIn(m)).toEqual(['g']);
  });

  it('because it steers is read at once', promise('G114'), () => {
    const m = working();
    m.model(modelCalls([plannedCall('s')]));
    m.send('quickly', { onBusy: 'steer' });
    asks(m, 's');
    expect(detachedIn(m)).toEqual(['s']);
    expect(m.effectTypes()).toContain('call_model');
    expect(m.state.transcript.at(-1)).toMatchObject({ role: 'user', parts: [{ text: 'quickly' }] });
  });

  it('again, because its answer was reverted, does not wait for the next answer', {
    ...promise('G114'),
  }, () => {
    const m = working();
    m.model(modelCalls([plannedCall('q', { executor: 'human', recheckAnswer: true })]));
    m.resolve('q', answer('x'));
    m.send('wait', { onBusy: 'steer' });
    m.checkFails('q', 'no such order');
    expect(detachedIn(m)).toEqual(['q']);
    expect(m.effectTypes()).toContain('call_model');
  });

  it('in a step whose calls run one after the other waits for none of them', {
    ...promise('G114'),
  }, () => {
    const m = working({ toolExecution: 'sequential' });
    const unplanned = { argumentsJson: '{}' };
    m.model(modelCalls([gatedCall('a'), gatedCall('b', { unplanned }), question('c')]));
    expect(detachedIn(m)).toEqual([]);
    m.send('what does it cost?');
    expect(detachedIn(m)).toEqual(['a']);
    callPlanned(m.machine, 'b', gatedCall('b'));
    expect(detachedIn(m)).toEqual(['a', 'b', 'c']);
    expect(m.effectTypes()).toContain('call_model');
  });
});

describe('a question keeps messages waiting', () => {
  it('where the message itself allows queueing, and no other message of its sender', () => {
    const m = working({ onBusy: 'queue' });
    m.send('in your own time', { onBusy: 'queue' });
    expect(m.last('user_message').onBusy).toBe('queue');
    m.model(modelCalls([question()]));
    m.rollOver();
    expect(detachedIn(m)).toEqual([]);
    m.send('and this is urgent');
    expect(detachedIn(m)).toEqual(['q']);
    m.model(modelSays('yes'));
    expect(m.last('turn_started').turnId).toBe(turn(2));
  });

  it('where the agent blocks', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('hello');
    m.send('and my order?');
    m.model(modelCalls([question()]));
    expect(detachedIn(m)).toEqual([]);
    expect(m.effectTypes()).toEqual(['await_deadline']);
  });

  it('where too many calls are in the background already', () => {
    const m = working({ onBusy: 'queue', maxSteps: 9 });
    const some = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) =>
        plannedCall(`d${from + index}`, { executor: 'external', mode: 'detach' }),
      );
    m.model(modelCalls(some(0, 60)));
    m.model(modelCalls(some(60, MAX_DETACHED_CALLS - 61)));
    m.send('and my order?');
    m.model(modelCalls([question('q'), question('r')]));
    expect(detachedIn(m)).toContain('q');
    expect(detachedIn(m)).not.toContain('r');
    m.resolve('r', answer('red'));
    expect(m.effectTypes()).toContain('call_model');
  });

  it('but not one that interrupts, which stops its turn', () => {
    const m = working({ onBusy: 'queue' });
    m.model(modelCalls([question()]));
    m.send('stop', { onBusy: 'interrupt' });
    expect(m.last('tool_result').result.status).toBe('cancelled');
    expect(m.last('turn_started').turnId).toBe(turn(2));
    expectInvariants(m);
  });
});

describe('a message that was left as a signal', () => {
  const left = { onBusy: 'queue', ifRejected: true };

  it('is answered while a question is open, like any other', promise('G114'), () => {
    const m = working();
    m.model(modelCalls([question()]));
    sendMessageBySignal(m.machine, { text: 'by the way?', requestId: 'r', ...left });
    expect(m.last('user_message').onBusy).toBe('steer');
    expect(detachedIn(m)).toEqual(['q']);
  });

  it('waits where the agent would reject it, until a question opens; else it follows the agent’s setting', () => {
    const m = working();
    sendMessageBySignal(m.machine, { text: 'by the way?', requestId: 'r', ...left });
    expect(m.state.queue).toHaveLength(1);
    m.model(modelCalls([question()]));
    expect(detachedIn(m)).toEqual(['q']);
    const steered = working({ onBusy: 'steer' });
    expect(steered.send('by the way?', left)).toMatchObject({ steers: true });
  });
});
