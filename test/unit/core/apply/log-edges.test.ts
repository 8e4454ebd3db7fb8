/** Logs that do not begin as they should, gaps in logs, unknown events, and changes of the agent. */
import { describe, expect, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { gatedCall, modelCalls } from '../../../support/builders/core-builders.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const AT = '2026-05-01T00:00:00.000Z';

/** A turn with a call that waits. */
function running(): ConversationState {
  const m = aMachine();
  m.send('one');
  m.model(modelCalls([gatedCall('g')]));
  return m.state;
}

const event = (body: object, seq: number): CanonicalEvent =>
  ({ at: AT, ...body, seq }) as unknown as CanonicalEvent;

describe('a log', () => {
  it('must begin with the start of the conversation', () => {
    expect(() => apply(undefined, event({ type: 'turn_ended' }, 1))).toThrow(
      'a log must begin with conversation_started, not turn_ended',
    );
  });

  it('with an event of a newer version is not folded', () => {
    const state = running();
    const unknown = event({ type: 'newer' }, state.lastSeq + 1);
    expect(() => apply(state, unknown)).toThrow(/unknown event .*"newer"/);
  });

  it('continues behind a gap with the carried state, also where nothing is known before it', () => {
    const carried = { version: 1, state: { ...running(), lastSeq: 30 } };
    const gap = event({ type: 'events_lost', from: 2, through: 30, carried }, 2);
    for (const before of [undefined, running()]) expect(apply(before, gap)).toBe(carried.state);
    const { state } = carried;
    expect(apply(state, event({ type: 'events_lost', from: 2, through: 30 }, 31))).toBe(state);
    expect(apply(state, event({ type: 'conversation_closed' }, 30))).toBe(state);
    expect(apply(state, event({ type: 'conversation_closed' }, 31))).toMatchObject({
      ...{ lastSeq: 31, closed: true },
    });
  });

  it('has no open turn after the close, and keeps all as it is where the run only ends', () => {
    const state = running();
    const seq = state.lastSeq + 1;
    const closed = apply(state, event({ type: 'conversation_closed' }, seq));
    expect(closed).toMatchObject({ closed: true, queue: [], calls: {}, updatedAt: AT });
    expect(closed).not.toHaveProperty('turn');
    const ended = apply(state, event({ type: 'run_ended' }, seq));
    expect(ended).toEqual({ ...state, closed: true, lastSeq: seq, updatedAt: AT });
  });
});

describe('a conversation that is passed on', () => {
  const passed = (state: ConversationState, agent: string, turnId = state.turn?.turnId) =>
    apply(state, event({ type: 'agent_changed', agent, turnId }, state.lastSeq + 1));

  it('remembers each agent that it had once, and not the one that it has', () => {
    const sales = passed(running(), 'sales');
    expect(sales).toMatchObject({ agent: 'sales', formerAgents: ['support'] });
    const billing = passed(sales, 'billing');
    expect(billing.formerAgents).toEqual(['support', 'sales']);
    expect(passed(billing, 'support').formerAgents).toEqual(['sales', 'billing']);
    expect(passed(running(), 'support')).not.toHaveProperty('formerAgents');
  });

  it('leaves open calls with the agent that made them', () => {
    const sales = passed(running(), 'sales');
    expect(sales.calls['g']?.agent).toBe('support');
    expect(passed(sales, 'billing').calls['g']?.agent).toBe('support');
  });

  it('marks the step of the running turn, and no other', () => {
    const state = running();
    expect(passed(state, 'sales').turn?.handedOverIn).toBe(state.turn?.step);
    expect(passed(state, 'sales', 'turn_other').turn).toEqual(state.turn);
    const { turn: _ended, ...idle } = state;
    expect(passed(idle, 'sales', 'turn_other')).not.toHaveProperty('turn');
  });
});
