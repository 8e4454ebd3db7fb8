/** A cancel that comes twice, and turns that a terminated run left open. */

import { expect, it } from 'vitest';
import { openingOf } from '../../../../src/core/machine/opening.js';
import {
  actor,
  conversationStarted,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cancelTurn, sendMessage } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

it('a late copy of a cancel does not stop the next turn', promise('G118'), () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  const first = cancelTurn(m.machine, { requestId: 'stop-1' });
  m.modelAborted({ turnId: first.turnId ?? '', step: 1 });
  sendMessage(m.machine, { text: 'two' });
  expect(cancelTurn(m.machine, { requestId: 'stop-1' })).toEqual(first);
  expect(m.machine.state.turn?.cancel).toBeUndefined();
});

it('a late copy of a cancel that came while its turn was being stopped does not stop the next turn', {
  ...promise('G118'),
}, () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  const stopped = cancelTurn(m.machine, { requestId: 'stop-1' });
  const again = cancelTurn(m.machine, { requestId: 'stop-2', actor: actor('zoe') });
  expect(again).toMatchObject({ cancelled: true, turnId: stopped.turnId });
  expect(m.machine.state.turn?.cancel?.actor.id).not.toBe('zoe');
  m.modelAborted({ turnId: stopped.turnId ?? '', step: 1 });
  sendMessage(m.machine, { text: 'two' });
  expect(cancelTurn(m.machine, { requestId: 'stop-2' })).toEqual(again);
  expect(m.machine.state.turn?.cancel).toBeUndefined();
});

it('a second cancel that names its turn is not recorded: it can stop no other', () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  const { turnId } = cancelTurn(m.machine, { requestId: 'stop-1' });
  for (const requestId of ['stop-2', 'stop-3'])
    expect(cancelTurn(m.machine, { requestId, turnId })).toEqual({ cancelled: true, turnId });
  expect(m.all('cancel_requested')).toHaveLength(1);
});

it('a cancel without a request id is recorded once', () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  cancelTurn(m.machine, {});
  expect(cancelTurn(m.machine, {})).toMatchObject({ cancelled: true });
  expect(m.all('cancel_requested')).toHaveLength(1);
});

it('a conversation of revision 2 records no cancel of a turn that is being stopped', () => {
  const m = aMachine({ settings: { coreRevision: 2 } });
  sendMessage(m.machine, { text: 'one' });
  for (const requestId of ['stop-1', 'stop-2']) cancelTurn(m.machine, { requestId });
  expect(m.all('cancel_requested')).toHaveLength(1);
});

it('a cancel with an id that no request may have is recorded without it', () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  for (const requestId of ['', 7, 'x'.repeat(1_000)]) {
    expect(cancelTurn(m.machine, { requestId })).toMatchObject({ cancelled: true });
    expect(m.last('cancel_requested')).not.toHaveProperty('requestId');
    m.modelAborted({ turnId: m.state.turn?.turnId ?? '', step: 1 });
    m.send('next');
  }
});

it('a turn that a terminated run left open is ended when its conversation is opened again', {
  ...promise('G199'),
}, () => {
  const m = aMachine();
  sendMessage(m.machine, { text: 'one' });
  sendMessage(m.machine, { text: 'two', onBusy: 'queue' });
  const turnId = m.machine.state.turn?.turnId ?? '';
  m.modelCompleted({ turnId, step: 1 }, modelCalls([plannedCall('slow')]));
  const { state, events } = openingOf(m.machine.state, conversationStarted(), m.clock.iso());
  expect(events.map((event) => event.type)).toEqual([
    'tool_result',
    'turn_ended',
    'turn_ended',
    'conversation_started',
  ]);
  expect(events.map((event) => event.seq)).toEqual(
    events.map((_event, index) => m.machine.state.lastSeq + 1 + index),
  );
  expect(state).toMatchObject({ closed: false, queue: [], lastSeq: events.at(-1)?.seq });
  expect(events.at(-1)).toMatchObject({ reopened: true });
});
