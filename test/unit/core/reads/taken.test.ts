/** Results of reads that come with an answer: taken where the call is due for its first run, else dropped. */

import { describe, expect, it } from 'vitest';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type { CallModelResult } from '../../../../src/protocol/workflow/activities.js';
import {
  actor,
  brokenCall,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  providerCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { aRead, withResults } from '../../../support/schedules/core-reads.js';

function running(settings: Partial<AgentSettings> = {}): MachineUnderTest {
  const m = aMachine({ settings });
  m.send('hello');
  m.mark();
  return m;
}

const read = (index: number, toolCallId: string) => ({ index, toolCallId });
const resultsOf = (m: MachineUnderTest) =>
  m
    .all('tool_result')
    .map(({ toolCallId, result: { envelope, status } }) => [
      toolCallId,
      status,
      envelope.ok ? envelope.result : envelope.error.code,
    ]);

describe('an answer with the results of its reads', () => {
  it('is recorded without a difference: model call, message, calls, results in call order, and the next model call', {
    ...promise('G55'),
  }, () => {
    const m = running();
    const outcome = modelCalls([aRead('one'), aRead('two')]);
    m.model(withResults(outcome, [read(1, 'two'), read(0, 'one')]));
    expect(m.types()).toEqual([
      ...['model_call', 'assistant_message', 'tool_call', 'tool_call'],
      ...['tool_result', 'tool_result'],
    ]);
    expect(resultsOf(m)).toEqual([
      ['one', 'resolved', 'read one'],
      ['two', 'resolved', 'read two'],
    ]);
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(m.state.turn?.step).toBe(2);
    expect(m.state.transcript.at(-1)).toMatchObject({ role: 'tool', parts: [{}, {}] });
  });

  it('has missing reads run as activities, and the results enter the transcript together', () => {
    const m = running();
    m.model(withResults(modelCalls([aRead('one'), aRead('two')]), [read(1, 'two')]));
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'one', run: 1 }]);
    expect(m.state.transcript.at(-1)).toMatchObject({ role: 'assistant' });
    m.tool('one');
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('opens waits before it records results, and stays in the step', () => {
    const m = running();
    const outcome = modelCalls([gatedCall('gate'), aRead('r')]);
    m.model(withResults(outcome, [read(1, 'r')]));
    expect(m.types()).toEqual([
      ...['model_call', 'assistant_message', 'tool_call', 'tool_call'],
      ...['suspension', 'tool_result'],
    ]);
    expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['gate']);
    expect(m.effectTypes()).toEqual(['await_deadline']);
  });

  it('carries the warning of a repetition beside the result', () => {
    const m = running({ repeatLimit: 3 });
    const same = (id: string) => aRead(id, { input: { of: 'it' } });
    m.model(withResults(modelCalls([same('a')]), [read(0, 'a')]));
    m.model(withResults(modelCalls([same('b')]), [read(0, 'b')]));
    expect(m.last('tool_result').result.envelope).toMatchObject({
      ok: true,
      notice: expect.stringContaining('look') as string,
    });
  });

  it('ends the turn with the first read that fails, where the agent wants that', () => {
    const m = running({ onToolError: 'abort_turn' });
    const outcome = modelCalls([aRead('one'), aRead('two')]);
    const failed = { ok: false, error: { code: 'tool_error', message: 'no' } } as const;
    const [one, two] = withResults(outcome, [read(0, 'one'), read(1, 'two')]).calls;
    if (one === undefined || two === undefined) throw new Error('unreachable');
    const bad = {
      ...one,
      read: { toolCallId: 'one', ended: { envelope: failed, executionMs: 1 } },
    };
    m.model({ ...outcome, calls: [bad, two] });
    expect(resultsOf(m)).toEqual([
      ['one', 'errored', 'tool_error'],
      ['two', 'cancelled', 'cancelled'],
    ]);
    expect(m.last('turn_ended')).toMatchObject({ status: 'failed', reason: 'tool_failed' });
  });
});

