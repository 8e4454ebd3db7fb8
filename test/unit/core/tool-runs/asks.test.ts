/**
 * Questions that the code of a server tool asks in mid-run: one at a time, each with its own answer, over days and
 * runs.
 */

import { describe, expect, it } from 'vitest';
import { rerunFields } from '../../../../src/core/calls/ask.js';
import { MAX_ASK_STATE_BYTES } from '../../../../src/protocol/limits/limits.js';
import type { RunToolInput } from '../../../../src/protocol/workflow/activities.js';
import { toolLost, toolReconciled } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  actor,
  answer,
  MINUTE_MS,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { asked, asks, NUMBER } from '../../../support/schedules/core-asks.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const STATE = { cart: ['tea'], cents: 5 };

const entry = (m: MachineUnderTest): Pick<RunToolInput, 'run' | 'asked'> =>
  rerunFields(m.state.calls['c']!);

describe('a tool that asks', () => {
  it('parks its call as an elicitation with the question, its form and its own audience', () => {
    const question = {
      ...NUMBER,
      state: STATE,
      reason: 'How many?',
      audience: { roles: ['buyer'] },
    };
    const m = asked(question);
    expect(m.types()).toEqual(['tool_asked', 'suspension']);
    expect(m.pending).toMatchObject([
      {
        kind: 'elicitation',
        executor: 'server',
        reason: 'How many?',
        answerSchema: { type: 'number' },
        audience: { roles: ['buyer'] },
        prompt: { of: 'c' },
        ask: 1,
        deadline: m.clock.iso(ANSWER_MS),
      },
    ]);
    expect(m.state.calls['c']?.status).toBe('awaiting_answer');
    expect(m.effectTypes()).toEqual(['await_deadline']);
  });

  it('is entered again with the answer, the state and the answerer, in its next run, after a roll-over', () => {
    const m = asked({ ...NUMBER, state: STATE });
    m.rollOver();
    expect(m.resolve('c', answer(7)).verdict).toBe('accepted');
    m.rollOver();
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 2 }]);
    expect(entry(m)).toEqual({
      run: 2,
      asked: { asks: 1, state: STATE, answer: { value: 7 }, actor: actor('ben') },
    });
    m.tool('c', 'ordered');
    expect(m.last('tool_result').result).toMatchObject({
      status: 'resolved',
      provenance: 'trusted',
      envelope: { ok: true, result: 'ordered' },
    });
    m.model(modelSays('done'));
    expect(m.state.turn).toBeUndefined();
    expectViewsAgree(m.events);
    expectInvariants(m);
  });

  it('is entered with an answer of null as with any other', () => {
    const m = asked({ form: {} });
    m.resolve('c', answer(null));
    expect(entry(m).asked).toHaveProperty('answer', { value: null });
  });

  it('waits by the question’s own clock where it has one', () => {
    const m = asked({ ...NUMBER, timeoutMs: MINUTE_MS });
    expect(m.pending[0]?.deadline).toBe(m.clock.iso(MINUTE_MS));
  });

  it('never waits past the total time of the call', () => {
    const timeouts = { ...plannedCall('x').timeouts, totalMs: 2 * MINUTE_MS };
    const m = aMachineWith(modelCalls([plannedCall('c', { timeouts })]));
    m.advance(MINUTE_MS);
    asks(m, 'c');
    expect(m.pending[0]).toMatchObject({ deadline: m.clock.iso(MINUTE_MS), limitedBy: 'total' });
  });

  it('accepts no answer that the form refuses, and stays open', () => {
    const m = asked();
    expect(m.resolve('c', answer('many'))).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/resolution/value' }],
    });
    expect(m.resolve('c', answer(3)).verdict).toBe('accepted');
  });

  it('accepts no answer from outside its audience; the question’s own audience replaces the tool’s', () => {
    const ofTool = { answerAudience: { users: ['boss'] } };
    const m = asked({ ...NUMBER, audience: { users: ['ann'] } }, ofTool);
    expect(m.resolve('c', answer(1)).verdict).toBe('forbidden');
    expect(m.resolve('c', answer(1), { actor: actor('boss') }).verdict).toBe('forbidden');
    expect(m.resolve('c', answer(1), { actor: actor('ann') }).verdict).toBe('accepted');
    const other = asked(NUMBER, ofTool);
    expect(other.resolve('c', answer(1)).verdict).toBe('forbidden');
    expect(other.resolve('c', answer(1), { actor: actor('boss') }).verdict).toBe('accepted');
  });

  it('ends with "user did not respond" without an answer, and is not entered', () => {
    const m = asked();
    m.advance(ANSWER_MS);
    expect(m.types().slice(-2)).toEqual(['expired', 'tool_result']);
    expect(m.last('tool_result').result).toMatchObject({
      status: 'expired',
      envelope: { ok: false, error: { code: 'expired', message: 'user did not respond' } },
      actor: { id: 'system' },
    });
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(m.resolve('c', answer(1)).verdict).toBe('expired');
  });

  it('accepts no late answer, with any setting of the plan for late results', () => {
    const m = asked(NUMBER, { lateResult: 'inbox' });
    m.advance(ANSWER_MS);
    expect(m.resolve('c', answer(1)).verdict).toBe('expired');
    expectInvariants(m);
  });

  it('is ended by a cancel while it asks; a later answer is stale', () => {
    const m = asked();
    cancelTurn(m.machine, { actor: actor('ann') });
    expect(m.last('tool_result').result.status).toBe('cancelled');
    expect(m.resolve('c', answer(1)).verdict).toBe('stale');
    expectInvariants(m);
  });

  it('that was cancelled while it ran opens no question', () => {
    const m = aMachineWith(modelCalls([plannedCall('c')]));
    cancelTurn(m.machine, {});
    asks(m, 'c');
    expect(m.all('tool_asked')).toEqual([]);
  });

  it('lets the other calls of its step run on, and waits with them', () => {
    const m = aMachineWith(modelCalls([plannedCall('c'), plannedCall('d'), plannedCall('e')]));
    asks(m, 'c');
    m.tool('d', 'of d');
    asks(m, 'e');
    m.resolve('e', answer(2));
    m.tool('e', 'of e');
    expect(m.all('tool_result')).toHaveLength(2);
    m.resolve('c', answer(1));
    m.tool('c', 'of c');
    const results = m.messages.at(-1)?.parts.map((part) => 'envelope' in part && part.envelope);
    expect(results).toEqual(['of c', 'of d', 'of e'].map((result) => ({ ok: true, result })));
    expectViewsAgree(m.events);
  });

  it('has not been lost: one that runs once is entered again, and its lost run is one', () => {
    const m = asked({ ...NUMBER, state: STATE }, { effects: 'once', reconcile: true });
    m.resolve('c', answer(1));
    toolLost(m.machine, 'c', { timedOut: false, message: 'the worker was lost' });
    expect(m.last('tool_lost').run).toBe(2);
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 3 }]);
    expect(entry(m)).toMatchObject({ run: 3, asked: { state: STATE, answer: { value: 1 } } });
    expectViewsAgree(m.events);
  });

  it('may be detached: its answer comes later, and its result is new input', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { mode: 'detach' })]));
    m.model(modelSays('it runs'));
    asks(m, 'c');
    expect(m.pending).toMatchObject([{ kind: 'elicitation', detached: true }]);
    m.rollOver();
    m.resolve('c', answer(1));
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 2 }]);
    m.tool('c', 'ordered');
    expect(m.last('inbox_event')).toMatchObject({ eventId: 'tr:c' });
    expectViewsAgree(m.events);
    expectInvariants(m);
  });

  it('may be detached by a message, and runs on when it is answered', () => {
    const m = aMachineWith(modelCalls([plannedCall('c')]), {
      settings: { whileWaiting: 'detach' },
    });
    asks(m, 'c');
    m.send('by the way');
    m.model(modelSays('yes'));
    expect(m.state.turn).toBeUndefined();
    m.resolve('c', answer(1));
    m.tool('c', 'ordered');
    expect(m.last('inbox_event')).toMatchObject({ eventId: 'tr:c' });
    expectViewsAgree(m.events);
  });
});

