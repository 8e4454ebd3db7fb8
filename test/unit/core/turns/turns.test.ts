/** One turn from message to end: server tools, batches, planned errors, limits, failures, the queue. */

import { describe, expect, it } from 'vitest';
import type { ToolMessage } from '../../../../src/protocol/conversation/messages.js';
import { TEXTS } from '../../../../src/protocol/failures/texts.js';
import { toolLost } from '../../../support/builders/call-ends.js';
import {
  brokenCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

function resultsOf(m: MachineUnderTest): readonly (readonly [string, unknown])[] {
  return m.messages
    .filter((message): message is ToolMessage => message.role === 'tool')
    .flatMap((message) => message.parts.map((part) => [part.toolCallId, part.envelope] as const));
}

describe('a turn', () => {
  it('with no tools is one model call and the model’s text', () => {
    const m = aMachine();
    const reply = m.send('hello');
    expect(m.types()).toEqual(['user_message', 'turn_started']);
    expect(reply).toEqual({ turnId: turn(1), messageId: `${turn(1)}.user`, seq: 2, ahead: 0 });
    expect(m.effects()).toEqual([{ type: 'call_model', turnId: turn(1), step: 1 }]);

    m.model(modelSays('hi'));
    expect(m.types()).toEqual(['model_call', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', text: 'hi', steps: 1 });
    expect(m.last('turn_ended')).not.toHaveProperty('reason');
    expect(m.effects()).toEqual([]);
  });

  it('feeds the result of a server tool back into a second model call (S1)', {
    ...promise('S1', 'C36', 'C37', 'C38', 'X17', 'X23', 'X30', 'X34'),
  }, () => {
    const m = aMachineWith(modelCalls([plannedCall('c1')]));
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c1', run: 1 }]);

    m.tool('c1', { refundId: 'r1' });
    expect(m.types()).toEqual(['tool_result']);
    expect(m.effects()).toEqual([{ type: 'call_model', turnId: turn(1), step: 2 }]);
    expect(m.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool']);
    expect(resultsOf(m)).toEqual([['c1', { ok: true, result: { refundId: 'r1' } }]]);

    m.model(modelSays('refunded'));
    expect(m.types()).toEqual(['model_call', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({
      text: 'refunded',
      steps: 2,
      usage: { inputTokens: 20, outputTokens: 6 },
    });
  });

  it('with two server tools and a question continues only after the answer, results in call order (S2)', {
    ...promise('S2', 'A26', 'A28'),
  }, () => {
    const m = aMachineWith(
      modelCalls([plannedCall('a'), plannedCall('q', { executor: 'human' }), plannedCall('b')]),
    );
    expect(m.effectTypes()).toEqual(['run_tool', 'await_deadline', 'run_tool']);

    m.tool('b', 2).tool('a', 1);
    expect(m.types()).toEqual(['tool_result', 'tool_result']);
    expect(m.effectTypes()).toEqual(['await_deadline']);
    expect(resultsOf(m)).toEqual([]);

    expect(m.resolve('q', { type: 'answer', value: 'blue' })).toMatchObject({
      verdict: 'accepted',
    });
    expect(m.types()).toEqual(['resolution', 'tool_result']);
    expect(resultsOf(m)).toEqual([
      ['a', { ok: true, result: 1 }],
      ['q', { ok: true, result: 'blue' }],
      ['b', { ok: true, result: 2 }],
    ]);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('gives every call that cannot run its error result at once, and continues (S32)', {
    ...promise('G88', 'S32'),
  }, () => {
    const m = aMachine();
    m.send('hello');
    m.mark();
    m.model(
      modelCalls([
        brokenCall('x'),
        plannedCall('ok'),
        brokenCall('y', 'invalid_json'),
        brokenCall('z', 'policy_error'),
      ]),
    );
    expect(m.types()).toEqual([
      'model_call',
      'assistant_message',
      ...['tool_call', 'tool_call', 'tool_call', 'tool_call'],
      ...['tool_result', 'tool_result', 'tool_result'],
    ]);
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'ok', run: 1 }]);
    m.tool('ok', 1);
    expect(resultsOf(m).map(([callId, envelope]) => [callId, envelope])).toEqual([
      ['x', { ok: false, error: { code: 'unknown_tool', message: 'unknown_tool of x' } }],
      ['ok', { ok: true, result: 1 }],
      ['y', { ok: false, error: { code: 'invalid_json', message: 'invalid_json of y' } }],
      ['z', { ok: false, error: { code: 'policy_error', message: 'policy_error of z' } }],
    ]);
  });

  it('never parks a gated call whose arguments are invalid (N17)', promise('C37'), () => {
    const broken = { ...brokenCall('g', 'invalid_input'), approval: { needed: true as const } };
    const m = aMachineWith(modelCalls([broken]));
    expect(m.pending).toEqual([]);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('takes the arguments of an internal tool as its result, and refuses to dispatch a provider’s', {
    ...promise('H18', 'H25'),
  }, () => {
    const m = aMachineWith(
      modelCalls([
        plannedCall('i', { executor: 'internal', input: { done: true } }),
        plannedCall('p', { executor: 'provider' }),
      ]),
    );
    expect(resultsOf(m)).toEqual([
      ['i', { ok: true, result: { success: true, args: { done: true } } }],
      [
        'p',
        {
          ok: false,
          error: { code: 'not_available', message: TEXTS.noLongerAvailable('provider.tool') },
        },
      ],
    ]);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('survives a model that asks for thousands of calls: it keeps some, and answers each of those', () => {
    const m = aMachine();
    m.send('go');
    m.model(modelCalls(Array.from({ length: 5_000 }, (_, index) => brokenCall(`c${index}`))));
    expect(m.all('tool_call')).toHaveLength(256);
    expect(resultsOf(m)).toHaveLength(256);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('stops at the limit of steps with a message that names it', promise('G91', 'S39'), () => {
    const m = aMachine({ settings: { maxSteps: 2 } });
    m.send('loop');
    m.model(modelCalls([plannedCall('c1')]))
      .tool('c1')
      .model(modelCalls([plannedCall('c2')]));
    m.mark();
    m.tool('c2');
    expect(m.types()).toEqual(['tool_result', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'completed',
      reason: 'max_steps',
      text: 'Exceeded maximum number of rounds (2). Stopping.',
      steps: 2,
    });
    expect(m.last('assistant_message')).toMatchObject({ synthetic: true });
    expect(m.state.turn).toBeUndefined();
  });

  it('ends as failed when the model fails, and the next message continues from there', {
    ...promise('G90'),
  }, () => {
    const m = aMachine();
    m.send('one');
    m.mark();
    m.modelFails({ code: 'model_bad_request', message: 'no' });
    expect(m.types()).toEqual(['turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'failed',
      reason: 'model_failed',
      error: { code: 'model_bad_request' },
    });
    m.send('two');
    m.model(modelSays('fine'));
    expect(m.types()).toEqual([
      'user_message',
      'turn_started',
      'model_call',
      'assistant_message',
      'turn_ended',
    ]);
    expect(m.last('turn_ended')).toMatchObject({ turnId: turn(2), status: 'completed' });
  });

  it('reports a lost run to the model by the effects that the tool declares', () => {
    const m = aMachineWith(
      modelCalls([
        plannedCall('slow'),
        plannedCall('dead'),
        plannedCall('pay', { effects: 'once', name: 'pay' }),
      ]),
    );
    toolLost(m.machine, 'slow', { timedOut: true, message: 'x' });
    toolLost(m.machine, 'dead', { timedOut: false, message: 'the worker was lost' });
    toolLost(m.machine, 'pay', { timedOut: true, message: 'x' });
    expect(resultsOf(m).map(([, envelope]) => envelope)).toEqual([
      { ok: false, error: { code: 'timeout', message: 'Tool timed out after 30000ms' } },
      { ok: false, error: { code: 'tool_crashed', message: 'tool crashed: the worker was lost' } },
      { ok: false, error: { code: 'outcome_unknown', message: TEXTS.outcomeUnknown('pay') } },
    ]);
  });

  it('accepts no run outcome for a call that waits for a person, and none twice', () => {
    const gated = plannedCall('g', { approval: { needed: true } });
    const m = aMachineWith(
      modelCalls([gated, plannedCall('q', { executor: 'human' }), plannedCall('s')]),
    );
    m.tool('g').tool('q').tool('s').tool('s', 'again').tool('nobody');
    expect(m.types()).toEqual(['tool_result']);
    expect(m.pending.map((call) => call.toolCallId)).toEqual(['g', 'q']);
  });

  it('drops the answer of a model call that is no longer awaited', () => {
    const m = aMachineWith(modelCalls([plannedCall('c1')]));
    m.modelCompleted({ turnId: turn(1), step: 1 }, modelSays('again'));
    m.modelCompleted({ turnId: turn(7), step: 1 }, modelSays('foreign'));
    m.modelFailed({ turnId: turn(1), step: 1 }, { code: 'internal', message: 'late' });
    m.modelAborted({ turnId: turn(1), step: 1 });
    expect(m.types()).toEqual([]);
  });
});
