/** The machine itself: events of another run, results that no longer count or lack their form, and closing. */
import { describe, expect, it } from 'vitest';
import { ConversationMachine } from '../../../../src/core/machine/machine.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import {
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { resolveBySignal } from '../../../support/builders/verbs.js';
import { stateAt } from '../../../support/forks/core-forks.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

/** A turn that has ended. */
function answered(): MachineUnderTest {
  const m = aMachine();
  m.send('one');
  m.model(modelSays('done'));
  return m;
}

/** Another machine with the state after so many events, and the events that it commits. */
function machineAt(m: MachineUnderTest, seq: number) {
  const events: CanonicalEvent[] = [];
  const machine = new ConversationMachine({
    state: stateAt(m.events, seq),
    now: m.clock.now,
    onEvent: (event) => events.push(event),
  });
  return { machine, events };
}

describe('a machine that adopts events of the run before', () => {
  it('has the same state and log as that run', () => {
    const m = answered();
    const { machine, events } = machineAt(m, 3);
    for (const event of m.events.slice(3)) machine.adopt(event);
    expect(machine.state).toEqual(m.state);
    expect(events).toEqual(m.events.slice(3));
    expect(machine.nowMs).toBe(m.clock.now());
  });

  it('leaves out those that it has, up to the last one', () => {
    const m = answered();
    const { machine, events } = machineAt(m, 4);
    const before = machine.state;
    for (const event of m.events.slice(0, 4)) machine.adopt(event);
    expect(machine.state).toBe(before);
    expect(events).toEqual([]);
  });

  it('refuses one behind a gap, and keeps its state', () => {
    const m = answered();
    const { machine, events } = machineAt(m, 3);
    const [, , , , fifth] = m.events;
    expect(() => {
      machine.adopt(fifth as CanonicalEvent);
    }).toThrow(new RangeError('event 5 cannot follow event 3'));
    expect([machine.state.lastSeq, events]).toEqual([3, []]);
  });
});

describe('a machine', () => {
  it('names the seq of the first event that it records', () => {
    const m = answered();
    expect(
      m.machine.record([{ type: 'rolled_over', reason: 'requested', droppedMessages: 0 }]),
    ).toBe(7);
    expect(m.events.at(-1)).toMatchObject({ type: 'rolled_over', seq: 7 });
  });

  it('records a result once: neither a repeat nor that of a call that has ended counts', () => {
    const m = aMachine();
    m.send('one');
    const { turnId } = m.state.turn as { turnId: string };
    const call = { type: 'call_model', turnId, step: 1 } as const;
    expect(m.machine.completed(call, modelSays('done'))).toBe(true);
    const { length } = m.events;
    expect(m.machine.completed(call, modelSays('again'))).toBe(false);
    m.machine.lost(call, { error: { code: 'model_unavailable', message: 'down' } });
    expect(m.events).toHaveLength(length);
  });

  it('ends the work of a result without its form, with and without a listener', () => {
    for (const hasListener of [true, false]) {
      const m = aMachine();
      m.send('one');
      const { machine, events } = hasListener ? m : machineAt(m, m.state.lastSeq);
      const { turnId } = m.state.turn as { turnId: string };
      const call = { type: 'call_model', turnId, step: 1 } as const;
      expect(machine.completed(call, { parts: 'none' } as never)).toBe(false);
      expect(machine.state.turn).toBeUndefined();
      expect(events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'failed' });
      if (hasListener) expect(m.problems).toHaveLength(1);
    }
  });

  it('closes once', () => {
    const m = answered();
    m.machine.close('idle');
    const { length } = m.events;
    m.machine.close('workflow_cancelled');
    expect(m.events).toHaveLength(length);
    expect(m.last('conversation_closed')).toMatchObject({ reason: 'idle' });
  });

  it('counts refused signals that are not recorded with the next event', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), plannedCall('r')]));
    for (let sent = 0; sent < 20; sent += 1)
      resolveBySignal(m.machine, {
        ...{ toolCallId: 'g', requestId: `bad-${sent}` },
        resolution: { type: 'answer', value: 1 },
      });
    const recorded = m.all('resolution_refused').length;
    m.tool('r');
    const [counted] = m.events.filter((event) => event.unrecordedRefusals !== undefined);
    expect(recorded).toBeGreaterThan(0);
    expect(counted).toMatchObject({ type: 'tool_result', unrecordedRefusals: 20 - recorded });
    m.resolve('g', { type: 'deny' });
    expect(m.last('resolution').unrecordedRefusals).toBeUndefined();
  });

  it('has external effects alone to carry out', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), plannedCall('r')]));
    expect([...m.effectTypes()].sort()).toEqual(['await_deadline', 'run_tool']);
  });
});
