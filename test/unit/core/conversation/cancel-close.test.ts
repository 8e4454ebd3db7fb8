/** Stopping a turn in each of its phases, closing a conversation. */

import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import { MAX_RECORDED_REFUSALS } from '../../../../src/protocol/limits/limits.js';
import { answerChecked } from '../../../support/builders/call-ends.js';
import {
  actor,
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import {
  cancelBySignal,
  cancelTurn,
  closeConversation,
  refuseCancel,
  resolveBySignal,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const CANCELLED = {
  status: 'cancelled',
  envelope: { ok: false, error: { code: 'cancelled', message: '[cancelled]' } },
};

describe('cancelling (S41)', () => {
  it('an idle conversation is no error and records nothing', promise('S41'), () => {
    const m = aMachine();
    expect(cancelTurn(m.machine, {})).toEqual({ cancelled: false });
    expect(cancelTurn(m.machine, { turnId: 'turn_other_1' })).toEqual({ cancelled: false });
    expect(m.types()).toEqual([]);
  });

  it('while the model streams aborts the call first, and keeps the text that has come', {
    ...promise('S41'),
  }, () => {
    const m = aMachine();
    m.send('tell me a story');
    m.mark();
    expect(cancelTurn(m.machine, { actor: actor('cleo'), reason: 'boring' })).toEqual({
      cancelled: true,
      turnId: turn(1),
      seq: 4,
    });
    expect(cancelTurn(m.machine, {})).toEqual({ cancelled: true, turnId: turn(1) });
    expect(m.types()).toEqual(['cancel_requested']);
    expect(m.last('cancel_requested')).toMatchObject({ actor: { id: 'cleo' }, reason: 'boring' });
    expect(m.effects()).toEqual([{ type: 'abort_model', turnId: turn(1), step: 1 }]);

    const calls = modelCalls([gatedCall('never')], 'Once upon');
    const item = { type: 'provider_item' as const, provider: 'openai', item: { id: 'rs_1' } };
    m.model({ ...calls, parts: [item, ...calls.parts], aborted: true });
    expect(m.types()).toEqual(['model_call', 'assistant_message', 'turn_ended']);
    expect(m.last('assistant_message')).toMatchObject({
      partial: true,
      parts: [{ type: 'text', text: 'Once upon' }],
    });
    expect(m.last('turn_ended')).toMatchObject({
      status: 'cancelled',
      reason: 'cancelled',
      text: 'Once upon',
    });
    expect(m.pending).toEqual([]);
  });

  it('while the model streams drops the calls of an answer that was complete before the stop reached it', () => {
    const m = aMachine();
    m.send('go');
    cancelTurn(m.machine, {});
    m.mark();
    m.model(modelCalls([plannedCall('never'), gatedCall('nor this')], 'I will'));
    expect(m.types()).toEqual(['model_call', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({ status: 'cancelled', text: 'I will' });
    expect(m.last('assistant_message').parts).toEqual([{ type: 'text', text: 'I will' }]);
  });

  it('while the model streams may find that no text had come, or that the call has failed', {
    ...promise('S41'),
  }, () => {
    for (const end of [
      (m: MachineUnderTest) => m.modelAborted(m.state.turn!),
      (m: MachineUnderTest) => m.modelFails(),
    ]) {
      const m = aMachine();
      m.send('go');
      cancelTurn(m.machine, {});
      m.mark();
      end(m);
      expect(m.types()).toEqual(['turn_ended']);
      expect(m.last('turn_ended')).toMatchObject({ status: 'cancelled', text: '' });
    }
  });

  it('while tools run and people are asked gives every open call its one result, in order', {
    ...promise('S41'),
  }, () => {
    const m = aMachineWith(
      modelCalls(
        [
          plannedCall('s'),
          gatedCall('g'),
          plannedCall('q', { executor: 'human' }),
          plannedCall('t'),
        ],
        'hm',
      ),
    );
    m.tool('t', 'kept');
    m.mark();
    cancelTurn(m.machine, { turnId: turn(1), actor: actor('cleo') });
    expect(m.types()).toEqual([
      'cancel_requested',
      'tool_result',
      'tool_result',
      'tool_result',
      'turn_ended',
    ]);
    expect(m.all('tool_result').slice(1)).toMatchObject([
      { toolCallId: 's', result: { ...CANCELLED, actor: { id: 'cleo' } } },
      { toolCallId: 'g', result: CANCELLED },
      { toolCallId: 'q', result: CANCELLED },
    ]);
    expect(m.state.transcript.at(-1)).toMatchObject({
      role: 'tool',
      parts: [
        { toolCallId: 's' },
        { toolCallId: 'g' },
        { toolCallId: 'q' },
        { toolCallId: 't', envelope: { result: 'kept' } },
      ],
    });
    expect(m.last('turn_ended')).toMatchObject({ status: 'cancelled', text: 'hm' });
    expect(m.effects()).toEqual([]);
    m.tool('s', 'too late');
    expect(m.types()).toEqual([]);
  });

  it('while an answer is being checked ends the call, and the check’s outcome is dropped', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('q', { executor: 'human', recheckAnswer: true })]),
    );
    m.resolve('q', answer(1), { requestId: 'r' });
    cancelTurn(m.machine, {});
    m.mark();
    answerChecked(m.machine, { toolCallId: 'q', requestId: 'r' }, { ok: true, value: 1 });
    expect(m.types()).toEqual([]);
    expect(m.all('tool_result')).toHaveLength(1);
  });

  it('a queued turn ends only that turn: the running one continues', () => {
    for (const phase of ['model', 'tools']) {
      const m = aMachine({ settings: { onBusy: 'queue' } });
      m.send('one');
      if (phase === 'tools') m.model(modelCalls([plannedCall('s')]));
      m.send('two');
      m.send('three');
      m.mark();
      expect(cancelTurn(m.machine, { turnId: turn(2) })).toMatchObject({
        cancelled: true,
        turnId: turn(2),
      });
      expect(m.types()).toEqual(['cancel_requested', 'turn_ended']);
      expect(m.last('turn_ended')).toMatchObject({
        turnId: turn(2),
        status: 'cancelled',
        steps: 0,
      });
      expect(cancelTurn(m.machine, { turnId: turn(2) })).toEqual({ cancelled: false });
      if (phase === 'tools') m.tool('s');
      expect(m.effectTypes()).toEqual(['call_model']);
      m.model(modelSays('one'));
      expect(m.last('turn_ended')).toMatchObject({ turnId: turn(1), status: 'completed' });
      expect(m.state.turn?.turnId).toBe(turn(3));
    }
  });

  it('the running turn starts the next queued one', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('one');
    m.model(modelCalls([plannedCall('q', { executor: 'human' })]));
    m.send('two');
    m.mark();
    cancelTurn(m.machine, {});
    expect(m.types()).toEqual(['cancel_requested', 'tool_result', 'turn_ended', 'turn_started']);
    expect(m.state.turn).toMatchObject({ turnId: turn(2), phase: 'model' });
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('with an unknown turn stops nothing', () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    for (const input of [{ turnId: '' }, { turnId: 'x' }])
      expect(cancelTurn(m.machine, input)).toEqual({ cancelled: false });
    expect(cancelTurn(m.machine, undefined)).toMatchObject({ cancelled: true });
  });

  it.each([
    ['a number as turn', { turnId: 1 }, '/turnId must be a text'],
    ['null as turn', { turnId: null }, '/turnId must be a text'],
    [
      'a payload of another codec',
      '__colloquy_undecodable_payload__',
      'the cancel is invalid:  must be an object',
    ],
    ['a number', 7, 'the cancel is invalid:  must be an object'],
  ])('with %s stops nothing, and says so: as a signal in the log', promise('G258'), (...row) => {
    const [, input, message] = row;
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    const refused = {
      code: 'invalid_request',
      message: expect.stringContaining(message) as string,
    };
    expect(refuseCancel(m.machine, input)).toEqual(refused);
    m.types();
    expect(cancelBySignal(m.machine, input)).toEqual(refused);
    expect(m.types()).toEqual(['message_refused']);
    expect(m.last('message_refused')).toMatchObject({ request: 'cancel', code: 'invalid_request' });
  });

  it('as signals that are all unreadable leave a few events', promise('G29'), () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    for (let n = 0; n < 100; n += 1) cancelBySignal(m.machine, n);
    expect(m.all('message_refused')).toHaveLength(MAX_RECORDED_REFUSALS);
  });
});

