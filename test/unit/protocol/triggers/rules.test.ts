/** The rules for triggers, and when they come. */
import { describe, expect, it } from 'vitest';
import { nextTriggerTime, triggerProblems } from '../../../../src/protocol/triggers/rules.js';
import {
  isSameTrigger,
  triggerEventOf,
  triggerPrefixOf,
  triggerScheduleId,
} from '../../../../src/protocol/triggers/triggers.js';
import { promise } from '../../../support/promise.js';

const NOW = Date.parse('2026-11-25T12:00:00.700Z');
const DAY_MS = 24 * 60 * 60 * 1000;
const hourly = { type: 'interval', value: '1 hour' } as const;
const valid = { title: 'Report', goal: 'Write it.', schedule: hourly } as const;

const problemsOf = (change: object, idleCloseMs = 30 * DAY_MS): readonly string[] =>
  triggerProblems({ ...valid, ...change }, { nowMs: NOW, idleCloseMs }).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('a declaration', () => {
  it.each([
    [{}],
    [{ id: 'daily-report', note: 'n', maxInvocations: 3, endsAt: '2026-12-01T00:00:00+01:00' }],
    [{ schedule: { type: 'once', value: '2026-11-25T12:00:01Z' }, maxInvocations: 1 }],
    [{ schedule: { type: 'cron', value: '0 9 * * 1-5', timeZone: 'Europe/Berlin' } }],
    [{ schedule: { type: 'interval', value: '1 minute' } }],
  ])('%j follows the rules', promise('G325'), (change) => {
    expect(problemsOf(change)).toEqual([]);
  });

  it.each([
    [{ id: 'a b' }, '/id id may hold only'],
    [{ title: ' ' }, '/title must be a non-empty text'],
    [{ title: 'x'.repeat(201) }, '/title must be at most 200 characters'],
    [{ goal: '' }, '/goal must not be empty'],
    [{ goal: 'x'.repeat(4097) }, '/goal must be at most 4096 bytes'],
    [{ goal: 'bad \uD800' }, '/goal'],
    [{ note: 5 }, '/note must be a text'],
    [{ maxInvocations: 0 }, '/maxInvocations must be a whole number'],
    [{ maxInvocations: 1.5 }, '/maxInvocations must be a whole number'],
    [{ endsAt: '2026-11-25T12:00:00Z' }, '/endsAt must be in the future'],
    [{ endsAt: '2026-11-25' }, '/endsAt must be an instant with an offset'],
    [{ endsAt: '2026-11-25T12:30:00Z' }, '/schedule/value never comes before the trigger ends'],
    [{ every: '1h' }, '/every is no field of a trigger'],
    [{ schedule: undefined }, '/schedule must be an object'],
    [{ schedule: { ...hourly, jitter: 1 } }, '/schedule/jitter is no field'],
    [{ schedule: { type: 'weekly', value: 'x' } }, '/schedule/type must be one of'],
    [
      { schedule: { ...hourly, timeZone: 'UTC' } },
      '/schedule/timeZone can be given with type "cron"',
    ],
    [
      { schedule: { type: 'cron', value: '* * * * *', timeZone: 'Nowhere' } },
      '/schedule/timeZone must be',
    ],
    [{ schedule: { type: 'cron', value: '* *' } }, '/schedule/value must have five fields'],
    [{ schedule: { type: 'cron', value: '0 0 31 2 *' } }, '/schedule/value never comes'],
    [
      { schedule: { type: 'interval', value: '59 seconds' } },
      '/schedule/value must be at least 1 minute',
    ],
    [
      { schedule: { type: 'interval', value: '60000' } },
      '/schedule/value must be milliseconds or a text',
    ],
    [{ schedule: { type: 'interval', value: 60_000 } }, '/schedule/value must be a text'],
    [
      { schedule: { type: 'once', value: '2026-11-25T12:00:00Z' } },
      '/schedule/value must be in the future',
    ],
    [
      { schedule: { type: 'once', value: '2026-12-01T00:00:00' } },
      '/schedule/value must be an instant',
    ],
    [
      { schedule: { type: 'once', value: '2026-12-01T00:00:00Z' }, maxInvocations: 2 },
      '/maxInvocations must be 1',
    ],
  ])('%j is refused: %s', promise('G325'), (change, why) => {
    const problems = problemsOf(change);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(why);
  });

  it.each([null, 'x', 5, []])('%j is refused as a whole', (spec) => {
    expect(triggerProblems(spec, { nowMs: NOW, idleCloseMs: DAY_MS })[0]?.message).toMatch(
      /must be/,
    );
  });

  it.each([
    [{ type: 'once', value: '2026-12-26T12:00:00Z' }, '31.0 days'],
    [{ type: 'interval', value: '31 days' }, '31.0 days'],
    [{ type: 'cron', value: '0 12 25 * *' }, '31.0 days'],
    // The events of each day, or each minute of a month, and then none until the next year.
    [{ type: 'cron', value: '0 9 * 11 *' }, '336.0 days'],
    [{ type: 'cron', value: '* * * 11 *' }, '335.0 days'],
    // Days of changes of the clock among them.
    [{ type: 'cron', value: '* * 1-28 10-12,1-3 *', timeZone: 'Europe/Berlin' }, '186.0 days'],
  ])(
    '%j is refused where the conversation would close before it comes',
    promise('G325'),
    (schedule, pause) => {
      expect(problemsOf({ schedule })).toEqual([
        `/schedule/value leaves ${pause} between events, but the conversation closes after 30.0 days without input (settings.idleClose of its agent)`,
      ]);
      expect(problemsOf({ schedule }, 400 * DAY_MS)).toEqual([]);
    },
  );

  it.each([
    { schedule: { type: 'cron', value: '0 12 25 12 *' }, maxInvocations: 1 },
    { schedule: { type: 'cron', value: '0 9 * 11 *' }, maxInvocations: 5 },
    { schedule: { type: 'cron', value: '0 9 * 11 *' }, endsAt: '2026-12-31T00:00:00Z' },
    { schedule: { type: 'cron', value: '* * * * *', timeZone: 'Europe/Berlin' } },
    { schedule: { type: 'cron', value: '* * * * *' }, maxInvocations: 10_000 },
  ])('%j is taken, as no event follows the pause', promise('G325'), (change) => {
    expect(problemsOf(change)).toEqual([]);
  });

  it('is refused where a pause comes before the last of its events', promise('G325'), () => {
    const schedule = { type: 'cron', value: '0 9 * 11 *' };
    expect(problemsOf({ schedule, maxInvocations: 6 })).toHaveLength(1);
  });
});

