/** Conversations of sub-agents in the state of their caller: shares of budgets, reports, losses. */
import { describe, expect, it } from 'vitest';
import type { EffectOf } from '../../../../src/core/decide/effects.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type { ChildEnd, ParentRef } from '../../../../src/protocol/conversation/children.js';
import { TEXTS } from '../../../../src/protocol/failures/texts.js';
import { APPROVE, actor, modelCalls, modelSays } from '../../../support/builders/core-builders.js';
import { cancelTurn, closeConversation } from '../../../support/builders/verbs.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { aChild, call, childOf, END, report, started } from './setup.js';

const calling = (
  plans: readonly PlannedCall[],
  settings: Partial<AgentSettings> = {},
): MachineUnderTest => aMachineWith(modelCalls(plans), { settings });

const grants = (m: MachineUnderTest) =>
  m.all('child_changed').flatMap(({ granted }) => (granted === undefined ? [] : [granted]));
const GATE = { needed: true, reason: 'costs money' };
const resultOf = (m: MachineUnderTest, toolCallId: string) =>
  m.all('tool_result').find((event) => event.toolCallId === toolCallId)?.result;

describe('the budget of a sub-agent', () => {
  // The model call before has spent 13 tokens.
  it('is an equal share of what the turn has left, for each of the step and for the turn itself', () => {
    const m = calling([call('a'), call('b')], { budgets: { tokens: 1_013, calls: 32 } });
    expect(grants(m)).toEqual([
      { tokens: 333, calls: 10 },
      { tokens: 333, calls: 10 },
    ]);
  });

  it('is reserved until the sub-agent has ended, and then counts as it was spent', () => {
    const budgets = { tokens: 1_013, calls: 32, cost: { micros: 100, currency: 'EUR' } };
    const m = calling([call('a')], { budgets });
    expect(grants(m)).toEqual([{ tokens: 500, costMicros: 50, calls: 15 }]);
    report(m, started(m, 'a'));
    expect(m.state.turn).toMatchObject({
      usage: { inputTokens: 80, outputTokens: 33, costMicros: 4 },
      spentByChildren: 2,
    });
    expect(m.state.usage).toMatchObject({ inputTokens: 80, outputTokens: 33 });
    m.model(modelCalls([call('b')]));
    // 1,013 - 113 - 13 tokens; 100 - 4 of the cost; 32 - 1 - 2 - 1 calls.
    expect(grants(m)[1]).toEqual({ tokens: 443, costMicros: 48, calls: 14 });
    expect(m.state.children).toHaveLength(1);
  });

  it('is at most that of its tool, also of time', () => {
    const own = { tokens: 50, costMicros: 7, calls: 3, timeMs: 900 };
    expect(grants(calling([call('a', { budgets: own })]))).toEqual([own]);
    const bounded = calling([call('a', { budgets: { ...own, tokens: 5_000 } })], {
      budgets: { tokens: 1_013, timeMs: 60_000 },
    });
    expect(grants(bounded)).toEqual([{ ...own, tokens: 500 }]);
    const late = calling([call('a', { budgets: { timeMs: 90_000 } })], {
      budgets: { timeMs: 60_000 },
    });
    expect(grants(late)).toEqual([{ timeMs: 60_000 }]);
  });

  it('that a sub-agent of an earlier turn has is not part of a later turn', () => {
    const m = calling([call('a', {}, { mode: 'detach' })], { budgets: { tokens: 1_013 } });
    m.model(modelSays('later')).send('again');
    m.model(modelCalls([call('b')]));
    expect(grants(m)).toEqual([{ tokens: 500 }, { tokens: 500 }]);
    report(m, started(m, 'a'));
    expect(m.state.turn?.usage).toEqual({ inputTokens: 10, outputTokens: 3 });
    expect(m.state.usage).toMatchObject({ inputTokens: 100, outputTokens: 39 });
  });

  it('whose call is approved after its turn is bounded by the budgets of the agent, and those reserved', () => {
    const plans = ['a', 'b'].map((id) => call(id, {}, { mode: 'detach', approval: GATE }));
    const m = calling(plans, { budgets: { tokens: 1_000, timeMs: 60_000 } });
    m.model(modelSays('later'));
    expect(m.state.turn).toBeUndefined();
    for (const id of ['a', 'b']) m.resolve(id, APPROVE);
    const share = { tokens: 500, timeMs: 60_000 };
    expect(grants(m)).toEqual([share, share]);
  });

  it('whose call is approved after its turn is shared with calls of that turn alone', () => {
    const gated = (id: string) => call(id, {}, { mode: 'detach', approval: GATE });
    const m = calling([gated('a')], { budgets: { tokens: 1_000 } });
    m.model(modelSays('later')).send('again');
    m.model(modelCalls([gated('c')])).model(modelSays('later'));
    m.resolve('a', APPROVE);
    expect(grants(m)).toEqual([{ tokens: 1_000 }]);
  });

  it('in the conversation of a sub-agent is part of that of all its turns', () => {
    const m = aChild({ budgets: { tokens: 1_000, calls: 20 } });
    m.send('hello');
    m.model(
      modelCalls([
        call('a', {}, { mode: 'detach' }),
        call('b', {}, { mode: 'detach', approval: GATE }),
      ]),
    );
    expect(grants(m)).toEqual([{ tokens: 493, calls: 9 }]);
    m.model(modelSays('later'));
    m.resolve('b', APPROVE);
    // Half of 1,000 tokens, without those of two model calls and of "a": later turns have the other half.
    expect(grants(m)[1]).toMatchObject({ tokens: Math.floor((1_000 - 26 - 493) / 2) });
    expect(grants(m)).toHaveLength(2);
  });

  it('of a later turn of a sub-agent is without what is reserved for those of earlier turns', () => {
    const granted = (coreRevision: number): unknown => {
      const m = aChild({ coreRevision, budgets: { tokens: 1_000 } });
      m.send('hello');
      m.model(modelCalls([call('a', {}, { mode: 'detach' })]));
      m.model(modelSays('later')).send('again');
      m.model(modelCalls([call('c')]));
      return grants(m)[1];
    };
    expect(granted(2)).toEqual({ tokens: Math.floor((1_000 - 39 - 493) / 2) });
    expect(granted(1)).toEqual({ tokens: Math.floor((1_000 - 39) / 2) });
  });

  it('whose call is approved after its turn was not bounded before revision 2', () => {
    const m = calling([call('a', {}, { mode: 'detach', approval: GATE })], {
      coreRevision: 1,
      budgets: { tokens: 1_000 },
    });
    m.model(modelSays('later'));
    m.resolve('a', APPROVE);
    expect(grants(m)).toEqual([{}]);
  });

  it('of nothing is no start: the call fails', () => {
    const m = calling([call('a', { budgets: { tokens: 0 } })]);
    expect(m.state.children).toBeUndefined();
    expect(resultOf(m, 'a')?.envelope).toEqual({
      ok: false,
      error: { code: 'too_many_calls', message: TEXTS.noBudgetForChild },
    });
  });
});

