/** Call ids come from the provider, and may be repeated, empty or of any form (S49, N8). */
import { describe, expect, it } from 'vitest';
import { ConversationMachine, startedState } from '../../../../src/core/machine/machine.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { isUsableCallId } from '../../../../src/protocol/values/ids.js';
import {
  APPROVE,
  conversationStarted,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { sendMessage } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

function callIds(m: MachineUnderTest): readonly string[] {
  return m.all('tool_call').map((event) => event.call.toolCallId);
}

/** Every call of the conversation has one result under its own id, in the transcript and in the log. */
function expectPaired(m: MachineUnderTest): void {
  const ids = callIds(m);
  expect(new Set(ids).size).toBe(ids.length);
  const asked = m.messages.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : [])),
  );
  const answered = m.messages.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === 'tool_result' ? [part.toolCallId] : [])),
  );
  expect(asked).toEqual(ids);
  expect(answered).toEqual(ids);
}

describe('a call id', () => {
  it('repeated within one answer is replaced from the second on, and the log has the original', {
    ...promise('S49', 'N8'),
  }, () => {
    const m = aMachineWith(
      modelCalls([plannedCall('dup'), plannedCall('dup'), plannedCall('dup')]),
    );
    expect(callIds(m)).toEqual(['dup', `call_${turn(1)}_1_2`, `call_${turn(1)}_1_3`]);
    expect(m.all('tool_call').map((event) => event.providerCallId)).toEqual([
      undefined,
      'dup',
      'dup',
    ]);
    for (const callId of callIds(m)) m.tool(callId, callId);
    expectPaired(m);
  });

  it('used in an earlier step, an earlier turn or before a roll-over is replaced', {
    ...promise('G89', 'S49', 'N8'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('c1')]));
    m.tool('c1')
      .model(modelCalls([plannedCall('c1')]))
      .tool(`call_${turn(1)}_2_1`)
      .model(modelSays('ok'));
    m.rollOver();
    m.send('again');
    m.model(modelCalls([plannedCall('c1')])).tool(`call_${turn(2)}_1_1`);
    expect(callIds(m)).toEqual(['c1', `call_${turn(1)}_2_1`, `call_${turn(2)}_1_1`]);
    expectPaired(m);
  });

  it('that cannot stand in a URL or a key is replaced', () => {
    const unusable = ['', ' ', 'a b', 'a/b', 'ü', 'x'.repeat(129), '\ud800', 'a\nb'];
    const m = aMachineWith(modelCalls(unusable.map((callId) => plannedCall(callId))));
    expect(callIds(m)).toEqual(unusable.map((_, index) => `call_${turn(1)}_1_${index + 1}`));
    expect(callIds(m).every(isUsableCallId)).toBe(true);
    expect(m.all('tool_call').map((event) => event.providerCallId)).toEqual(unusable);
  });

  it('that imitates a minted one never makes two calls one', promise('G89'), () => {
    const ours = `call_${turn(1)}_1_2`;
    const m = aMachineWith(
      modelCalls([plannedCall(ours), plannedCall(''), plannedCall(`${ours}_2`)]),
    );
    expect(callIds(m)).toEqual([ours, `${ours}_3`, `${ours}_2`]);
    for (const callId of callIds(m)) m.tool(callId);
    expectPaired(m);

    const guessed = `call_${turn(1)}_2_1`;
    const later = aMachineWith(modelCalls([plannedCall(guessed)]));
    later.tool(guessed).model(modelCalls([plannedCall('')]));
    expect(callIds(later)).toEqual([guessed, `${guessed}_2`]);
  });

  it('may be the name of an object’s property', () => {
    const words = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
    const m = aMachine();
    m.send('go');
    m.model(modelCalls(words.map((word) => gatedCall(word, { executor: 'client' }))));
    expect(callIds(m)).toEqual(words);
    m.rollOver();
    for (const word of words) {
      expect(m.resolve(word, APPROVE)).toMatchObject({ verdict: 'accepted' });
      m.rollOver();
      expect(m.resolve(word, { type: 'result', value: word })).toMatchObject({
        verdict: 'accepted',
      });
      expect(m.resolve(word, APPROVE)).toMatchObject({ verdict: 'stale', status: 'resolved' });
    }
    expect(m.effectTypes()).toEqual(['call_model']);
    expectPaired(m);
  });

  it('is forgotten in the end, and then free again', () => {
    const m = aMachine({ settings: { maxSteps: 500 } });
    m.send('go');
    for (let index = 0; index < 1_005; index += 5) {
      const plans = [1, 2, 3, 4, 5].map((n) =>
        plannedCall(`c${index + n}`, { executor: 'internal' }),
      );
      m.model(modelCalls(plans));
    }
    expect(m.state.tombstones).toHaveLength(1_000);
    expect(m.resolve('c1', APPROVE)).toMatchObject({ verdict: 'unknown' });
    expect(m.resolve('c6', APPROVE)).toMatchObject({ verdict: 'stale' });
    // The transcript still has it, so a second call must not share its id.
    m.model(modelCalls([plannedCall('c1')]));
    expect(m.last('tool_call').providerCallId).toBe('c1');
  });

  it('of a call that is detached stays taken while the call is open', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { executor: 'human', mode: 'detach' })]));
    m.model(modelCalls([plannedCall('c')]));
    expect(m.last('tool_call').providerCallId).toBe('c');
  });

  it('that is short is not trusted once a roll-over has dropped ended calls, nor after a reopening', () => {
    const { state, clock } = aMachine();
    const forgetful = { ...state, forgetsCalls: true as const };
    const reopened = { ...conversationStarted(), reopened: true as const, seq: 2, at: clock.iso() };
    for (const before of [forgetful, startedState(forgetful, reopened)]) {
      const events: CanonicalEvent[] = [];
      const machine = new ConversationMachine({
        state: before,
        now: clock.now,
        onEvent: (event) => events.push(event),
      });
      sendMessage(machine, { text: 'go' });
      const { turnId, step } = machine.state.turn ?? { turnId: '', step: 0 };
      machine.completed({ type: 'call_model', turnId, step }, modelCalls([plannedCall('call_0')]));
      expect(events.find(({ type }) => type === 'tool_call')).toMatchObject({
        providerCallId: 'call_0',
      });
    }
  });
});
