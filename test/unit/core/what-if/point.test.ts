/** The turn of a what-if, and why a turn cannot be one. */
import { expect, it } from 'vitest';
import { whatIfPointOf } from '../../../../src/core/what-if/point.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import {
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

async function pointOf(events: readonly CanonicalEvent[], turnId = turn(1)) {
  const read = async function* (): AsyncGenerator<CanonicalEvent> {
    yield* await Promise.resolve(events);
  };
  return await whatIfPointOf(read(), { turnId });
}

function aLog(): readonly CanonicalEvent[] {
  const m = aMachine();
  m.send('How much?');
  m.model(modelCalls([plannedCall('a', { name: 'stock', input: {} })])).tool('a', 10);
  m.model(modelSays('10'));
  m.send('Thanks');
  return m.events;
}

const refused = (message: string) => ({ problems: [{ path: '/turnId', message }] });

it('is a turn in which a model has answered, up to the end of the log', async () => {
  const log = aLog();
  expect(await pointOf(log)).toMatchObject({
    ...{ turnId: turn(1), agent: 'support', throughSeq: log.at(-1)?.seq },
  });
});

it('is none where no model has answered, and none of an empty log', async () => {
  const text = 'must be a turn of the conversation in which a model has answered';
  expect(await pointOf(aLog(), turn(2))).toEqual(refused(text));
  expect(await pointOf([])).toBeUndefined();
});

it('is none that a call has passed on to another agent', async () => {
  const log = aLog();
  const at = log.findIndex(({ type }) => type === 'tool_result');
  const passed = {
    ...{ type: 'agent_changed' as const, turnId: turn(1), toolCallId: 'a' },
    ...{ agent: 'billing', previous: 'support', seq: 0, at: log[at]?.at ?? '' },
  };
  const text = 'must be a turn that one agent has answered: this one was passed on';
  expect(await pointOf([...log.slice(0, at), passed, ...log.slice(at)])).toEqual(refused(text));
});
