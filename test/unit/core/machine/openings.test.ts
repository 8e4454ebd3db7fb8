/** The first events of a run: of a new conversation, and of one that is reopened. */
import { expect, it } from 'vitest';
import { openingOf } from '../../../../src/core/machine/opening.js';
import {
  conversationStarted,
  gatedCall,
  modelCalls,
} from '../../../support/builders/core-builders.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const AT = '2026-05-01T00:00:00.000Z';

it('a new conversation begins with one event, without a mark of reopening', () => {
  const started = conversationStarted();
  const { events, state } = openingOf(undefined, started, AT);
  expect(events).toEqual([{ ...started, seq: 1, at: AT }]);
  expect(state).toMatchObject({ lastSeq: 1, conversationId: started.conversationId });
});

it('a reopened one first ends all that was open, and then begins, with dense seqs', () => {
  const m = aMachine();
  m.send('one');
  m.model(modelCalls([gatedCall('g')]));
  const { lastSeq } = m.state;
  const started = { ...conversationStarted(), chain: 'chain0000002', droppedMessages: 3 };
  const { events, state } = openingOf(m.state, started, AT);
  expect(events.map(({ type }) => type)).toEqual([
    ...['tool_result', 'turn_ended', 'conversation_started'],
  ]);
  expect(events.map(({ seq }) => seq)).toEqual([lastSeq + 1, lastSeq + 2, lastSeq + 3]);
  expect(events.every(({ at }) => at === AT)).toBe(true);
  expect(events.at(-1)).toMatchObject({ reopened: true, droppedMessages: 3 });
  expect(state.turn).toBeUndefined();
  expect(state.lastSeq).toBe(lastSeq + 3);
});

it('a reopened one in which nothing was open begins with its own event', () => {
  const m = aMachine();
  const { events } = openingOf(m.state, conversationStarted(), AT);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ type: 'conversation_started', reopened: true });
  expect(events[0]).not.toHaveProperty('droppedMessages');
});
