/** The end of a sub-agent's conversation: once its turn is over and nothing of it is left. */
import { describe, expect, it } from 'vitest';
import { endOf } from '../../../../src/core/children/children.js';
import {
  actor,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cancelTurn, takeInboxEvent } from '../../../support/builders/verbs.js';
import type { MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { aChild, call, report, started } from './setup.js';

describe('the conversation of a sub-agent', () => {
  const isOver = (m: MachineUnderTest) => m.state.closed;

  it('closes once its turn is over and nothing of it is left', () => {
    const m = aChild();
    expect(isOver(m)).toBe(false);
    m.send('find it');
    expect(isOver(m)).toBe(false);
    m.model(modelSays('found'));
    expect(isOver(m)).toBe(true);
    expect(m.state.lastTurn).toMatchObject({ status: 'completed', text: 'found' });
  });

  it.each<[string, (m: MachineUnderTest) => void]>([
    ['a message waits', (m) => m.send('more', { onBusy: 'queue' })],
    ['an event waits', (m) => takeInboxEvent(m.machine, { eventId: 'e', kind: 'k', payload: 1 })],
  ])('goes on while %s', (_, meanwhile) => {
    const m = aChild();
    m.send('find it');
    meanwhile(m);
    m.model(modelSays('found'));
    expect(isOver(m)).toBe(false);
    m.model(modelSays('and more'));
    expect(isOver(m)).toBe(true);
  });

  it('goes on while a detached call or a sub-agent of its own works', () => {
    for (const plan of [
      plannedCall('d', { executor: 'external', mode: 'detach' }),
      call('d', {}, { mode: 'detach' }),
    ]) {
      const m = aChild();
      m.send('find it');
      m.model(modelCalls([plan]));
      m.model(modelSays('found so far'));
      expect(isOver(m)).toBe(false);
      if (plan.subAgent === undefined) m.resolve('d', { type: 'result', value: 1 });
      else report(m, started(m, 'd'));
      m.model(modelSays('found'));
      expect(isOver(m)).toBe(true);
    }
  });

  it('goes on until a sub-agent that it does not want any more is stopped', () => {
    const m = aChild();
    m.send('find it');
    m.model(modelCalls([call('a')]));
    const childId = started(m, 'a');
    cancelTurn(m.machine, { actor: actor('ann') });
    expect(isOver(m)).toBe(false);
    m.machine.completed({ type: 'stop_child', childId }, { running: true });
    expect([m.state.children?.length, isOver(m)]).toEqual([1, true]);
    expect(endOf(m.state)).toEqual({
      ...{ status: 'cancelled', text: '' },
      usage: { inputTokens: 10, outputTokens: 3 },
    });
  });

  it('counts its tool calls for its caller, where they are bounded, and those of its own sub-agents', () => {
    const m = aChild({ budgets: { calls: 10 } });
    m.send('find it');
    m.model(modelCalls([plannedCall('s'), call('a')])).tool('s');
    report(m, started(m, 'a'));
    m.model(modelSays('found'));
    expect(endOf(m.state)).toEqual({
      ...{ status: 'completed', text: 'found', calls: 4 },
      usage: { inputTokens: 90, outputTokens: 36, costMicros: 4 },
    });
  });
});
