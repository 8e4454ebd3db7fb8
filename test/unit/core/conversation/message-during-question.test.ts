/** An open question must not freeze the chat: a new message detaches the question, whose answer comes later. */
import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  DENY,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { messageTextOf } from '../../../support/schedules/core-inbox.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const question = (id = 'q'): PlannedCall => plannedCall(id, { executor: 'human' });
const gated = (id = 'g'): PlannedCall => plannedCall(id, { approval: { needed: true } });

function waiting(...calls: readonly PlannedCall[]): MachineUnderTest {
  const m = aMachine({ settings: { onBusy: 'reject', whileWaiting: 'detach' } });
  m.send('hello');
  m.model(modelCalls([...calls]));
  m.mark();
  return m;
}

function allAgree(m: MachineUnderTest): void {
  expectInvariants(m);
  expectViewsAgree(m.events);
}

describe('a message while a question is open', () => {
  it('is answered at once; the question stays open, and its answer comes later, once', {
    ...promise('G113', 'G248'),
  }, () => {
    const m = waiting(question());
    expect(m.send('by the way?')).toMatchObject({ turnId: turn(1), steers: true });
    expect(m.types()).toEqual(['user_message', 'tool_result']);
    expect(m.last('tool_result').result.envelope).toEqual({
      ok: true,
      result: { status: 'pending', pendingToolCallId: 'q' },
    });
    expect(m.state.transcript.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'user'],
    ]);
    expect(snapshotOf(m.state).status).toBe('streaming');
    m.model(modelSays('by the way!'));
    expect(m.state.turn).toBeUndefined();
    expect(m.pending).toMatchObject([{ toolCallId: 'q', kind: 'elicitation', detached: true }]);
    expect(snapshotOf(m.state).status, 'a person has to answer').toBe('awaiting_input');
    allAgree(m);
    m.rollOver();
    expect(m.resolve('q', answer('red')).verdict).toBe('accepted');
    expect(messageTextOf(m)).toContain('(call q) {"ok":true,"result":"red"}');
    expect(m.resolve('q', answer('blue')).verdict).toBe('stale');
    m.model(modelSays('red it is'));
    expect(snapshotOf(m.state).status).toBe('idle');
    allAgree(m);
  });

  it('never approves nor denies: a gated call is decided later, and runs then', {
    ...promise('G113'),
  }, () => {
    const m = waiting(gated());
    m.send('yes, do it');
    expect(m.effectTypes()).toEqual(['call_model', 'await_deadline']);
    m.model(modelSays('please use the button'));
    expect(m.resolve('g', APPROVE).verdict).toBe('accepted');
    expect(m.effectTypes()).toEqual(['run_tool']);
    m.tool('g', 'done');
    expect(messageTextOf(m)).toContain('(call g) {"ok":true,"result":"done"}');
    m.model(modelSays('it is done'));
    const denied = waiting(gated());
    denied.send('hm');
    denied.model(modelSays('hm'));
    denied.resolve('g', DENY);
    expect(messageTextOf(denied)).toContain('"code":"denied"');
    allAgree(m);
    allAgree(denied);
  });

  it('waits for the server calls beside the question, and leaves calls of browsers and backends alone', () => {
    const m = waiting(question(), plannedCall('s'), plannedCall('c', { executor: 'client' }));
    m.send('meanwhile');
    expect(m.all('tool_result').map(({ toolCallId }) => toolCallId)).toEqual(['q']);
    expect(m.effectTypes()).not.toContain('call_model');
    m.tool('s');
    m.resolve('c', { type: 'result', value: 1 });
    expect(m.effectTypes()).toContain('call_model');
    const results = m.state.transcript.find(({ role }) => role === 'tool');
    expect(results?.role === 'tool' && results.parts.map(({ toolCallId }) => toolCallId)).toEqual([
      ...['q', 's', 'c'],
    ]);
    allAgree(m);
  });

  it('detaches nothing when it allows queueing, or where only tools run', () => {
    const m = waiting(question());
    m.send('later', { onBusy: 'queue' });
    expect(m.types()).toEqual(['user_message']);
    expect(m.trySend('now', { onBusy: 'reject' })).toMatchObject({ refusal: { code: 'busy' } });
    expect(waiting(plannedCall('s')).trySend('now')).toMatchObject({ refusal: { code: 'busy' } });
  });

  it('whose deadline passes reaches the model as new input', () => {
    const m = waiting(question());
    m.send('meanwhile');
    m.model(modelSays('answered'));
    m.advance(ANSWER_MS);
    expect(messageTextOf(m)).toContain('user did not respond');
    m.model(modelSays('no answer, then'));
    expect(m.pending).toEqual([]);
    allAgree(m);
  });

  it('may come twice, and again with a new question', () => {
    const m = waiting(question());
    m.send('one');
    m.send('two', { onBusy: 'steer' });
    m.model(modelCalls([question('r')]));
    // The model had not read the second message when it asked.
    expect(m.effectTypes()).toContain('call_model');
    m.model(modelCalls([question('s')]));
    m.send('three');
    m.model(modelSays('one, two, three'));
    expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['q', 'r', 's']);
    m.resolve('r', answer(1));
    m.resolve('q', answer(2));
    expect(m.all('inbox_event').map(({ eventId }) => eventId)).toEqual(['tr:r', 'tr:q']);
    allAgree(m);
  });
});
