/** Cron expressions: which texts are one, and the times that they name. */
import { expect, it } from 'vitest';
import { isTimeZone, nextCronTime, parseCron } from '../../../../src/protocol/triggers/cron.js';
import { promise } from '../../../support/promise.js';

const from = '2026-03-27T23:30:10Z';

/** The next times after `from`. */
function times(expression: string, timeZone = 'UTC', after = from, count = 3): readonly string[] {
  const cron = parseCron(expression);
  if (typeof cron === 'string') throw new Error(cron);
  const found: string[] = [];
  for (let last = Date.parse(after); found.length < count; ) {
    const next = nextCronTime(cron, timeZone, last);
    if (next === undefined) break;
    found.push(new Date(next).toISOString().replace(':00.000Z', 'Z'));
    last = next;
  }
  return found;
}

it.each([
  ['*/15 * * * *', ['2026-03-27T23:45Z', '2026-03-28T00:00Z', '2026-03-28T00:15Z']],
  ['0 9 * * mon-fri', ['2026-03-30T09:00Z', '2026-03-31T09:00Z', '2026-04-01T09:00Z']],
  ['30 23 28-31/2 * *', ['2026-03-28T23:30Z', '2026-03-30T23:30Z', '2026-04-28T23:30Z']],
  ['0 0 1 JAN,Jul *', ['2026-07-01T00:00Z', '2027-01-01T00:00Z', '2027-07-01T00:00Z']],
  ['0 12 * * 7', ['2026-03-29T12:00Z', '2026-04-05T12:00Z', '2026-04-12T12:00Z']],
  ['5 1,3 29 2 *', ['2028-02-29T01:05Z', '2028-02-29T03:05Z', '2032-02-29T01:05Z']],
  // Both days are restricted: either counts.
  ['0 6 1 * mon', ['2026-03-30T06:00Z', '2026-04-01T06:00Z', '2026-04-06T06:00Z']],
])('%s names its times', promise('G324'), (expression, expected) => {
  expect(times(expression)).toEqual(expected);
});

it.each([
  // The clocks go forward on the 29th: the time does not come on that day.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', ['2026-03-28T01:30Z', '2026-03-30T00:30Z']],
  // The clocks go back on 25 October: the time comes twice.
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-25T01:30Z']],
  ['0 9 * * *', 'Asia/Kolkata', '2026-03-27T12:00Z', ['2026-03-28T03:30Z', '2026-03-29T03:30Z']],
  [
    '0 0 * * *',
    'Pacific/Kiritimati',
    '2026-03-27T12:00Z',
    ['2026-03-28T10:00Z', '2026-03-29T10:00Z'],
  ],
] as const)(
  '%s in %s after %s comes by the clocks of the zone',
  promise('G324'),
  (expression, zone, after, expected) => {
    expect(times(expression, zone, after, 2)).toEqual(expected);
  },
);

it('a day that never comes has no time', promise('G324'), () => {
  expect(times('0 0 31 2 *')).toEqual([]);
});

it.each([
  ['', 'must have five fields'],
  ['* * * *', 'must have five fields'],
  ['0 0 * * * *', 'must have five fields'],
  ['@daily', 'must have five fields'],
  ['60 * * * *', '"60" as minute'],
  ['* 24 * * *', '"24" as hour'],
  ['* * 0 * *', '"0" as day of month'],
  ['* * * 13 *', '"13" as month'],
  ['* * * * 8', '"8" as day of week'],
  ['* * * * someday', '"someday" as day of week'],
  ['5-1 * * * *', '"5-1" as minute'],
  ['*/0 * * * *', '"*/0" as minute'],
  ['*-5 * * * *', '"*-5" as minute'],
  ['1,,2 * * * *', '"" as minute'],
  ['L * * * *', '"L" as minute'],
  [`${'1,'.repeat(150)}1 * * * *`, 'must have five fields'],
])('"%s" is no expression: the reason names the field', promise('G324'), (expression, why) => {
  expect(parseCron(expression)).toContain(why);
});

it('time zones are names that the host knows', () => {
  expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'].every(isTimeZone)).toBe(true);
  expect(['', 'Mars/Olympus', '+02:00', "UTC' OR", 7].some(isTimeZone)).toBe(false);
});
