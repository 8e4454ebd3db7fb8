/** The places at which a conversation can be forked, and what a fork takes over. */
import { describe, expect, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import { isCut } from '../../../../src/core/fork/cuts.js';
import { notReopened } from '../../../../src/core/fork/fork.js';
import type { CallState } from '../../../../src/core/state/calls.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import { toolLost } from '../../../support/builders/call-ends.js';
import {
  APPROVE,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cutsOf, forkAt } from '../../../support/forks/core-forks.js';
import { promise } from '../../../support/promise.js';
import { asks } from '../../../support/schedules/core-asks.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

/** The types of all events, those at which a fork is possible with a mark. */
function marked({ events }: MachineUnderTest): readonly string[] {
  let state: ConversationState | undefined;
  return events.map((event) => {
    state = apply(state, event);
    return `${isCut(state, event) ? '* ' : ''}${event.type}`;
  });
}

const NOT_CARRIED = { ok: false, error: { code: 'not_carried' } };

describe('a conversation can be forked', promise('G378'), () => {
  it('at the end of a turn, and of each step, and not within a model call', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([plannedCall('a'), plannedCall('b')]))
      .tool('b')
      .tool('a')
      .model(modelSays('done'));
    expect(marked(m)).toEqual([
      ...['conversation_started', 'user_message', 'turn_started', 'model_call'],
      ...['assistant_message', 'tool_call', '* tool_call', '* tool_result', '* tool_result'],
      ...['model_call', 'assistant_message', '* turn_ended'],
    ]);
  });

  it('where calls wait for people, once all of the step wait', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), plannedCall('q', { executor: 'human' })]));
    expect(marked(m).slice(3)).toEqual([
      ...['model_call', 'assistant_message', 'tool_call', 'tool_call'],
      ...['suspension', '* suspension'],
    ]);
  });

  it('at the end of a turn while a message waits, and not where the message came', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('one');
    m.send('two');
    m.model(modelSays('first'));
    expect(marked(m).slice(3)).toEqual([
      ...['user_message', 'model_call', 'assistant_message', '* turn_ended', 'turn_started'],
    ]);
  });

  it('and not once it is closed', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelSays('done'));
    m.machine.close('idle');
    expect(marked(m).at(-1)).toBe('conversation_closed');
  });
});

describe('a fork', promise('G379'), () => {
  it('has an error for each call that was open, in the order of the model, and waits for a message', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), plannedCall('a'), plannedCall('r')])).tool('a');
    const fork = forkAt(m, m.state.lastSeq);
    expect(fork.pending).toEqual([]);
    expect(fork.state.turn).toBeUndefined();
    expect(fork.effects()).toEqual([]);
    expect(fork.messages.at(-1)?.parts).toMatchObject([
      { toolCallId: 'g', envelope: NOT_CARRIED },
      { toolCallId: 'a', envelope: { ok: true } },
      { toolCallId: 'r', envelope: NOT_CARRIED },
    ]);
    expect(fork.last('turn_ended')).toMatchObject({ status: 'cancelled', reason: 'forked' });
    expect(fork.resolve('g', APPROVE)).toMatchObject({ verdict: 'stale', code: 'not_carried' });
    fork.send('again');
    fork.model(modelSays('fine'));
    expect(fork.last('turn_ended')).toMatchObject({ status: 'completed' });
    expect(m.pending).toMatchObject([{ toolCallId: 'g' }]);
  });

  it('goes on with the turn where a call waits anew, with new deadlines and another key', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), gatedCall('h')]));
    const [was] = m.pending;
    const fork = forkAt(m, m.state.lastSeq, { reopen: ['g'], afterMs: 60_000 });
    expect(fork.pending).toMatchObject([{ toolCallId: 'g', kind: 'approval' }]);
    expect(Date.parse(fork.pending[0]?.deadline ?? '')).toBe(
      Date.parse(was?.deadline ?? '') + 60_000,
    );
    expect(fork.resolve('h', APPROVE)).toMatchObject({ verdict: 'stale' });
    expect(fork.resolve('g', APPROVE)).toMatchObject({ verdict: 'accepted' });
    expect(fork.effectTypes()).toContain('run_tool');
    fork.tool('g').model(modelSays('done'));
    expect(fork.last('turn_ended')).toMatchObject({ status: 'completed', turnId: was?.turnId });
    expect(m.pending).toHaveLength(2);
  });

  it('starts no turn for unread input, and the model reads it with the first message', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g', { mode: 'detach' })])).model(modelSays('pending'));
    const fork = forkAt(m, m.state.lastSeq);
    expect(fork.state.turn).toBeUndefined();
    expect(fork.state.inbox).toMatchObject([{ eventId: 'tr:g' }]);
    fork.send('and now?');
    expect(JSON.stringify(fork.messages.slice(-2))).toContain('not_carried');
  });

  it('ends messages that waited there: each is a turn that never began', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    m.send('one');
    const { turnId } = m.send('two');
    m.model(modelSays('first'));
    const [seq = 0] = cutsOf(m.events).slice(-1);
    const fork = forkAt(m, seq);
    expect(fork.state.queue).toEqual([]);
    expect(fork.last('turn_ended')).toMatchObject({
      ...{ turnId, status: 'cancelled', reason: 'forked' },
      ...{ text: '', steps: 0, usage: { inputTokens: 0, outputTokens: 0 } },
    });
    expect(fork.events.map((event) => event.seq)).toEqual(fork.events.map((_, place) => place + 1));
  });

  it('has usage of its own, and no rules, requests and sub-agents of the origin', () => {
    const m = aMachine();
    m.send('one', { requestId: 'job-1' });
    m.model(modelSays('done'));
    const fork = forkAt(m, m.state.lastSeq);
    expect(fork.state.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
    expect(fork.state.requests).toEqual([]);
    expect(fork.state.origin).toEqual({ conversationId: 'order-42', generation: 1, seq: 6 });
    expect(fork.trySend('one', { requestId: 'job-1' })).toMatchObject({ accepted: true });
  });
});

