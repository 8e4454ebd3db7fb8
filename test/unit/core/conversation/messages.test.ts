/** Messages: accepted, queued, refused, repeated. */

import { describe, expect, it } from 'vitest';
import {
  actor,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { closeConversation, sendMessageBySignal } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, aMachineWith } from '../../../support/schedules/core-driver.js';

describe('a message', () => {
  it('is answered with its own seq before its consequences (S9)', {
    ...promise('S9', 'A38'),
  }, () => {
    const m = aMachine();
    const reply = m.send('hello');
    expect(m.all('user_message')[0]?.seq).toBe(reply.seq);
    expect(m.last('turn_started').seq).toBe(reply.seq + 1);
  });

  it('sent while a turn runs is refused as busy, or waits its turn (S42)', promise('S42'), () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    expect(m.trySend('now?')).toMatchObject({ accepted: false, refusal: { code: 'busy' } });
    expect(m.types()).toEqual([]);

    expect(m.send('then', { onBusy: 'queue' })).toMatchObject({ turnId: turn(2), ahead: 1 });
    expect(m.send('and then', { onBusy: 'queue' })).toMatchObject({ turnId: turn(3), ahead: 2 });
    expect(m.types()).toEqual(['user_message', 'user_message']);
    expect(m.pending).toHaveLength(1);

    m.resolve('q', { type: 'answer', value: 1 });
    m.model(modelSays('one'));
    expect(m.types()).toEqual([
      ...['resolution', 'tool_result', 'model_call', 'assistant_message', 'turn_ended'],
      'turn_started',
    ]);
    m.model(modelSays('two')).model(modelSays('three'));
    expect(m.all('turn_ended').map((event) => [event.turnId, event.text])).toEqual([
      [turn(1), 'one'],
      [turn(2), 'two'],
      [turn(3), 'three'],
    ]);
  });

  it('may override the agent’s setting in both directions', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('one');
    expect(m.trySend('two', { onBusy: 'reject' })).toMatchObject({ refusal: { code: 'busy' } });
    expect(m.trySend('two')).toMatchObject({ accepted: true });
  });

  it('sent twice under one request id is one message with one reply, also after its turn and after closing', {
    ...promise('G127'),
  }, () => {
    const m = aMachine();
    const reply = m.send('one', { requestId: 'job-1' });
    const again = { accepted: false, refusal: { code: 'duplicate', reply } };
    expect(m.trySend('one', { requestId: 'job-1' })).toMatchObject(again);
    m.model(modelSays('done')).rollOver();
    expect(m.trySend('one', { requestId: 'job-1' })).toMatchObject(again);
    closeConversation(m.machine);
    expect(m.trySend('one', { requestId: 'job-1' })).toMatchObject(again);
    expect(m.all('user_message')).toHaveLength(1);
  });

  it('without a request id is always a new one', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('same', { requestId: undefined });
    m.send('same', { requestId: undefined });
    expect(m.all('user_message')).toHaveLength(2);
  });

  it('is refused with its problems when it breaks a rule, and with the agent’s name when that differs', () => {
    const m = aMachine();
    expect(m.trySend('  ')).toMatchObject({
      refusal: {
        code: 'invalid_request',
        problems: [{ path: '/text', message: 'must not be blank' }],
      },
    });
    expect(m.trySend('x'.repeat(256 * 1024 + 1))).toMatchObject({
      refusal: { code: 'invalid_request' },
    });
    expect(m.trySend('x', { agent: 'sales' })).toMatchObject({
      refusal: {
        code: 'agent_mismatch',
        problems: [{ path: '/agent', message: 'must be "support"' }],
      },
    });
    expect(m.trySend('x', { agent: 'support' })).toMatchObject({ accepted: true });
  });

  it('is refused when too many wait, by count and by bytes', () => {
    const byCount = aMachine({ settings: { onBusy: 'queue' } });
    for (let index = 0; index <= 100; index += 1) byCount.send(`m${index}`);
    expect(byCount.trySend('one more')).toMatchObject({ refusal: { code: 'queue_full' } });

    const byBytes = aMachine({ settings: { onBusy: 'queue' } });
    const large = 'x'.repeat(200 * 1024);
    byBytes.send('first');
    byBytes.send(large);
    byBytes.send(large);
    expect(byBytes.trySend(large)).toMatchObject({ refusal: { code: 'queue_full' } });
    byBytes.model(modelSays('ok'));
    expect(byBytes.trySend(large)).toMatchObject({ accepted: true });

    const byForms = aMachine({ settings: { onBusy: 'queue' } });
    const output = { type: 'object', properties: {}, description: 'x'.repeat(14 * 1024) };
    for (let index = 0; index <= 36; index += 1) byForms.send('short', { output });
    expect(byForms.trySend('short', { output })).toMatchObject({ refusal: { code: 'queue_full' } });
  });

  it('records its sender as stamped', () => {
    const m = aMachine();
    m.send('hello', { actor: actor('eve', { roles: ['customer'] }) });
    expect(m.last('user_message').actor).toEqual({
      id: 'eve',
      roles: ['customer'],
      verified: true,
      channel: 'api',
    });
    expect(m.state.turn?.requester.id).toBe('eve');
  });

  it('is remembered by its request id among the newest thousand', () => {
    const m = aMachine();
    for (let index = 0; index <= 1_000; index += 1) {
      m.send('go', { requestId: `job-${index}` });
      m.model(modelSays('ok'));
    }
    expect(m.state.requests).toHaveLength(1_000);
    expect(m.trySend('go', { requestId: 'job-1' })).toMatchObject({
      refusal: { code: 'duplicate' },
    });
    expect(m.trySend('go', { requestId: 'job-0' })).toMatchObject({ accepted: true });
  });

  it('refused as a signal is recorded, once for each attempt, and is no sign of life', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    const { updatedAt } = m.state;
    m.clock.advance(60_000);
    sendMessageBySignal(m.machine, { text: 'now?', requestId: 'r1', actor: { id: 'ops' } });
    sendMessageBySignal(m.machine, { text: 'hello', requestId: 'message-1' });
    expect(m.types()).toEqual(['message_refused']);
    expect(m.last('message_refused')).toMatchObject({
      requestId: 'r1',
      code: 'busy',
      actor: { id: 'ops', verified: false },
    });
    expect(m.state.updatedAt).toBe(updatedAt);
  });
});
