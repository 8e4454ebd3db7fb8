/** The limits of a turn, and failures that end it: checked before the spend, and named when reached. */

import { describe, expect, it } from 'vitest';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import {
  DENY,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  modelSays,
  type plannedCall as Planned,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

function running(
  settings: Partial<AgentSettings>,
  ...calls: ReturnType<typeof Planned>[]
): MachineUnderTest {
  const m = aMachine({ settings });
  m.send('hello');
  return calls.length === 0 ? m : m.model(modelCalls(calls));
}

const same = (id: string) => plannedCall(id, { name: 'look', input: { of: 'it' } });
const errorsOf = (m: MachineUnderTest) =>
  m
    .all('tool_result')
    .flatMap(({ toolCallId, result: { envelope } }) =>
      envelope.ok ? [] : [[toolCallId, envelope.error.code, envelope.error.message] as const],
    );

describe('a turn with a budget', () => {
  it('of tokens makes no model call once they are used up, and says so', promise('G92'), () => {
    const m = running({ budgets: { tokens: 13 } });
    const { inputTokens, outputTokens } = modelSays('').usage;
    expect(inputTokens + outputTokens).toBe(13);
    m.model(modelCalls([plannedCall('s')]));
    m.mark();
    m.tool('s');
    expect(m.effects()).toEqual([]);
    expect(m.types()).toEqual(['tool_result', 'assistant_message', 'turn_ended']);
    const text = 'Exceeded the token budget of this turn (13 tokens). Stopping.';
    expect(m.last('assistant_message')).toMatchObject({ parts: [{ text }], synthetic: true });
    expect(m.last('turn_ended')).toMatchObject({
      status: 'completed',
      reason: 'token_budget',
      text,
      steps: 1,
    });
  });

  it('of cost makes no model call once it is used up, and says so', promise('G92'), () => {
    const m = running({ budgets: { cost: { micros: 500_000, currency: 'EUR' } } });
    const costing = (costMicros: number, id: string) => {
      const asked = modelCalls([plannedCall(id)]);
      return { ...asked, usage: { ...asked.usage, costMicros } };
    };
    m.model(costing(499_999, 'one')).tool('one');
    expect(m.effectTypes()).toEqual(['call_model']);
    // A call without a cost adds nothing; every call of old logs has none.
    m.model(modelCalls([plannedCall('two')])).tool('two');
    m.model(costing(1, 'three'));
    m.mark();
    m.tool('three');
    expect(m.types()).toEqual(['tool_result', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'completed',
      reason: 'cost_budget',
      text: 'Exceeded the cost budget of this turn (0.5 EUR). Stopping.',
      steps: 3,
      usage: { costMicros: 500_000 },
    });
    expect(m.state.usage.costMicros).toBe(500_000);
    expect(m.effects()).toEqual([]);
  });

  it('of time stops running and pending calls when it is over, each call with its result', {
    ...promise('G92'),
  }, () => {
    const m = running(
      { budgets: { timeMs: MINUTE_MS } },
      plannedCall('s'),
      plannedCall('q', { executor: 'human' }),
    );
    expect(m.effectTypes()).toEqual(['run_tool', 'await_deadline', 'await_turn_limit']);
    m.advance(MINUTE_MS - 1);
    expect(m.all('turn_limit_reached')).toEqual([]);
    m.mark();
    m.advance(1);
    expect(m.types()).toEqual([
      ...['turn_limit_reached', 'tool_result', 'tool_result', 'assistant_message', 'turn_ended'],
    ]);
    expect(errorsOf(m).map(([id, code]) => [id, code])).toEqual([
      ['s', 'cancelled'],
      ['q', 'cancelled'],
    ]);
    expect(m.last('turn_ended')).toMatchObject({
      reason: 'time_budget',
      text: 'Exceeded the time budget of this turn (60000ms). Stopping.',
      steps: 1,
    });
    expect(m.resolve('q', { type: 'answer', value: 1 })).toMatchObject({ verdict: 'stale' });
    m.tool('s');
    expect(m.effects()).toEqual([]);
  });

  it('of time aborts the model call in flight, and keeps the text that has come', () => {
    const m = running({ budgets: { timeMs: MINUTE_MS } });
    m.advance(MINUTE_MS);
    expect(m.effectTypes()).toEqual(['abort_model']);
    m.model({ ...modelSays('Once upon'), aborted: true });
    expect(m.all('assistant_message').map(({ messageId }) => messageId)).toEqual([
      `${turn(1)}.1`,
      `${turn(1)}.limit`,
    ]);
    expect(m.last('turn_ended')).toMatchObject({ reason: 'time_budget', status: 'completed' });
    m.send('go on');
    expect(m.effectTypes()).toEqual(['call_model', 'await_turn_limit']);
  });

  it('of time yields to a person who stops the turn first', () => {
    const m = running({ budgets: { timeMs: MINUTE_MS } });
    cancelTurn(m.machine, {});
    m.advance(MINUTE_MS);
    m.turnTimePassed(turn(1));
    m.model({ ...modelSays('Once'), aborted: true });
    expect(m.last('turn_ended')).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
  });

  it('of calls lets no more run, in one step or over several, and names the limit to the model', {
    ...promise('G92'),
  }, () => {
    const m = running(
      { budgets: { calls: 2 } },
      plannedCall('a'),
      plannedCall('b'),
      plannedCall('c'),
    );
    expect(m.effects()).toMatchObject([{ toolCallId: 'a' }, { toolCallId: 'b' }]);
    m.tool('a')
      .tool('b')
      .model(modelCalls([plannedCall('d')]));
    expect(errorsOf(m)).toEqual([
      ['c', 'too_many_calls', expect.stringContaining('the limit is 2')],
      ['d', 'too_many_calls', expect.stringContaining('the limit is 2')],
    ]);
    m.model(modelSays('done'));
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', text: 'done' });
  });

  it('of calls of one tool leaves the others alone, and begins anew with the next turn', () => {
    const m = running({ budgets: { callsOf: { look: 1, constructor: 0 } } }, same('a'));
    m.tool('a').model(modelCalls([same('b'), plannedCall('c', { name: 'other' })]));
    expect(errorsOf(m)).toEqual([['b', 'too_many_calls', expect.stringContaining('tool "look"')]]);
    m.tool('c').model(modelSays('done'));
    m.send('again');
    m.model(modelCalls([same('d')]));
    expect(m.effects()).toMatchObject([{ type: 'run_tool', toolCallId: 'd' }]);
  });

  it('counts on after a roll-over', () => {
    const m = running({ budgets: { calls: 1 } }, plannedCall('a'));
    m.rollOver();
    m.tool('a').model(modelCalls([plannedCall('b')]));
    expect(errorsOf(m).map(([id, code]) => [id, code])).toEqual([['b', 'too_many_calls']]);
  });
});

describe('a call that is repeated', () => {
  it('with the same arguments is not run from the limit on; with others it is', {
    ...promise('G93'),
  }, () => {
    const m = running({ repeatLimit: 3 }, same('a'), same('b'), same('c'));
    expect(errorsOf(m)).toEqual([
      ['c', 'repeated_call', expect.stringContaining('3 times with the same arguments')],
    ]);
    m.tool('a').tool('b');
    m.model(modelCalls([same('d'), plannedCall('e', { name: 'look', input: { of: 'another' } })]));
    expect(m.effects()).toMatchObject([{ type: 'run_tool', toolCallId: 'e' }]);
  });

  it('runs once more before the limit, and its result warns the model without a change to the tool’s own', {
    ...promise('G93'),
  }, () => {
    const m = running({ repeatLimit: 3 }, same('a'));
    m.tool('a', 'first').model(modelCalls([same('b'), plannedCall('x', { name: 'look' })]));
    m.tool('b', 'second')
      .tool('x')
      .model(modelCalls([same('c')]));
    const notice = expect.stringMatching(/2 times .* The next such call will not run/) as string;
    expect(m.all('tool_result').map(({ result }) => result.envelope)).toEqual([
      { ok: true, result: 'first' },
      { ok: true, result: 'second', notice },
      { ok: true, result: 'done' },
      { ok: false, error: { code: 'repeated_call', message: expect.anything() as string } },
    ]);
    expect(m.state.transcript.findLast(({ role }) => role === 'tool')).toMatchObject({
      parts: [{ toolCallId: 'c' }],
    });
    expect(JSON.stringify(m.state.transcript)).toContain('The next such call will not run');
  });

  it.each([
    [2, ['a', 'b'], []],
    [4, ['a', 'b', 'c', 'd'], ['c']],
  ])('causes one warning, at a limit of %i', (repeatLimit, ids, warned) => {
    const m = running({ repeatLimit }, ...ids.map(same));
    for (const id of ids) m.tool(id);
    const seen = m.all('tool_result').filter(({ result }) => result.envelope.notice !== undefined);
    expect(seen.map(({ toolCallId }) => toolCallId)).toEqual(warned);
  });

  it('causes the warning with any result: a denial, or the pending of a detached call', () => {
    const gated = (id: string) => gatedCall(id, { name: 'look', input: { of: 'it' } });
    const m = running({ repeatLimit: 3 }, gated('a'), gated('b'));
    m.resolve('b', DENY);
    expect(m.last('tool_result')).toMatchObject({
      result: { status: 'denied', envelope: { ok: false, notice: expect.anything() as string } },
    });
    const away = (id: string): ReturnType<typeof same> => ({ ...same(id), mode: 'detach' });
    const n = running({ repeatLimit: 3 }, away('a'), away('b'));
    expect(n.all('tool_result')[1]).toMatchObject({
      toolCallId: 'b',
      result: { status: 'detached', envelope: { ok: true, notice: expect.anything() as string } },
    });
    n.tool('b', 'late');
    expect(n.last('inbox_event').result?.envelope).toEqual({ ok: true, result: 'late' });
  });

  it('runs any number of times without a limit', () => {
    const m = running({}, same('a'), same('b'), same('c'), same('d'));
    expect(m.effects()).toHaveLength(4);
    expect(m.state.turn).not.toHaveProperty('spent');
  });
});

describe('a failing tool', () => {
  const failed = (m: MachineUnderTest, id: string) =>
    toolFinished(m.machine, id, {
      envelope: { ok: false, error: { code: 'tool_error', message: 'no stock' } },
      executionMs: 1,
    });

  it('ends the turn where the agent wants that, with a result for each call', {
    ...promise('G111'),
  }, () => {
    const m = running(
      { onToolError: 'abort_turn' },
      plannedCall('a', { name: 'stock' }),
      plannedCall('b'),
    );
    failed(m, 'a');
    expect(m.last('turn_ended')).toMatchObject({
      status: 'failed',
      reason: 'tool_failed',
      error: { code: 'tool_error', message: 'stock: no stock' },
    });
    expect(errorsOf(m).map(([id, code]) => [id, code])).toEqual([
      ['a', 'tool_error'],
      ['b', 'cancelled'],
    ]);
    expect(m.state.transcript.at(-1)).toMatchObject({ role: 'tool', parts: [{}, {}] });
    m.send('and now?');
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('ends it also as the last of its step', () => {
    const m = running({ onToolError: 'abort_turn' }, plannedCall('a'));
    failed(m, 'a');
    expect(m.effects()).toEqual([]);
    expect(m.all('turn_ended')).toHaveLength(1);
  });

  it('is an error for the model otherwise; a person who denies, declines or is silent never ends a turn', {
    ...promise('G111'),
  }, () => {
    const m = running({}, plannedCall('a'));
    failed(m, 'a');
    expect(m.effectTypes()).toEqual(['call_model']);
    const strict = running(
      { onToolError: 'abort_turn' },
      plannedCall('g', { approval: { needed: true } }),
    );
    strict.resolve('g', { type: 'deny' });
    expect(strict.effectTypes()).toEqual(['call_model']);
    const asked = plannedCall('q', { executor: 'human' });
    const declined = running({ onToolError: 'abort_turn' }, asked);
    declined.resolve('q', { type: 'decline' });
    expect(declined.all('turn_ended')).toEqual([]);
  });

  it('that the agent does not have ends the turn in strict mode only', promise('G111'), () => {
    const unknown = () =>
      plannedCall('x', { name: 'nope', error: { code: 'unknown_tool', message: 'not found' } });
    expect(running({ onToolError: 'abort_turn' }, unknown()).effectTypes()).toEqual(['call_model']);
    const strict = running({ onUnknownTool: 'abort_turn' }, unknown());
    expect(strict.last('turn_ended')).toMatchObject({
      status: 'failed',
      error: { code: 'unknown_tool', message: 'nope: not found' },
    });
  });
});
