import { expect, it } from 'vitest';
import { SUSPENSION_KINDS } from '../../../../src/protocol/calls/suspensions.js';
import { mostUrgent, urgencyOf } from '../../../../src/protocol/log/urgency.js';
import { stamped, started, suspends, turn } from '../../../support/samples/log-events.js';

const LOG = stamped([started(), ...turn('t1'), suspends('t2', 'call-1')]);

it('a turn end is wanted now, the events before it later', () => {
  const of = LOG.map((event) => [event.type, urgencyOf(event)]);
  expect(Object.fromEntries(of)).toMatchObject({
    conversation_started: 'later',
    turn_ended: 'now',
    suspension: 'soon',
  });
});

it('a wait is wanted now by machines and soon by people', () => {
  const waits = LOG.find((event) => event.type === 'suspension');
  if (waits === undefined) throw new Error('no call waits');
  const of = SUSPENSION_KINDS.map((kind) => [
    kind,
    urgencyOf({ ...waits, suspension: { ...waits.suspension, kind } }),
  ]);
  expect(Object.fromEntries(of)).toEqual({
    approval: 'soon',
    elicitation: 'soon',
    client_execution: 'now',
    external_execution: 'now',
    outcome: 'soon',
  });
});

it('the most urgent of several counts', () => {
  expect(mostUrgent()).toBe('later');
  expect(mostUrgent('later', 'soon', 'later')).toBe('soon');
  expect(mostUrgent('soon', 'now', 'later')).toBe('now');
});
