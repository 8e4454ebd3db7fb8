/** Messages that come while a turn runs, and act on it (S42). */

import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { textOf } from '../../../../src/protocol/conversation/messages.js';
import {
  actor,
  MINUTE_MS,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, aMachineWith } from '../../../support/schedules/core-driver.js';

const outline = (transcript: readonly Message[]): readonly string[] =>
  transcript.map((message) => {
    if (message.role === 'user') return `user: ${textOf(message.parts)}`;
    if (message.role === 'tool') return 'results';
    const calls = message.parts.filter((part) => part.type === 'tool_call').length;
    return calls > 0 ? `asks for ${calls}` : `says: ${textOf(message.parts)}`;
  });

describe('a message that interrupts', () => {
  it('stops the running turn with all its calls, and is next, before messages that waited already', {
    ...promise('G112', 'S42'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' }), plannedCall('s')]));
    m.send('patient', { onBusy: 'queue' });
    m.mark();
    const reply = m.send('stop!', { onBusy: 'interrupt', actor: actor('bob') });
    expect(reply).toMatchObject({ turnId: turn(3), ahead: 0 });
    expect(m.types()).toEqual([
      ...['user_message', 'cancel_requested', 'tool_result', 'tool_result', 'turn_ended'],
      'turn_started',
    ]);
    expect(m.last('cancel_requested')).toMatchObject({
      turnId: turn(1),
      actor: { id: 'bob' },
      reason: 'interrupted by a new message',
    });
    expect(m.all('tool_result').map(({ result }) => result.status)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    m.model(modelSays('stopped')).model(modelSays('at last'));
    expect(m.all('turn_ended').map(({ turnId, status }) => [turnId, status])).toEqual([
      [turn(1), 'cancelled'],
      [turn(3), 'completed'],
      [turn(2), 'completed'],
    ]);
  });

  it('waits for the model call that it aborts, and keeps the text of that call', () => {
    const m = aMachine();
    m.send('tell me a story');
    m.send('a shorter one', { onBusy: 'interrupt' });
    m.send('shorter still', { onBusy: 'interrupt' });
    expect(m.effectTypes()).toEqual(['abort_model']);
    expect(m.all('cancel_requested')).toHaveLength(1);
    m.model({ ...modelSays('Once upon'), aborted: true });
    expect(m.last('turn_started').turnId).toBe(turn(3));
    expect(outline(m.messages)).toEqual([
      'user: tell me a story',
      'says: Once upon',
      'user: shorter still',
    ]);
  });

  it('is an ordinary message where nothing runs', () => {
    const m = aMachine({ settings: { onBusy: 'interrupt' } });
    m.send('hello');
    expect(m.last('user_message')).not.toHaveProperty('onBusy');
    expect(m.all('cancel_requested')).toEqual([]);
  });
});

describe('a message that steers', () => {
  it('is read by the next model call of the running turn, after the results of its step', {
    ...promise('G112', 'S42'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    const reply = m.send('in Celsius, please', { onBusy: 'steer' });
    expect(reply).toMatchObject({ turnId: turn(1), ahead: 0, steers: true });
    expect(reply.messageId).not.toBe(`${turn(1)}.user`);
    expect(m.effectTypes()).toEqual(['run_tool']);
    m.tool('s');
    expect(outline(m.messages)).toEqual([
      'user: hello',
      'asks for 1',
      'results',
      'user: in Celsius, please',
    ]);
    m.model(modelSays('20 degrees'));
    expect(m.all('turn_ended')).toMatchObject([{ turnId: turn(1), text: '20 degrees', steps: 2 }]);
    expect(m.state.turnCount).toBe(1);
  });

  it('that comes during the model’s last answer is answered before the turn ends', () => {
    const m = aMachine();
    m.send('one');
    m.send('two', { onBusy: 'steer' });
    m.send('three', { onBusy: 'steer' });
    m.model(modelSays('about one'));
    expect(m.all('turn_ended')).toEqual([]);
    expect(m.effects()).toMatchObject([{ type: 'call_model', turnId: turn(1), step: 2 }]);
    expect(outline(m.messages)).toEqual([
      'user: one',
      'says: about one',
      'user: two',
      'user: three',
    ]);
    m.model(modelSays('about two and three'));
    expect(m.last('turn_ended')).toMatchObject({ text: 'about two and three' });
  });

  it('is not lost when the turn ends without another model call', promise('G112'), () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    m.send('by the way', { onBusy: 'steer' });
    cancelTurn(m.machine, {});
    m.send('next');
    expect(outline(m.messages).slice(-2)).toEqual(['user: by the way', 'user: next']);
  });

  it('does not join a turn that is being stopped: it waits for one of its own', () => {
    const m = aMachine();
    m.send('one');
    cancelTurn(m.machine, {});
    expect(m.send('two', { onBusy: 'steer' })).toMatchObject({ turnId: turn(2), ahead: 1 });
    m.model({ ...modelSays(''), aborted: true });
    expect(m.last('turn_started').turnId).toBe(turn(2));
  });

  it.each([
    [2, turn(2)],
    [1, turn(1)],
  ])(
    'to a turn whose time is up is for turn, by revision %i: %s',
    promise('G112'),
    (coreRevision, turnId) => {
      const m = aMachine({ settings: { coreRevision, budgets: { timeMs: MINUTE_MS } } });
      m.send('one');
      m.clock.advance(MINUTE_MS);
      m.turnTimePassed(turn(1));
      expect(m.send('two', { onBusy: 'steer' })).toMatchObject({ turnId });
      m.modelAborted({ turnId: turn(1), step: 1 });
      expect(m.last('turn_ended').turnId).toBe(turn(1));
      expect(m.last('turn_started').turnId).toBe(turnId);
    },
  );

  it('counts once, by its request id, and survives a roll-over while it waits', () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    const reply = m.send('in Celsius', { onBusy: 'steer', requestId: 'r' });
    m.rollOver();
    expect(m.trySend('in Celsius', { onBusy: 'steer', requestId: 'r' })).toMatchObject({
      refusal: { code: 'duplicate', reply },
    });
    m.tool('s');
    expect(outline(m.messages).at(-1)).toBe('user: in Celsius');
  });

  it('is bounded like the queue', () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    for (let count = 0; count < 100; count += 1) m.send('more', { onBusy: 'steer' });
    expect(m.trySend('more', { onBusy: 'steer' })).toMatchObject({
      refusal: { code: 'queue_full' },
    });
    const byBytes = aMachineWith(modelCalls([plannedCall('s')]));
    const large = 'x'.repeat(200 * 1024);
    for (let count = 0; count < 2; count += 1) byBytes.send(large, { onBusy: 'steer' });
    expect(byBytes.trySend(large, { onBusy: 'steer' })).toMatchObject({
      refusal: { code: 'queue_full' },
    });
  });
});