const phases: [string, () => MachineUnderTest][] = [
  ['idle', () => aMachine()],
  ['waiting for the model', () => (({ m }) => (m.send('go'), m))({ m: aMachine() })],
  ['running tools', () => aMachineWith(modelCalls([plannedCall('s'), gatedCall('g')]))],
  [
    'stopping its turn',
    () => {
      const m = aMachine();
      m.send('go');
      cancelTurn(m.machine, {});
      return m;
    },
  ],
  [
    'behind with three messages',
    () => {
      const m = aMachine({ settings: { onBusy: 'queue' } });
      for (const text of ['one', 'two', 'three']) m.send(text);
      m.model(modelCalls([plannedCall('q', { executor: 'human' })]));
      return m;
    },
  ],
];

describe('closing a conversation', () => {
  for (const [phase, build] of phases)
    it(`that is ${phase} ends every call and every accepted turn: no caller waits without end`, () => {
      const m = build();
      const reply = closeConversation(m.machine, { actor: actor('dan') });
      expect(reply).toEqual({ closed: true, seq: m.events.at(-1)?.seq });
      expect(m.events.at(-1)).toMatchObject({ type: 'conversation_closed', actor: { id: 'dan' } });
      const ended = m.all('turn_ended').map((event) => event.turnId);
      expect(ended).toEqual(m.all('user_message').map((event) => event.turnId));
      expect(m.all('tool_result')).toHaveLength(m.all('tool_call').length);
      expect(snapshotOf(m.state)).toMatchObject({
        status: 'closed',
        queued: [],
        pending: [],
        inFlightTools: [],
      });
      expect(m.effects()).toEqual([]);

      m.mark();
      m.machine.close('idle');
      cancelTurn(m.machine, {});
      m.modelCompleted({ turnId: turn(1), step: 1 }, modelSays('late'));
      m.tool('s');
      m.deadlinePassed('q');
      expect(m.trySend('hello?')).toMatchObject({ refusal: { code: 'conversation_closed' } });
      expect(m.types()).toEqual([]);
      resolveBySignal(m.machine, { toolCallId: 'q', resolution: answer(1) });
      expect(m.types()).toEqual(['resolution_refused']);
    });

  it('from the Temporal UI says so in the turn’s reason', () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    m.machine.close('workflow_cancelled');
    expect(m.types()).toEqual(['tool_result', 'turn_ended', 'conversation_closed']);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'cancelled',
      reason: 'workflow_cancelled',
    });
    expect(m.last('conversation_closed').actor.id).toBe('system');
  });
});