describe('a question that cannot be asked', () => {
  const faults: readonly [title: string, question: unknown, text: RegExp][] = [
    ['nothing', null, /must be an object with a form/],
    ['no form', {}, /form must be a JSON Schema/],
    ['a form that is a text', { form: 'number' }, /form must be a JSON Schema/],
    ['a form that leads nowhere', { form: { $ref: '#/$defs/x' } }, /must point into this schema/],
    ['a form that is too large', { form: { const: 'x'.repeat(9_000) } }, /form has 90\d\d bytes/],
    [
      'a state that is too large',
      { ...NUMBER, state: 'x'.repeat(MAX_ASK_STATE_BYTES) },
      /at most 8192/,
    ],
    ['a state that is no JSON', { ...NUMBER, state: () => 1 }, /state must be JSON/],
    ['an empty reason', { ...NUMBER, reason: ' ' }, /reason must be a text/],
    ['an audience of everybody', { ...NUMBER, audience: {} }, /audience must have some of/],
    ['an audience that is a text', { ...NUMBER, audience: 'ann' }, /audience must be an object/],
    ['users that are a text', { ...NUMBER, audience: { users: 'ann' } }, /audience\.users must be/],
    ['a claim of its own', { ...NUMBER, audience: { requireVerified: 1 } }, /requireVerified/],
    ['an endless timeout', { ...NUMBER, timeoutMs: Infinity }, /whole number of milliseconds/],
    ['another way to decline', { ...NUMBER, onDecline: 'end' }, /onDecline/],
    ['an unknown field', { ...NUMBER, prompt: 'x' }, /prompt is not a field/],
  ];
  it.each(faults)('such as %s is the call’s result, with the rule', (_title, question, text) => {
    const m = asked(question);
    expect(m.types()).toEqual(['tool_result']);
    expect(m.last('tool_result').result.envelope).toMatchObject({
      error: { code: 'tool_error', message: expect.stringMatching(text) as string },
    });
  });
});
