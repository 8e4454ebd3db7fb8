/** The form of patches, with its bounds, and the places of changes in lists. */
import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../../src/core/plugins/changes.js';
import { areStatePatches, isStateChange } from '../../../../src/core/plugins/form.js';
import {
  MAX_ID_CHARS,
  MAX_PATCHES,
  MAX_STATE_CHANGES,
} from '../../../../src/protocol/limits/limits.js';

const remove = { op: 'remove', path: '/a' };
const patch = { plugin: 'p', version: 1, changes: [remove] };
const times = <Value>(count: number, value: Value): readonly Value[] =>
  Array.from({ length: count }, () => value);

describe('patches', () => {
  it.each([
    ['none', []],
    ['the most', times(MAX_PATCHES, patch)],
    ['a long id', [{ ...patch, plugin: 'p'.repeat(MAX_ID_CHARS) }]],
    ['the most changes', [{ ...patch, changes: times(MAX_STATE_CHANGES, remove) }]],
    ['no changes', [{ ...patch, changes: [] }]],
  ])('have their form: %s', (_title, value) => {
    expect(areStatePatches(value)).toBe(true);
  });

  it.each([
    ['no list', { 0: patch, length: 1 }],
    ['too many', times(MAX_PATCHES + 1, patch)],
    ['one of them is none', [patch, null]],
    ['a longer id', [{ ...patch, plugin: 'p'.repeat(MAX_ID_CHARS + 1) }]],
    ['no id', [{ ...patch, plugin: undefined }]],
    ['a fraction as version', [{ ...patch, version: 1.5 }]],
    ['no list of changes', [{ ...patch, changes: { length: 0 } }]],
    ['too many changes', [{ ...patch, changes: times(MAX_STATE_CHANGES + 1, remove) }]],
    ['one change is none', [{ ...patch, changes: [remove, { op: 'remove' }] }]],
  ])('have another form: %s', (_title, value) => {
    expect(areStatePatches(value)).toBe(false);
  });
});

describe('a change', () => {
  it.each([
    { ...remove, path: `/${'a'.repeat(999)}` },
    { op: 'set', path: '', value: null },
    { op: 'increment', path: '/a', by: -0.5 },
    { op: 'append', path: '/a', values: [] },
  ])('has its form: %#', (change) => {
    expect(isStateChange(change)).toBe(true);
  });

  it.each([
    'remove',
    { ...remove, path: `/${'a'.repeat(1_000)}` },
    { op: 'remove', path: 1 },
    { op: ['remove'], path: '' },
    { op: 'toString', path: '' },
    { op: 'set', path: '' },
    { op: 'set', path: '', value: () => 1 },
    { op: 'increment', path: '', by: Number.POSITIVE_INFINITY },
    { op: 'increment', path: '', by: '1' },
    { op: 'append', path: '', values: { length: 0 } },
    { op: 'append', path: '', values: [1n] },
  ])('has another form: %#', (change) => {
    expect(isStateChange(change)).toBe(false);
  });
});

describe('a place in a list', () => {
  const list = Array.from({ length: 11 }, (_, index) => index);
  const set = (path: string) => withChanges(list, [{ op: 'set', path, value: 'x' }]);

  it.each([
    ['/0', 0],
    ['/9', 9],
    ['/10', 10],
    ['/11', 11],
    ['/-', 11],
  ])('%s is an index', (path, index) => {
    expect(set(path)).toEqual({ value: list.toSpliced(index, 1, 'x' as never) });
  });

  it.each(['/12', '/-1', '/01', '/1a', '/a1', '/', '/1e0'])('%s is none', (path) => {
    expect(set(path)).toEqual({
      problem: `set at "${path}": no item "${path.slice(1)}" in a list of 11`,
    });
  });

  it('is shown with at most 200 characters', () => {
    const shown = (length: number): string => {
      const path = `x${'y'.repeat(length - 1)}`;
      const changed = withChanges(list, [{ op: 'remove', path }]);
      return 'problem' in changed ? changed.problem : '';
    };
    expect(shown(200)).toBe(`path "x${'y'.repeat(199)}" is no JSON Pointer`);
    expect(shown(201)).toBe(`path "x${'y'.repeat(199)}…" is no JSON Pointer`);
  });

  it('that is removed beyond the end changes nothing', () => {
    expect(withChanges([1], [{ op: 'remove', path: '/1' }])).toEqual({ value: [1] });
  });
});
