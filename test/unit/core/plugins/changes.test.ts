/** Changes of plugin states: each kind of change, and which do not fit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../../src/core/plugins/changes.js';
import { areStatePatches } from '../../../../src/core/plugins/form.js';
import type { StateChange } from '../../../../src/protocol/calls/plugin-state.js';
import type { Json } from '../../../../src/protocol/values/json.js';

const CHANGES: readonly (readonly [
  title: string,
  before: Json | undefined,
  change: StateChange,
  after: Json | RegExp,
])[] = [
  ['set replaces the whole', { a: 1 }, { op: 'set', path: '', value: [2] }, [2]],
  ['set adds a field', { a: 1 }, { op: 'set', path: '/b', value: 2 }, { a: 1, b: 2 }],
  [
    'set makes objects on the way',
    undefined,
    { op: 'set', path: '/a/b', value: 1 },
    { a: { b: 1 } },
  ],
  ['set replaces an item', { l: [1, 2] }, { op: 'set', path: '/l/1', value: 3 }, { l: [1, 3] }],
  ['set adds an item at the end', [1], { op: 'set', path: '/-', value: 2 }, [1, 2]],
  ['set reads ~1 and ~0 in keys', {}, { op: 'set', path: '/a~1b~0c', value: 1 }, { 'a/b~c': 1 }],
  ['set keeps null', {}, { op: 'set', path: '/a', value: null }, { a: null }],
  ['increment adds', { n: 1 }, { op: 'increment', path: '/n', by: 2 }, { n: 3 }],
  ['increment subtracts', { n: 1 }, { op: 'increment', path: '/n', by: -2 }, { n: -1 }],
  ['increment begins with 0', undefined, { op: 'increment', path: '/n', by: 1 }, { n: 1 }],
  [
    'append adds to the end',
    { l: [1] },
    { op: 'append', path: '/l', values: [2, 3] },
    { l: [1, 2, 3] },
  ],
  ['append begins with an empty list', {}, { op: 'append', path: '/l', values: [1] }, { l: [1] }],
  ['remove takes a field away', { a: 1, b: 2 }, { op: 'remove', path: '/a' }, { b: 2 }],
  ['remove takes an item away', [1, 2, 3], { op: 'remove', path: '/1' }, [1, 3]],
  ['remove of a missing field is no error', { a: 1 }, { op: 'remove', path: '/b/c' }, { a: 1 }],
  ['remove of the whole leaves an empty object', { a: 1 }, { op: 'remove', path: '' }, {}],
  [
    'a key of every object is a key like others',
    {},
    { op: 'set', path: '/__proto__/x', value: 1 },
    JSON.parse('{"__proto__":{"x":1}}') as Json,
  ],
  [
    'increment of a text',
    { n: 'x' },
    { op: 'increment', path: '/n', by: 1 },
    /increment at "\/n": the value is no number/,
  ],
  [
    'increment beyond all numbers',
    { n: 1e308 },
    { op: 'increment', path: '/n', by: 1e308 },
    /too large/,
  ],
  [
    'append to an object',
    { l: {} },
    { op: 'append', path: '/l', values: [1] },
    /the value is no list/,
  ],
  ['set below a text', { a: 'x' }, { op: 'set', path: '/a/b', value: 1 }, /no object above "b"/],
  ['set far behind a list', [1], { op: 'set', path: '/5', value: 1 }, /no item "5" in a list of 1/],
  ['a path without a slash', {}, { op: 'set', path: 'a', value: 1 }, /"a" is no JSON Pointer/],
];

describe('a change of a plugin state', () => {
  it.each(CHANGES)('%s', (_title, before, change, after) => {
    const changed = withChanges(before, [change]);
    if (after instanceof RegExp) expect('problem' in changed ? changed.problem : '').toMatch(after);
    else expect(changed).toEqual({ value: after });
  });

  it('leaves the state before as it was, for any changes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.array(aChange(), { maxLength: 5 }),
        (before, changes) => {
          const copy = JSON.stringify(before);
          const changed = withChanges(before, changes);
          expect(JSON.stringify(before)).toBe(copy);
          if ('value' in changed) expect(JSON.stringify(changed.value)).toBeTypeOf('string');
        },
      ),
    );
  });

  it('has effect together with the others of its patch, or none has', () => {
    const changes: readonly StateChange[] = [
      { op: 'set', path: '/a', value: 1 },
      { op: 'append', path: '/a', values: [2] },
    ];
    expect(withChanges({}, changes)).toEqual({ problem: 'append at "/a": the value is no list' });
  });
});

function aChange(): fc.Arbitrary<StateChange> {
  const path = fc
    .array(fc.constantFrom('a', 'b', '0', '-', '', '__proto__', 'constructor'), { maxLength: 3 })
    .map((keys) => keys.map((key) => `/${key}`).join(''));
  const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  return fc.oneof(
    fc.record({ op: fc.constant('set' as const), path, value }),
    fc.record({ op: fc.constant('increment' as const), path, by: fc.integer() }),
    fc.record({
      op: fc.constant('append' as const),
      path,
      values: fc.array(value, { maxLength: 2 }),
    }),
    fc.record({ op: fc.constant('remove' as const), path }),
  );
}

describe('patches that a worker sends', () => {
  const patch = { plugin: 'p', version: 1, changes: [{ op: 'set', path: '/a', value: 1 }] };

  it('have a form that the workflow can apply', () => {
    expect(areStatePatches([patch])).toBe(true);
  });

  it.each([
    ['no list', patch],
    ['more than 64', Array.from({ length: 65 }, () => patch)],
    ['no plugin', [{ ...patch, plugin: undefined }]],
    ['a broken version', [{ ...patch, version: 1.5 }]],
    ['an unknown change', [{ ...patch, changes: [{ op: 'move', path: '/a' }] }]],
    [
      'a name of every object as the change',
      [{ ...patch, changes: [{ op: 'constructor', path: '' }] }],
    ],
    ['no value', [{ ...patch, changes: [{ op: 'set', path: '/a' }] }]],
    [
      'a number that JSON lacks',
      [{ ...patch, changes: [{ op: 'increment', path: '/a', by: Number.NaN }] }],
    ],
    [
      'a value that is too deep',
      [{ ...patch, changes: [{ op: 'set', path: '', value: deep(70) }] }],
    ],
  ])('are refused with %s', (_title, patches) => {
    expect(areStatePatches(patches)).toBe(false);
  });
});

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
