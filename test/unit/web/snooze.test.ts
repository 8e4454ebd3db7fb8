/** Snoozed calls: hidden until a time, and back before their deadline. */
import { describe, expect, it } from 'vitest';
import {
  isSnoozed,
  SNOOZE_STEPS,
  snoozesOf,
  snoozesText,
  WAKE_BEFORE_MS,
  withSnooze,
} from '../../../web/inbox/model/snooze.js';

const NOW = Date.parse('2030-01-01T10:20:00.000Z');
const HOUR = 3_600_000;
const call = (ms: number) => ({ ref: 'a', deadline: new Date(NOW + ms).toISOString() });
const until = (ms: number) => new Map([['a', NOW + ms]]);

describe('a snoozed call', () => {
  it.each([
    ['is hidden until its time', 9 * HOUR, HOUR, HOUR - 1, true],
    ['is shown at its time', 9 * HOUR, HOUR, HOUR, false],
    ['comes back before its deadline', HOUR, 5 * HOUR, HOUR - WAKE_BEFORE_MS, false],
    ['is hidden until then', HOUR, 5 * HOUR, HOUR - WAKE_BEFORE_MS - 1, true],
  ])('%s', (_what, deadline, snoozed, now, expected) => {
    expect(isSnoozed(call(deadline), until(snoozed), NOW + now)).toBe(expected);
  });

  it('can be snoozed again or shown, and those that are over are forgotten', () => {
    const both = withSnooze(until(HOUR), { ref: 'b', until: NOW + 5 }, NOW);
    expect([...both]).toEqual([
      ['a', NOW + HOUR],
      ['b', NOW + 5],
    ]);
    expect([...withSnooze(both, { ref: 'a', until: undefined }, NOW + 5)]).toEqual([]);
  });

  it('is kept as a text, and other texts are none', () => {
    expect(snoozesOf(snoozesText(until(HOUR)))).toEqual(until(HOUR));
    for (const text of [null, '', '{}', '[1,["a"],["a","b"]]', '[[1,2]]', 'x'])
      expect(snoozesOf(text).size).toBe(0);
  });
});

it('the steps are an hour, and tomorrow at nine by the clock of the page', () => {
  const [hour, tomorrow] = SNOOZE_STEPS.map(({ of }) => new Date(of(NOW)));
  expect(hour?.getTime()).toBe(NOW + HOUR);
  const day = new Date(NOW);
  day.setDate(day.getDate() + 1);
  expect([tomorrow?.getDate(), tomorrow?.getHours(), tomorrow?.getMinutes()]).toEqual([
    ...[day.getDate(), 9, 0],
  ]);
});
