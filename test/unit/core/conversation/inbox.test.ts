/** New input without a user: late results, events of other systems. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  judgeInbox,
  resolveBySignal,
  takeInboxEvent,
  takeInboxSignal,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';
import { messageTextOf } from '../../../support/schedules/core-inbox.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const external = (overrides: Partial<PlannedCall> = {}): PlannedCall =>
  plannedCall('x', { executor: 'external', lateResult: 'inbox', ...overrides });

const expiredCall = (overrides: Partial<PlannedCall> = {}): MachineUnderTest => {
  const m = aMachineWith(modelCalls([external(overrides)]));
  m.advance(ANSWER_MS);
  m.mark();
  return m;
};

const allAgree = (m: MachineUnderTest): void => {
  expectInvariants(m);
  expectViewsAgree(m.events);
};

describe('a result that comes after the deadline', () => {
  it('is accepted late, once, and is read by the next model call', () => {
    const m = expiredCall();
    expect(m.resolve('x', result({ ok: 1 }))).toMatchObject({ verdict: 'accepted_late' });
    expect(m.types()).toEqual(['resolution', 'inbox_event']);
    expect(m.last('inbox_event')).toMatchObject({
      eventId: 'tr:x',
      kind: 'tool_result',
      result: { status: 'resolved', provenance: 'untrusted', actor: { id: 'ben' } },
    });
    expect(m.resolve('x', result({ ok: 2 }))).toMatchObject({ verdict: 'stale', by: 'ben' });
    // The model call in progress was made without the result: another one follows before the turn ends.
    m.model(modelSays('no answer yet'));
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(messageTextOf(m)).toBe(
      '[Tool result: external.tool] (call x) {"ok":true,"result":{"ok":1}}',
    );
    m.model(modelSays('there it is'));
    expect(m.types().at(-1)).toBe('turn_ended');
    allAgree(m);
  });

  it('repeats its verdict for the same request, also after a roll-over', () => {
    const m = expiredCall().rollOver();
    const first = m.resolve('x', result(1), { requestId: 'r' });
    expect(first.verdict).toBe('accepted_late');
    m.rollOver();
    expect(m.resolve('x', result(1), { requestId: 'r' })).toEqual({ verdict: 'duplicate', first });
    expect(m.all('inbox_event')).toHaveLength(1);
  });

  it('starts a turn when none runs, in the name of the requester', () => {
    const m = expiredCall();
    m.model(modelSays('no client was there'));
    m.rollOver().mark();
    m.resolve('x', result(7));
    expect(m.types()).toEqual(['resolution', 'inbox_event', 'turn_started']);
    expect(m.last('turn_started').inbox).toEqual(['tr:x']);
    expect(m.state.turn?.requester.id).toBe('ann');
    expect(m.state.turn?.turnId).not.toBe(m.events.find((e) => e.type === 'turn_started')?.turnId);
    m.model(modelSays('thanks'));
    m.send('next');
    expect(new Set(m.all('turn_started').map(({ turnId }) => turnId)).size).toBe(3);
    allAgree(m);
  });

  it('may be an error, of the wrong shape, or of another kind', () => {
    const m = expiredCall({ answerSchema: { type: 'number' } });
    expect(m.resolve('x', result('seven')).verdict).toBe('invalid');
    expect(m.resolve('x', APPROVE)).toMatchObject({ verdict: 'stale' });
    expect(m.resolve('x', answer(7))).toMatchObject({ verdict: 'stale' });
    expect(m.types()).toEqual([]);
    expect(m.resolve('x', { type: 'error', message: 'down' }).verdict).toBe('accepted_late');
    expect(m.last('inbox_event').result?.envelope).toMatchObject({
      error: { code: 'external_error', message: 'down' },
    });
  });

  it('that only a worker can judge is checked first, and may be sent again', () => {
    const m = expiredCall({ recheckAnswer: true });
    expect(m.resolve('x', result('bad')).verdict).toBe('accepted_late');
    expect(m.types()).toEqual(['resolution']);
    expect(m.effectTypes()).toContain('check_answer');
    expect(m.resolve('x', result('other'))).toMatchObject({ verdict: 'stale' });
    m.rollOver().checkFails('x');
    expect(m.resolve('x', result('good')).verdict).toBe('accepted_late');
    m.checked('x', 'good');
    expect(m.all('inbox_event')).toHaveLength(1);
    allAgree(m);
  });

  it.each<[string, Resolution]>([
    ['a value', result(1)],
    ['an error', { type: 'error', message: 'no' }],
  ])('is judged by its arrival: the expiry is applied first, before %s', (_title, resolution) => {
    const m = aMachineWith(modelCalls([external()]));
    m.clock.advance(ANSWER_MS + MINUTE_MS);
    const verdict = resolveBySignal(m.machine, { toolCallId: 'x', resolution, requestId: 'r' });
    expect(verdict.verdict).toBe('accepted_late');
    expect(m.types()).toEqual(['expired', 'tool_result', 'resolution', 'inbox_event']);
    m.deadlinePassed('x');
    expect(m.types()).toEqual([]);
    allAgree(m);
  });

  it('meets its deadline in one task: in either order nothing is lost and nothing is doubled', {
    ...promise('G82'),
  }, () => {
    const answerFirst = aMachineWith(modelCalls([external()]));
    answerFirst.clock.advance(ANSWER_MS);
    expect(answerFirst.resolve('x', result(1)).verdict).toBe('accepted');
    answerFirst.advance(0);
    expect(answerFirst.types()).toEqual(['resolution', 'tool_result']);
    const timerFirst = expiredCall();
    expect(timerFirst.resolve('x', result(1)).verdict).toBe('accepted_late');
    expect(timerFirst.types()).toEqual(['resolution', 'inbox_event']);
  });

  it('is refused where the tool allows no late results, and an approval always is', () => {
    const rejecting = expiredCall({ lateResult: 'reject' });
    expect(rejecting.resolve('x', result(1)).verdict).toBe('expired');
    const gated = aMachineWith(
      modelCalls([gatedCall('x', { executor: 'external', lateResult: 'inbox' })]),
    );
    gated.advance(24 * 60 * MINUTE_MS);
    expect(gated.resolve('x', APPROVE).verdict).toBe('expired');
    expect(gated.resolve('x', result(1)).verdict).toBe('expired');
  });

  it('comes while the other calls of its step still wait: each call keeps its one result', () => {
    const m = aMachineWith(modelCalls([external(), plannedCall('q', { executor: 'human' })]));
    m.deadlinePassed('x');
    expect(m.resolve('x', result(1), { receivedAt: undefined }).verdict).toBe('accepted_late');
    m.resolve('q', answer('yes'));
    expect(m.state.transcript.slice(-2).map(({ role }) => role)).toEqual(['tool', 'user']);
    allAgree(m);
  });

  it('ends as cancelled where the conversation closes before a worker has checked it', {
    ...promise('G77'),
  }, () => {
    const m = expiredCall({ recheckAnswer: true });
    expect(m.resolve('x', result('good')).verdict).toBe('accepted_late');
    m.mark();
    closeConversation(m.machine, {});
    expect(m.types()).toContain('inbox_event');
    expect(m.last('inbox_event')).toMatchObject({
      toolCallId: 'x',
      result: { status: 'cancelled' },
    });
    allAgree(m);
  });

  it('is not ended by a close where none came', () => {
    const m = expiredCall();
    closeConversation(m.machine, {});
    expect(m.types()).not.toContain('inbox_event');
  });

  it('is too late for a conversation that was closed', () => {
    const m = expiredCall();
    closeConversation(m.machine, {});
    expect(m.resolve('x', result(1)).verdict).toBe('expired');
  });
});

const failed = (m: MachineUnderTest): void => {
  const error = { code: 'tool_error', message: 'no' } as const;
  toolFinished(m.machine, 't', { envelope: { ok: false, error }, executionMs: 1 });
};

describe('an event of another system', () => {
  const settled = { eventId: 'evt-1', kind: 'payment.settled', payload: { cents: 5 } };

  it('starts a turn, and is accepted once in any order of its copies', () => {
    const m = aMachine();
    const first = takeInboxEvent(m.machine, settled);
    expect(first).toMatchObject({ accepted: true, reply: { eventId: 'evt-1' } });
    expect(m.types()).toEqual(['inbox_event', 'turn_started']);
    expect(messageTextOf(m)).toBe('[Event: payment.settled] (id evt-1) {"cents":5}');
    m.rollOver().mark();
    takeInboxSignal(m.machine, settled);
    const again = takeInboxEvent(m.machine, { ...settled, actor: { id: 'other' } });
    expect(again).toMatchObject({ refusal: { code: 'duplicate', reply: { eventId: 'evt-1' } } });
    expect(m.types()).toEqual([]);
    m.model(modelSays('noted'));
    allAgree(m);
  });

  it('whose id was used with other content is refused with the reason', () => {
    const m = aMachine();
    takeInboxEvent(m.machine, settled);
    m.mark();
    const other = { ...settled, payload: { cents: 6 } };
    expect(judgeInbox(m.machine, other)).toMatchObject({
      code: 'invalid_request',
      problems: [{ path: '/eventId' }],
    });
    takeInboxSignal(m.machine, other);
    expect(m.types()).toEqual(['message_refused']);
    expect(m.last('message_refused')).toMatchObject({
      requestId: 'evt-1',
      code: 'invalid_request',
    });
  });

  it('that comes in mid-turn is read by the next model call, in the order of arrival', {
    ...promise('G126'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('t')]));
    takeInboxEvent(m.machine, settled);
    takeInboxEvent(m.machine, { ...settled, eventId: 'evt-2' });
    expect(m.types()).toEqual(['inbox_event', 'inbox_event']);
    m.tool('t');
    const read = m.state.transcript
      .slice(-2)
      .map((message) => message.role === 'user' && message.inbox);
    expect(read).toEqual(['evt-1', 'evt-2']);
    allAgree(m);
  });

  it.each<[string, Partial<AgentSettings>, (m: MachineUnderTest) => void]>([
    ['is stopped', {}, (m) => cancelTurn(m.machine, {})],
    ['is out of time', { budgets: { timeMs: MINUTE_MS } }, (m) => m.advance(MINUTE_MS)],
    ['ends by a failed tool', { onToolError: 'abort_turn' }, failed],
  ])(
    'that comes while tools run begins a turn of its own where theirs %s',
    {
      ...promise('G126'),
    },
    (_title, overrides, end) => {
      for (const [coreRevision, inbox] of [[3, ['evt-1']] as const, [2, undefined] as const]) {
        const m = aMachine({ settings: { ...overrides, coreRevision } });
        m.send('hello');
        m.model(modelCalls([plannedCall('t')]));
        takeInboxEvent(m.machine, settled);
        end(m);
        expect(m.all('turn_ended')).toHaveLength(1);
        expect(m.last('turn_started').inbox).toEqual(inbox);
        allAgree(m);
      }
    },
  );

  it('does not take a turn over its limit of steps: the next turn reads it', () => {
    const m = aMachine({ settings: { maxSteps: 1 } });
    m.send('hello');
    takeInboxEvent(m.machine, settled);
    m.model(modelSays('hi'));
    expect(m.all('turn_ended')).toMatchObject([{ status: 'completed', text: 'hi' }]);
    expect(m.last('turn_started').inbox).toEqual(['evt-1']);
    allAgree(m);
  });

  it.each<[string, unknown]>([
    ['an id of ours', { ...settled, eventId: 'tr:call_1' }],
    ['no id', { kind: 'a', payload: 1 }],
    ['no kind', { eventId: 'e', payload: 1 }],
    ['a kind with a line break', { ...settled, kind: 'a\nb' }],
    ['no payload', { eventId: 'e', kind: 'a' }],
    ['nothing', null],
    ['a text', 'evt'],
    ['an endless payload', { ...settled, payload: 'x'.repeat(300_000) }],
    ['another agent', { ...settled, agent: 'other' }],
  ])('with %s is refused, and nothing is recorded', (_title, input) => {
    const m = aMachine();
    expect(takeInboxEvent(m.machine, input)).toMatchObject({ accepted: false });
    expect(m.types()).toEqual([]);
  });

  it('is refused by a closed conversation, and when too many wait', () => {
    const m = aMachine();
    m.send('hello');
    for (let index = 0; index < 100; index += 1)
      takeInboxEvent(m.machine, { ...settled, eventId: `e${index}` });
    expect(judgeInbox(m.machine, settled)?.code).toBe('queue_full');
    closeConversation(m.machine, {});
    expect(judgeInbox(m.machine, settled)?.code).toBe('conversation_closed');

    const byBytes = aMachine();
    byBytes.send('hello');
    const payload = 'x'.repeat(180 * 1024);
    for (let index = 0; index < 3; index += 1) {
      const event = { ...settled, eventId: `e${index}`, payload };
      expect(takeInboxEvent(byBytes.machine, event)).toMatchObject({ accepted: true });
    }
    expect(judgeInbox(byBytes.machine, settled)?.code).toBe('queue_full');
  });
});
