/** The forms of values that workers return: what each admits, and the problem that it names. */
import { describe, expect, it } from 'vitest';
import {
  aFlag,
  allOf,
  aNumber,
  aText,
  type Form,
  isDeeperThan,
  keyOf,
  listOf,
  numberWithin,
  oneOf,
  optional,
  present,
  recordBy,
  recordOf,
  wholeNumberWithin,
} from '../../../../src/core/input/form.js';
import { instantMs, stampedMs } from '../../../../src/core/state/time.js';

const TABLE = { red: 1 };
const PAIR = recordOf({ a: aText, b: optional(aNumber) });

describe('a form', () => {
  it.each<[string, Form, unknown]>([
    ['a text', aText, ''],
    ['a number', aNumber, Number.NaN],
    ['a flag', aFlag, false],
    ['any value', present, null],
    ['the least', numberWithin(1, 3), 1],
    ['the most', numberWithin(1, 3), 3],
    ['a fraction', numberWithin(1, 3), 1.5],
    ['a whole number', wholeNumberWithin(1, 3), 2],
    ['a known text', oneOf('x', 'y'), 'y'],
    ['a key', keyOf(TABLE), 'red'],
    ['nothing', optional(aText), undefined],
    ['an empty list', listOf(aText), []],
    ['a list', listOf(aText), ['x', 'y']],
    ['a record with more', PAIR, { a: 'x', c: 1 }],
    ['a record by its fields', recordBy(({ a }) => (a === 1 ? PAIR : present)), { a: 2 }],
    ['all of them', allOf(aNumber, numberWithin(0, 1)), 1],
  ])('admits %s', (_title, form, value) => {
    expect(form(value)).toBeUndefined();
  });

  it.each<[string, Form, unknown]>([
    [' must be a text', aText, 1],
    [' must be a number', aNumber, '1'],
    [' must be true or false', aFlag, 'true'],
    [' must be true or false', aFlag, undefined],
    [' must be given', present, undefined],
    [' must be a number from 1 to 3', numberWithin(1, 3), 0.9],
    [' must be a number from 1 to 3', numberWithin(1, 3), 3.1],
    [' must be a number from 1 to 3', numberWithin(1, 3), '2'],
    [' must be a number from 1 to 3', wholeNumberWithin(1, 3), 4],
    [' must be whole', wholeNumberWithin(1, 3), 1.5],
    [' must be one of x, y', oneOf('x', 'y'), 'z'],
    [' must be one of x, y', oneOf('x', 'y'), ['x']],
    [' must be one of red, blue', keyOf({ red: 1, blue: 2 }), 'toString'],
    [' must be one of red', keyOf(TABLE), ['red']],
    [' must be a text', optional(aText), null],
    [' must be a list', listOf(aText), { length: 1 }],
    ['/1 must be a text', listOf(aText), ['x', 2, 3]],
    [' must be an object', PAIR, ['x']],
    ['/a must be a text', PAIR, { b: 'x' }],
    ['/b must be a number', PAIR, { a: 'x', b: 'x' }],
    [' must be an object', recordBy(() => present), 1],
    ['/b must be a number', recordBy(({ a }) => (a === 'x' ? PAIR : present)), { a: 'x', b: '' }],
    [' must be a number from 0 to 1', allOf(aNumber, numberWithin(0, 1)), 2],
  ])('says "%s"', (problem, form, value) => {
    expect(form(value)).toBe(problem);
  });
});

it.each([
  [1, 0, false],
  [null, 0, false],
  [[], 0, true],
  [{}, 1, false],
  [[1], 1, false],
  [{ a: [] }, 1, true],
  [{ a: 1, b: { c: [] } }, 2, true],
  [{ a: 1, b: { c: [] } }, 3, false],
])('%j is nested deeper than %i: %s', (value, levels, isDeeper) => {
  expect(isDeeperThan(value, levels)).toBe(isDeeper);
});

describe('an instant', () => {
  it.each([
    ['2026-03-01T12:00:00Z', Date.UTC(2026, 2, 1, 12)],
    ['2026-03-01T12:00:00.123456789+02:00', Date.UTC(2026, 2, 1, 10, 0, 0, 123)],
    ['2026-03-01t12:00z', Date.UTC(2026, 2, 1, 12)],
  ])('is %s', (text, ms) => {
    expect(instantMs(text)).toBe(ms);
  });

  it.each([
    ...['2026-03-01T12:00:00', '2026-03-01', ' 2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z '],
    ...[['2026-03-01T12:00:00Z'], 1, undefined],
  ])('is not %j', (value) => {
    expect(instantMs(value)).toBeNaN();
  });

  it('of receipt is never later than now, and now where it is none', () => {
    expect(stampedMs('1970-01-01T00:00:01Z', 5_000)).toBe(1_000);
    expect(stampedMs('1970-01-01T00:00:09Z', 5_000)).toBe(5_000);
    expect(stampedMs('yesterday', 5_000)).toBe(5_000);
  });
});
