/** Detached calls: the turn continues without them, and their outcome is new input. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { cancelTurn, closeConversation } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { messageTextOf } from '../../../support/schedules/core-inbox.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const external = (overrides: Partial<PlannedCall> = {}): PlannedCall =>
  plannedCall('x', { executor: 'external', lateResult: 'inbox', ...overrides });

const detachedCall = (overrides: Partial<PlannedCall> = {}): MachineUnderTest =>
  aMachineWith(modelCalls([external({ mode: 'detach', ...overrides })]));

const allAgree = (m: MachineUnderTest): void => {
  expectInvariants(m);
  expectViewsAgree(m.events);
};

describe('a detached call', () => {
  it('gives the model "pending" at once, and the turn continues without it', {
    ...promise('S22', 'H10'),
  }, () => {
    const m = detachedCall();
    expect(m.events.slice(-2).map(({ type }) => type)).toEqual(['tool_result', 'suspension']);
    expect(m.last('tool_result').result).toEqual({
      status: 'detached',
      envelope: { ok: true, result: { status: 'pending', pendingToolCallId: 'x' } },
      provenance: 'trusted',
    });
    expect(m.effectTypes()).toEqual(['call_model', 'await_deadline']);
    m.model(modelSays('I have asked.'));
    expect(m.state.turn).toBeUndefined();
    expect(m.pending).toMatchObject([{ toolCallId: 'x', detached: true }]);
    allAgree(m);
    m.rollOver().restart();
    expect(m.effectTypes()).toEqual(['await_deadline']);
    m.mark();
    expect(m.resolve('x', result('done')).verdict).toBe('accepted');
    expect(m.types()).toEqual(['resolution', 'inbox_event', 'turn_started']);
    expect(m.resolve('x', result('again')).verdict).toBe('stale');
    m.model(modelSays('It is done.'));
    allAgree(m);
  });

  it('may be answered while a later turn runs, which reads it', promise('S23'), () => {
    const m = detachedCall();
    m.model(modelSays('asked'));
    m.send('meanwhile');
    m.resolve('x', result('done'));
    m.model(modelSays('hm'));
    expect(messageTextOf(m)).toContain('(call x) {"ok":true,"result":"done"}');
    m.model(modelSays('ah'));
    expect(m.state.turn).toBeUndefined();
    expect(m.all('turn_started')).toHaveLength(2);
    allAgree(m);
  });

  it('may be answered while its own step still waits for others', () => {
    const m = aMachineWith(
      modelCalls([external({ mode: 'detach' }), plannedCall('q', { executor: 'human' })]),
    );
    m.resolve('x', result('done'));
    expect(m.types()).not.toContain('turn_started');
    m.resolve('q', answer('yes'));
    expect(m.state.transcript.at(-2)).toMatchObject({
      role: 'tool',
      parts: [{ envelope: { result: { status: 'pending' } } }, { envelope: { result: 'yes' } }],
    });
    expect(messageTextOf(m)).toContain('"result":"done"');
    allAgree(m);
  });

  it('is denied, declined or expires through the inbox, each once', promise('G83'), () => {
    const denied = aMachineWith(modelCalls([gatedCall('x', { mode: 'detach' })]));
    denied.model(modelSays('asked'));
    denied.resolve('x', DENY);
    expect(denied.last('inbox_event').result).toMatchObject({ status: 'denied' });
    allAgree(denied);
    const expired = detachedCall({ lateResult: 'reject' });
    expired.model(modelSays('asked'));
    expired.advance(ANSWER_MS);
    expect(expired.last('inbox_event')).toMatchObject({
      eventId: 'tr:x',
      result: { status: 'expired', envelope: { ok: false } },
    });
    expect(expired.resolve('x', result(1)).verdict).toBe('expired');
    expect(expired.all('inbox_event')).toHaveLength(1);
    allAgree(expired);
  });

  it('that expired may still bring its result, under an id of its own', () => {
    const m = detachedCall();
    m.advance(ANSWER_MS);
    expect(m.resolve('x', result(1)).verdict).toBe('accepted_late');
    expect(m.resolve('x', result(2)).verdict).toBe('stale');
    expect(m.all('inbox_event').map(({ eventId }) => eventId)).toEqual(['tr:x', 'tr:x:late']);
    allAgree(m);
  });

  it('of a server tool runs beside the turns, after its approval', () => {
    const m = aMachineWith(modelCalls([gatedCall('x', { mode: 'detach' })]));
    m.model(modelSays('asked'));
    m.resolve('x', APPROVE);
    expect(m.effectTypes()).toEqual(['run_tool']);
    allAgree(m);
    m.send('meanwhile');
    m.tool('x', 'paid');
    expect(m.last('inbox_event').result).toMatchObject({ status: 'resolved' });
    m.tool('x', 'paid twice');
    expect(m.all('inbox_event')).toHaveLength(1);
    allAgree(m);
  });

  it('outlives a cancel of its turn, but not the conversation', promise('G83'), () => {
    const m = detachedCall();
    cancelTurn(m.machine, {});
    m.modelAborted(m.state.turn ?? { turnId: '', step: 0 });
    expect(m.state.turn).toBeUndefined();
    expect(m.pending).toHaveLength(1);
    closeConversation(m.machine, {});
    expect(m.last('inbox_event').result).toMatchObject({ status: 'cancelled' });
    expect(m.resolve('x', result(1)).verdict).toBe('stale');
    expect(m.all('inbox_event')).toHaveLength(1);
    m.reopen();
    m.send('hello again');
    expect(JSON.stringify(m.state.transcript.slice(-2))).toContain('[cancelled]');
  });

  it('is refused when too many are open', () => {
    const plans = Array.from({ length: 101 }, (_, index) =>
      plannedCall(`x${index}`, { executor: 'external', mode: 'detach' }),
    );
    const m = aMachineWith(modelCalls(plans));
    const statuses = m.all('tool_result').map((event) => event.result.status);
    expect(statuses.filter((status) => status === 'detached')).toHaveLength(100);
    expect(m.last('tool_result').result.envelope).toMatchObject({
      error: { code: 'too_many_calls' },
    });
  });
});
