/** The schedule of Temporal that a trigger becomes. */
import { expect, it } from 'vitest';
import { scheduleOptionsOf } from '../../../../src/client/triggers/schedule-options.js';
import type { TriggerInput, TriggerSchedule } from '../../../../src/protocol/triggers/triggers.js';

function optionsOf(schedule: TriggerSchedule, more: Partial<TriggerInput> = {}) {
  const input: TriggerInput = {
    ...{ tenant: 'default', conversationId: 'c', triggerId: 't', firstRunId: 'run' },
    ...{ title: 'T', goal: 'G', schedule, madeBy: 'client', createdAt: '2027-01-01T00:00:00.000Z' },
    createdBy: { id: 'ann', verified: true, channel: 'client' },
    ...more,
  };
  return scheduleOptionsOf(input, 'queue');
}

it.each<TriggerSchedule>([
  { type: 'once', value: '2027-02-03T04:05:06Z' },
  { type: 'interval', value: '17 minutes' },
  { type: 'cron', value: '0 6 * * mon' },
])('a trigger of type $type that ends has a schedule that ends', (schedule) => {
  const endsAt = '2027-05-01T00:00:00.000Z';
  expect(optionsOf(schedule, { endsAt }).spec).toMatchObject({ endAt: new Date(endsAt) });
  expect(optionsOf(schedule).spec).not.toHaveProperty('endAt');
});

it('the limit of events is the number of actions that are left', () => {
  const hourly: TriggerSchedule = { type: 'interval', value: '1 hour' };
  expect(optionsOf(hourly, { maxInvocations: 3 }).state).toEqual({ remainingActions: 3 });
  expect(optionsOf(hourly)).not.toHaveProperty('state');
});