describe('the number of sub-agents', () => {
  it('is bounded, without those that are being closed', () => {
    const m = calling([call('a'), call('b')], { subAgents: { maxOpen: 1 } });
    expect(m.state.children).toHaveLength(1);
    expect(resultOf(m, 'b')?.envelope).toMatchObject({
      error: { code: 'too_many_calls', message: TEXTS.tooManyChildren(1) },
    });
    const childId = started(m, 'a');
    cancelTurn(m.machine, { actor: actor('ann') });
    m.machine.completed({ type: 'stop_child', childId }, { running: true });
    m.send('again');
    m.model(modelCalls([call('c')]));
    expect(m.state.children?.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
      ['a', 'stopping'],
      ['c', 'starting'],
    ]);
  });

  it('is bounded in depth', () => {
    const step = { conversationId: 'root', toolCallId: 'r', name: 'research' };
    const nested = (depth: number): ParentRef => ({
      root: 'root',
      path: Array.from({ length: depth }, () => step) as never,
    });
    for (const [depth, begins] of [
      [1, true],
      [2, false],
    ] as const) {
      const m = aChild({ subAgents: { maxDepth: 2 } }, nested(depth));
      m.send('hello');
      m.model(modelCalls([call('a')]));
      expect(m.state.children !== undefined).toBe(begins);
      if (!begins)
        expect(resultOf(m, 'a')?.envelope).toMatchObject({ error: { message: TEXTS.tooDeep(2) } });
    }
  });
});

