/** Calls that the model's provider has run: shown, and nothing else. A8, A13, N22, S19. */

import { describe, expect, it } from 'vitest';
import { toolCallView } from '../../../../src/core/view/snapshot.js';
import type { CallModelResult } from '../../../../src/protocol/workflow/activities.js';
import {
  answer,
  modelCalls,
  modelSays,
  plannedCall,
  providerCall,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, aMachineWith } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const ITEM = {
  type: 'provider_item' as const,
  provider: 'openai',
  item: { type: 'web_search_call', id: 'ws_1', action: { query: 'rain' } },
};

function searched(outcome: CallModelResult, ...ids: readonly string[]): CallModelResult {
  return {
    ...outcome,
    parts: [ITEM, ...outcome.parts],
    providerCalls: ids.map((id) => providerCall(id)),
  };
}

describe('a call that the provider has run', () => {
  it('is in the log with its result before the answer, and the turn is over', () => {
    const m = aMachineWith(searched(modelSays('It rains.'), 'ws_1'));
    expect(m.all('tool_call')).toMatchObject([
      { step: 1, executed: true, call: { toolCallId: 'ws_1', executor: 'provider' } },
    ]);
    expect(m.all('tool_result')).toMatchObject([
      {
        toolCallId: 'ws_1',
        name: 'search',
        result: { status: 'resolved', provenance: 'untrusted' },
      },
    ]);
    expect(m.events.slice(-5).map(({ type }) => type)).toEqual([
      ...['model_call', 'tool_call', 'tool_result', 'assistant_message', 'turn_ended'],
    ]);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'completed',
      text: 'It rains.',
      steps: 1,
    });
    expect(m.effects()).toEqual([]);
    expectInvariants(m);
    expectViewsAgree(m.events);
  });

  it('gets no message of results; its own item stays in the transcript as it came', {
    ...promise('S19', 'A8'),
  }, () => {
    const m = aMachineWith(searched(modelSays('It rains.'), 'ws_1'));
    expect(m.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(m.messages[1]?.parts).toEqual([ITEM, { type: 'text', text: 'It rains.' }]);
    expect(m.state.calls).toEqual({});
  });

  it('stands beside pending calls, and the step is over when those are', promise('G94'), () => {
    const asked = modelCalls([plannedCall('s'), plannedCall('q', { executor: 'human' })]);
    const m = aMachineWith(searched(asked, 'ws_1', 'ws_2'));
    expect(m.effectTypes()).toEqual(['run_tool', 'await_deadline']);
    expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['q']);
    expectInvariants(m);
    m.tool('s').resolve('q', answer('yes'));
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(m.messages.at(-1)?.parts).toMatchObject([
      { type: 'tool_result', toolCallId: 's' },
      { type: 'tool_result', toolCallId: 'q' },
    ]);
    expectViewsAgree(m.events);
  });

  it('cannot be answered, and its outcome is in the verdict, after a roll-over too', () => {
    const m = aMachineWith(searched(modelCalls([plannedCall('s')]), 'ws_1'));
    m.rollOver();
    expect(m.resolve('ws_1', { type: 'result', value: 'mine' })).toMatchObject({
      verdict: 'stale',
    });
    expect(toolCallView(m.state, 'ws_1')).toMatchObject({ name: 'search', status: 'resolved' });
  });

  it('takes another id where its own is used, and never the id of a pending call', () => {
    const m = aMachineWith(searched(modelCalls([plannedCall('s')]), 's', 's'));
    const calls = m.all('tool_call');
    expect(calls.map(({ providerCallId }) => providerCallId)).toEqual(['s', 's', undefined]);
    expect(new Set(calls.map(({ call }) => call.toolCallId)).size).toBe(3);
    expect(calls[2]?.call.toolCallId).toBe('s');
    expectInvariants(m);
  });

  it('counts for no bound and ends no turn when it failed', () => {
    const m = aMachine({
      settings: { budgets: { calls: 1 }, repeatLimit: 2, onToolError: 'abort_turn' },
    });
    m.send('hello');
    const failed = providerCall('ws_1');
    const error = { code: 'provider_error' as const, message: 'no network' };
    m.model({
      ...modelCalls([plannedCall('s', { name: 'search' })]),
      providerCalls: [
        {
          ...failed,
          result: { ...failed.result, status: 'errored', envelope: { ok: false, error } },
        },
        providerCall('ws_2'),
      ],
    });
    expect(m.effectTypes()).toEqual(['run_tool']);
  });

  it('is dropped with the answer of a turn that was stopped', () => {
    const m = aMachine();
    m.send('hello');
    cancelTurn(m.machine, {});
    m.model(searched(modelSays('It rains.'), 'ws_1'));
    expect(m.all('tool_call')).toEqual([]);
    expect(m.last('turn_ended')).toMatchObject({ status: 'cancelled', text: 'It rains.' });
    expectInvariants(m);
  });
});