describe('a trigger comes', () => {
  const next = (schedule: object, after: string, endsAt?: string): string | undefined => {
    const spec = { schedule: schedule as never, ...(endsAt === undefined ? {} : { endsAt }) };
    const at = nextTriggerTime(spec, NOW, Date.parse(after));
    return at === undefined ? undefined : new Date(at).toISOString();
  };

  it('in an interval from when it was made, in whole seconds', promise('G324'), () => {
    expect(next(hourly, '2026-11-25T12:00:00.700Z')).toBe('2026-11-25T13:00:00.000Z');
    expect(next(hourly, '2026-11-25T13:00:00.000Z')).toBe('2026-11-25T14:00:00.000Z');
    expect(next(hourly, '2026-11-27T08:30:00Z')).toBe('2026-11-27T09:00:00.000Z');
  });

  it('once, and no more', promise('G324'), () => {
    const once = { type: 'once', value: '2026-11-25T18:00:00.200+01:00' };
    expect(next(once, '2026-11-25T12:00:01Z')).toBe('2026-11-25T17:00:01.000Z');
    expect(next(once, '2026-11-25T17:00:01Z')).toBeUndefined();
  });

  it('until its end', promise('G324'), () => {
    const endsAt = '2026-11-25T14:00:00Z';
    expect(next(hourly, '2026-11-25T13:30:00Z', endsAt)).toBe('2026-11-25T14:00:00.000Z');
    expect(next(hourly, '2026-11-25T14:00:00Z', endsAt)).toBeUndefined();
  });
});

it(
  'triggers of conversations whose ids begin alike have ids without a common prefix',
  promise('G328'),
  () => {
    const key = { tenant: 'acme', conversationId: 'c-1' };
    expect(triggerScheduleId(key, 'a')).toBe('trigger:acme:c-1:a');
    const other = triggerScheduleId({ ...key, conversationId: 'c-10' }, 'a');
    expect(other.startsWith(triggerPrefixOf(key))).toBe(false);
    expect(other.startsWith(triggerPrefixOf({ tenant: 'acm' }))).toBe(false);
    expect(other.startsWith(triggerPrefixOf({ tenant: 'acme' }))).toBe(true);
  },
);

it('the same declaration is the same trigger with any note and any order of its fields', () => {
  const { goal, title, schedule } = valid;
  expect(isSameTrigger(valid, { goal, schedule, title, note: 'later' })).toBe(true);
  expect(isSameTrigger(valid, { ...valid, goal: 'Other' })).toBe(false);
});

it('the event of a run has an id of its time, and its maker without roles', promise('G327'), () => {
  const createdBy = {
    id: 'ann',
    name: 'Ann',
    roles: ['lead'],
    verified: true,
    channel: 'api',
  } as const;
  const input = {
    triggerId: 'daily',
    title: 'T',
    goal: 'G',
    scheduledAt: '2026-11-25T12:00:00.000Z',
    createdBy,
  };
  expect(triggerEventOf(input)).toEqual({
    eventId: 'trigger:daily:2026-11-25T12:00:00.000Z',
    kind: 'trigger',
    payload: { triggerId: 'daily', title: 'T', goal: 'G', scheduledAt: input.scheduledAt },
    actor: { id: 'ann', name: 'Ann', verified: false, channel: 'client' },
  });
});