/** Each offers a result for a call that needs none. */
const DROPPED: readonly (readonly [string, CallModelResult, Partial<AgentSettings>, string])[] = [
  [
    'under another id than its call has',
    withResults(modelCalls([aRead('r')]), [read(0, 'other')]),
    {},
    'run_tool',
  ],
  [
    'of another call of the answer',
    withResults(modelCalls([aRead('one'), gatedCall('two')]), [read(1, 'one')]),
    {},
    'run_tool',
  ],
  [
    'of a tool that is not inline',
    withResults(modelCalls([plannedCall('r', { effects: 'none' })]), [read(0, 'r')]),
    {},
    'run_tool',
  ],
  [
    'of a tool with effects',
    withResults(modelCalls([aRead('r', { effects: 'once' })]), [read(0, 'r')]),
    {},
    'run_tool',
  ],
  [
    'of a call that waits for an approval',
    withResults(modelCalls([aRead('r', { approval: { needed: true } })]), [read(0, 'r')]),
    {},
    'await_deadline',
  ],
  [
    'of a detached call',
    withResults(modelCalls([aRead('r', { mode: 'detach' })]), [read(0, 'r')]),
    {},
    'run_tool',
  ],
  [
    'where calls run one after the other',
    withResults(modelCalls([aRead('r')]), [read(0, 'r')]),
    { toolExecution: 'sequential' },
    'run_tool',
  ],
  [
    'in an answer whose provider has run tools',
    {
      ...withResults(modelCalls([aRead('r')]), [read(0, 'r')]),
      providerCalls: [providerCall('ws_1')],
    },
    {},
    'run_tool',
  ],
];

describe('a result is dropped', () => {
  it.each(DROPPED)('%s, and the due work is done', (_why, outcome, settings, due) => {
    const m = running(settings);
    m.model(outcome);
    expect(m.all('tool_result').filter(({ result }) => result.status === 'resolved')).toHaveLength(
      outcome.providerCalls?.length ?? 0,
    );
    expect(m.effectTypes()).toContain(due);
  });

  it('past a bound, by which the call has its error', () => {
    const m = running({ budgets: { calls: 1 } });
    const outcome = modelCalls([aRead('one'), aRead('two')]);
    m.model(withResults(outcome, [read(0, 'one'), read(1, 'two')]));
    expect(resultsOf(m)).toEqual([
      ['two', 'errored', 'too_many_calls'],
      ['one', 'resolved', 'read one'],
    ]);
  });

  it('with its turn, where a call of the same answer ends that', () => {
    const m = running({ onUnknownTool: 'abort_turn' });
    m.model(withResults(modelCalls([aRead('r'), brokenCall('none')]), [read(0, 'r')]));
    expect(m.last('turn_ended')).toMatchObject({ status: 'failed' });
    expect(m.last('tool_result')).toMatchObject({
      toolCallId: 'r',
      result: { status: 'cancelled' },
    });
  });

  it('when the turn was cancelled, interrupted or out of time meanwhile: the answer counts as stopped', {
    ...promise('G60'),
  }, () => {
    const outcome = withResults(modelCalls([aRead('r')], 'half'), [read(0, 'r')]);
    const cancelled = running();
    cancelTurn(cancelled.machine, { actor: actor('ann') });
    const interrupted = running({ onBusy: 'interrupt' });
    interrupted.send('something else');
    const late = running({ budgets: { timeMs: 1_000 } });
    late.advance(1_000);
    for (const m of [cancelled, interrupted, late]) {
      const { turn: before } = m.state;
      m.modelCompleted({ turnId: turn(1), step: 1 }, outcome);
      expect(before?.turnId).toBe(turn(1));
      expect(m.all('tool_call')).toEqual([]);
      expect(m.all('tool_result')).toEqual([]);
      expect(m.all('assistant_message')[0]).toMatchObject({ partial: true });
      expect(m.all('turn_ended')).toHaveLength(1);
    }
  });

  it('when that model call is no longer awaited', () => {
    const m = running();
    m.model(modelSays('done'));
    m.mark();
    const outcome = withResults(modelCalls([aRead('r')]), [read(0, 'r')]);
    m.modelCompleted({ turnId: turn(1), step: 1 }, outcome);
    expect(m.types()).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['a question', { ask: { form: {} }, executionMs: 1 }],
    ['a refused answer', { refused: [], executionMs: 1 }],
    ['nothing', null],
  ])('when it is %s in place of a result', (_what, ended) => {
    const m = running();
    const outcome = modelCalls([aRead('r')]);
    const calls = outcome.calls.map((call) => ({
      ...call,
      read: { toolCallId: 'r', ended: ended as never },
    }));
    m.model({ ...outcome, calls });
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'r', run: 1 }]);
  });
});