describe('the report of a sub-agent', () => {
  it('is the result of its call, once, with known fields only', () => {
    const m = calling([call('a')]);
    const childId = started(m, 'a');
    m.mark();
    const outcome = report(m, childId, { ...END, output: { n: 1 }, error: undefined, more: 1 });
    expect(outcome).toMatchObject({ accepted: true, reply: { childId } });
    expect(m.types()).toEqual(['child_changed', 'tool_result']);
    expect(m.last('child_changed')).toMatchObject({
      status: 'ended',
      end: { status: 'completed', usage: END.usage, calls: 2 },
    });
    expect(m.last('child_changed').end).not.toHaveProperty('text');
    expect(resultOf(m, 'a')).toMatchObject({
      status: 'resolved',
      envelope: { ok: true, result: { n: 1 } },
      provenance: 'untrusted',
    });
    expect(report(m, childId)).toMatchObject({
      accepted: false,
      refusal: {
        code: 'invalid_request',
        message: `no sub-agent runs in conversation "${childId}"`,
      },
    });
    expect(m.state.children).toBeUndefined();
  });

  it.each<[string, Partial<ChildEnd>, unknown]>([
    ['is its text', {}, { ok: true, result: 'found' }],
    [
      'of a failure is an error',
      { status: 'failed', error: { code: 'max_steps', message: 'too long' } },
      {
        ok: false,
        error: { code: 'external_error', message: TEXTS.childFailed('researcher', 'too long') },
      },
    ],
    [
      'of a failure without an error says so',
      { status: 'failed' },
      {
        ok: false,
        error: { code: 'external_error', message: TEXTS.childFailed('researcher', '') },
      },
    ],
    [
      'of a cancel is an error',
      { status: 'cancelled' },
      { ok: false, error: { code: 'cancelled', message: TEXTS.childCancelled('researcher') } },
    ],
  ])('%s', (_, more, envelope) => {
    const m = calling([call('a')]);
    report(m, started(m, 'a'), { ...END, ...more });
    const provenance = more.status === 'cancelled' ? 'trusted' : 'untrusted';
    expect(resultOf(m, 'a')).toMatchObject({ envelope, provenance });
  });

  it.each([
    [7, ''],
    [{ childId: 7, end: END }, 'childId'],
    [{ childId: 'c', end: { ...END, status: 'over' } }, 'status'],
    [{ childId: 'c', end: { ...END, usage: {} } }, 'inputTokens'],
    [{ childId: 'c', end: { ...END, error: { code: 'x' } } }, 'message'],
    [{ childId: 'c', end: { ...END, calls: '2' } }, 'calls'],
  ])('without its form is refused: %j', (input, field) => {
    const m = calling([call('a')]);
    const outcome = m.machine.take('childEnded', input);
    expect(outcome).toMatchObject({
      accepted: false,
      refusal: {
        code: 'invalid_request',
        message: expect.stringMatching(new RegExp(`^the report is invalid: .*${field}`)) as string,
      },
    });
    expect(m.types()).toEqual([]);
  });

  it('changes nothing in a conversation that is closed', () => {
    const m = calling([call('a')]);
    const childId = started(m, 'a');
    closeConversation(m.machine);
    m.mark();
    expect(report(m, childId)).toMatchObject({ accepted: false });
    expect(m.types()).toEqual([]);
  });

  it('is a late result where the wait has ended and the tool takes one', () => {
    const m = calling([call('a', {}, { lateResult: 'inbox' }), call('b', {}, {})]);
    const [late, refused] = [started(m, 'a'), started(m, 'b')];
    m.advance(24 * 3_600_000);
    expect(m.effectTypes()).toContain('stop_child');
    expect(m.effects().filter(({ type }) => type === 'stop_child')).toEqual([
      { type: 'stop_child', childId: refused },
    ]);
    m.mark();
    report(m, late);
    expect(m.types()).toContain('inbox_event');
    report(m, refused);
    expect(m.types()).not.toContain('inbox_event');
  });
});

describe('a sub-agent whose result is not wanted any more', () => {
  const stops = (m: MachineUnderTest) =>
    m.effects().filter((effect): effect is EffectOf<'stop_child'> => effect.type === 'stop_child');

  it('is stopped once it has started, and counted when it reports', () => {
    const m = calling([call('a')]);
    const { childId } = childOf(m, 'a');
    cancelTurn(m.machine, { actor: actor('ann') });
    expect(stops(m)).toEqual([]);
    started(m, 'a');
    expect(stops(m)).toEqual([{ type: 'stop_child', childId }]);
    m.machine.completed({ type: 'stop_child', childId }, { running: true });
    expect([stops(m), childOf(m, 'a').status]).toEqual([[], 'stopping']);
    report(m, childId);
    expect(m.state).toMatchObject({ usage: { inputTokens: 80 } });
    expect(m.state.children).toBeUndefined();
  });

  it('is over where it does not run, or cannot be stopped', () => {
    for (const end of ['completed', 'lost'] as const) {
      const m = calling([call('a')]);
      const childId = started(m, 'a');
      cancelTurn(m.machine, { actor: actor('ann') });
      const effect = { type: 'stop_child', childId } as const;
      if (end === 'completed') m.machine.completed(effect, { running: false });
      else m.machine.lost(effect, { message: 'down', timedOut: false });
      expect([m.state.children, m.last('child_changed').status]).toEqual([undefined, 'ended']);
      expect(m.last('child_changed')).not.toHaveProperty('end');
    }
  });
});

describe('a start', () => {
  it('that is refused ends the call with its error', () => {
    const m = calling([call('a')]);
    const error = { code: 'not_available', message: 'gone' } as const;
    const { childId } = childOf(m, 'a');
    m.machine.completed({ type: 'start_child', childId }, { started: false, error });
    expect(resultOf(m, 'a')?.envelope).toEqual({ ok: false, error });
    expect(m.state.children).toBeUndefined();
  });

  it('that is lost ends the call, and what may run is stopped', () => {
    const m = calling([call('a')]);
    const { childId } = childOf(m, 'a');
    m.machine.lost({ type: 'start_child', childId }, { message: 'down', timedOut: false });
    expect(resultOf(m, 'a')?.envelope).toMatchObject({
      error: { code: 'tool_crashed', message: TEXTS.toolCrashed('down') },
    });
    expect(m.effectTypes()).toContain('stop_child');
  });
});
