import { expect, it } from 'vitest';
import { readConfig } from '../../../src/cli/process/config.js';
import type { Duration } from '../../../src/protocol/values/durations.js';
import { retentionMs } from '../../../src/worker/options.js';

const DAY = 24 * 60 * 60 * 1_000;

it('closed conversations are kept without a limit unless a worker sets one', () => {
  expect(retentionMs(undefined)).toBeUndefined();
  expect(retentionMs({ closedAfter: '30 days' })).toBe(30 * DAY);
  expect(retentionMs({ closedAfter: '30d' })).toBe(30 * DAY);
  expect(retentionMs({ closedAfter: 90 * DAY })).toBe(90 * DAY);
});

it('a retention that is malformed, or too short to see how a conversation ended, is refused by name', () => {
  for (const closedAfter of ['soon', '30', '', 0, -1, Number.NaN, '10s', 59_999])
    expect(() => retentionMs({ closedAfter: closedAfter as Duration })).toThrow(
      /^retention\.closedAfter must be/,
    );
});

it('the environment sets the same, and an invalid value is named', () => {
  expect(readConfig({}).closedAfter).toBeUndefined();
  expect(readConfig({ COLLOQUY_RETENTION: '30 days' }).closedAfter).toBe('30 days');
  expect(() => readConfig({ COLLOQUY_RETENTION: 'a while' })).toThrow(
    /COLLOQUY_RETENTION: must be a duration of at least a minute, such as "30 days", got "a while"/,
  );
});