it('a turn that goes on in forks has sub-agents of its own in each', promise('G385'), () => {
  const m = aMachine();
  m.send('one');
  m.model(modelCalls([gatedCall('a')]));
  const seq = m.state.lastSeq;
  const children = [m, forkAt(m, seq, { reopen: ['a'] })].map((one) => {
    one.resolve('a', APPROVE);
    one.tool('a');
    const subAgent = { agent: 'x' };
    one.model(modelCalls([plannedCall('b', { executor: 'external', subAgent })]));
    return one.state.children?.map(({ childId }) => childId);
  });
  expect(children.map((ids) => ids?.length)).toEqual([1, 1]);
  expect(children[0]).not.toEqual(children[1]);
});

describe('a call cannot wait anew in a fork', promise('G380'), () => {
  const asked = (call: ReturnType<typeof plannedCall>): MachineUnderTest => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([call, gatedCall('other')]));
    return m;
  };

  it.each([
    ['is not known', 'unknown', asked(plannedCall('other-2')), 'a'],
    [
      'has effects that must not happen twice',
      'effects_once',
      asked(gatedCall('a', { effects: 'once' })),
      'a',
    ],
    ['runs', 'running', asked(plannedCall('a')), 'a'],
    ['has its result', 'ended', asked(plannedCall('a')).tool('a'), 'a'],
    [
      'is run by a sub-agent',
      'sub_agent',
      asked(gatedCall('a', { subAgent: { agent: 'x' } })),
      'a',
    ],
    ['was answered', 'running', answered(), 'a'],
    ['may have run', 'effects_once', unknown(), 'a'],
    ['asked in the middle of its work', 'has_run', askedAgain(), 'a'],
  ] as const)('that %s', (_title, reason, m, callId) => {
    expect(notReopened(m.state, callId)).toBe(reason);
    expect(notReopened(m.state, 'other')).toBeUndefined();
  });

  function answered(): MachineUnderTest {
    const m = asked(gatedCall('a'));
    m.resolve('a', APPROVE);
    return m;
  }

  it('that had its result in an earlier turn, and is a record alone', () => {
    const m = asked(plannedCall('a')).tool('a');
    m.resolve('other', { type: 'deny' });
    m.model(modelSays('done'));
    m.send('two');
    m.model(modelSays('done'));
    expect(m.state.calls['a']).toBeUndefined();
    expect(notReopened(m.state, 'a')).toBe('ended');
    expect(notReopened(m.state, 'b')).toBe('unknown');
  });

  it('of a turn that is being stopped, unless it is detached', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('d', { mode: 'detach' })]));
    m.model(modelCalls([gatedCall('g'), plannedCall('r')]));
    const { turn } = m.state;
    const cancel = { requestId: 'stop', at: '', by: undefined } as never;
    const stopping = { ...m.state, turn: { ...(turn as NonNullable<typeof turn>), cancel } };
    expect(notReopened(m.state, 'g')).toBeUndefined();
    expect(notReopened(stopping, 'g')).toBe('turn_stops');
    expect(notReopened(stopping, 'd')).toBeUndefined();
  });

  it('whose run was lost, or has no known outcome', () => {
    const { state } = asked(gatedCall('a'));
    const call = state.calls['a'] as CallState;
    for (const more of [{ status: 'outcome_unknown' }, { lost: {} }] as readonly object[]) {
      const calls = { ...state.calls, a: { ...call, ...more } };
      expect(notReopened({ ...state, calls }, 'a')).toBe('outcome_unknown');
    }
  });

  function unknown(): MachineUnderTest {
    const m = asked(plannedCall('a', { effects: 'once', onOutcomeUnknown: 'hold' }));
    toolLost(m.machine, 'a', { timedOut: true, message: 'gone' });
    return m;
  }

  function askedAgain(): MachineUnderTest {
    const m = asked(plannedCall('a'));
    asks(m, 'a');
    return m;
  }
});
