/** Inputs of a part of history that a reset discarded: each is applied as on its arrival, and once. */
import { describe, expect, it } from 'vitest';
import { applyRecoveredInput } from '../../../src/core/machine/machine.js';
import { isSignal, isVerb, VERBS, type VerbName } from '../../../src/core/verbs/table.js';
import { stepIdFor } from '../../../src/protocol/values/ids.js';
import type { Json } from '../../../src/protocol/values/json.js';
import {
  actor,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  turn,
} from '../../support/builders/core-builders.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { claimed, offered } from '../../support/schedules/core-offers.js';

interface Arrival {
  readonly m: MachineUnderTest;
  readonly input: Json;
  readonly records: readonly string[];
}

const by = { requestId: 'request-1', actor: { ...actor('ben') } };

/** A request of each kind that its conversation accepts, and the first events that record it. */
const ARRIVALS: { readonly [Name in VerbName]: () => Arrival } = {
  sendMessage: () => ({
    m: aMachine(),
    input: { text: 'hello', ...by },
    records: ['user_message', 'turn_started'],
  }),
  resolveToolCall: () => ({
    m: aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })])),
    input: { toolCallId: 'c', resolution: { type: 'answer', value: 7 }, ...by },
    records: ['resolution', 'tool_result'],
  }),
  cancelTurn: () => ({
    m: aMachineWith(modelCalls([plannedCall('c')])),
    input: by,
    records: ['cancel_requested', 'tool_result', 'turn_ended'],
  }),
  closeConversation: () => ({ m: aMachine(), input: by, records: ['conversation_closed'] }),
  extendToolCall: () => ({
    m: aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })])),
    input: { toolCallId: 'c', by: MINUTE_MS, ...by },
    records: ['extended'],
  }),
  claimToolCall: () => ({
    m: offered(),
    input: { toolCallId: 'c', ...by },
    records: ['claimed'],
  }),
  leaseLost: () => {
    const m = offered();
    const { claimId, seq } = claimed(m);
    m.mark();
    return { m, input: { toolCallId: 'c', claimId, seq }, records: ['lease_lost'] };
  },
  changeSuspension: () => {
    const call = plannedCall('c', { executor: 'human', answerDefinition: 'sha256:old' });
    const offer = { definition: 'sha256:new', answerSchema: { type: 'string' } };
    return {
      m: aMachineWith(modelCalls([call])),
      input: { toolCallId: 'c', offer },
      records: ['suspension_changed'],
    };
  },
  resolveBatch: () => ({
    m: offered(),
    input: {
      stepId: stepIdFor(turn(1), 1),
      results: [{ toolCallId: 'c', resultJson: '7' }],
      ...by,
    },
    records: ['resolution', 'tool_result'],
  }),
  inboxEvent: () => ({
    m: aMachine(),
    input: { eventId: 'event-1', kind: 'paid', payload: 7, actor: by.actor },
    records: ['inbox_event', 'turn_started'],
  }),
  childEnded: () => {
    const call = plannedCall('c', { executor: 'external', subAgent: { agent: 'other' } });
    const m = aMachineWith(modelCalls([call]));
    const { childId } = m.last('child_changed');
    m.mark();
    const usage = { inputTokens: 1, outputTokens: 1 };
    const end = { status: 'completed', text: 'done', usage };
    return {
      m,
      input: { toolCallId: 'c', childId, end },
      records: ['child_changed', 'tool_result'],
    };
  },
  revokeRule: () => {
    const m = aMachineWith(modelCalls([gatedCall('c')]));
    m.resolve('c', { type: 'approve', remember: { for: 'conversation' } });
    const { ruleId } = m.last('rule_remembered').rule;
    m.mark();
    return { m, input: { ruleId, actor: by.actor }, records: ['rule_revoked'] };
  },
};

const names = Object.keys(VERBS).filter(isVerb);

describe('a recovered', () => {
  for (const name of names)
    it(`${name} is applied as on its arrival, and has no further effect when it is recovered again`, () => {
      const { m, input, records } = ARRIVALS[name]();
      const arrived = ARRIVALS[name]();
      arrived.m.machine.take(name, arrived.input);
      applyRecoveredInput(m.machine, { type: 'input', by: 'update', name, input });
      expect(m.events).toEqual(arrived.m.events);
      applyRecoveredInput(m.machine, { type: 'input', by: 'update', name, input });
      expect(m.types()).toEqual(records);
    });

  for (const name of names)
    it(`signal ${name} is ${isSignal(name) ? 'applied, and dropped when it is recovered again' : 'ignored: requests of this kind come as updates only'}`, () => {
      const { m, input, records } = ARRIVALS[name]();
      for (let times = 0; times < 2; times += 1)
        applyRecoveredInput(m.machine, { type: 'input', by: 'signal', name, input });
      expect(m.types()).toEqual(isSignal(name) ? records : []);
    });

  it('input with an unknown name is ignored', () => {
    const m = aMachine();
    for (const name of ['constructor', '__proto__', 'toString', 'rollOver', 'recover', ''])
      for (const by of ['update', 'signal'] as const)
        applyRecoveredInput(m.machine, { type: 'input', by, name, input: { text: 'hello' } });
    expect(m.types()).toEqual([]);
  });
});
