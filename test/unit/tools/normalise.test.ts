/** Any value that a tool returns becomes JSON that history can hold. Requirement N25. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBoundedJson, type Json, utf8Bytes } from '../../../src/protocol/values/json.js';
import { boundedJson, toJson } from '../../../src/tools/shared/normalise.js';
import { promise } from '../../support/promise.js';

class Money {
  readonly #cents: number;
  readonly currency = 'EUR';
  constructor(cents: number) {
    this.#cents = cents;
  }
  get cents(): number {
    return this.#cents;
  }
}

function cyclic(): unknown {
  const node: Record<string, unknown> = { name: 'a' };
  node['self'] = node;
  node['list'] = [node];
  return node;
}

function deep(levels: number): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('a tool may return', promise('C15', 'X8'), () => {
  const shared = { a: 1 };
  it.each<[string, unknown, Json]>([
    ['nothing', undefined, null],
    ['code', () => 1, null],
    ['a symbol', Symbol('a'), null],
    ['numbers that JSON lacks', [NaN, Infinity, -0.5], [null, null, -0.5]],
    ['big integers', { n: 12345678901234567890n }, { n: '12345678901234567890' }],
    ['dates', [new Date(0), new Date(NaN)], ['1970-01-01T00:00:00.000Z', null]],
    ['fields without a value', { a: undefined, b: null, c: () => 1 }, { b: null }],
    ['lists with gaps', [1, undefined, () => 1], [1, null, null]],
    [
      'bytes',
      { b: Buffer.from('hi'), c: new Uint8Array([104, 105]).buffer },
      { b: 'aGk=', c: 'aGk=' },
    ],
    ['part of a buffer', Buffer.from('ohi!').subarray(1, 3), 'aGk='],
    ['maps', new Map([['a', new Map([[1, 2]])]]), { a: [[1, 2]] }],
    ['sets', new Set(['a', undefined]), ['a', null]],
    ['errors, without their stacks', new TypeError('no'), { name: 'TypeError', message: 'no' }],
    ['addresses', new URL('https://example.org/a'), 'https://example.org/a'],
    [
      'things with a `toJSON` of their own',
      { toJSON: () => ({ at: new Date(0) }) },
      { at: '1970-01-01T00:00:00.000Z' },
    ],
    ['instances of classes', new Money(5), { currency: 'EUR' }],
    ['the same thing twice', [shared, shared], [{ a: 1 }, { a: 1 }]],
    ['cycles', cyclic(), { name: 'a', self: '[circular]', list: ['[circular]'] }],
    ['boxed values', [Object('a'), Object(1)], ['a', 1]],
  ])('%s', (_title, value, json) => {
    expect(toJson(value)).toEqual(json);
  });

  it('a field named like the prototype', () => {
    const value: unknown = JSON.parse('{"__proto__": {"admin": true}}');
    expect(JSON.stringify(toJson(value))).toBe('{"__proto__":{"admin":true}}');
  });

  it('a value nested without end, which is cut', () => {
    const json = toJson(deep(10_000));
    expect(isBoundedJson(json, 110)).toBe(true);
    expect(JSON.stringify(json)).toContain('nested too deeply');
  });

  it('a small graph that is a huge tree, which is cut', () => {
    let value: unknown = 'leaf';
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(JSON.stringify(toJson(value))).toContain('too many values');
  });

  it('any value at all', promise('N25'), () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withNullPrototype: true,
          withBoxedValues: true,
        }),
        (value) => {
          const json = toJson(value);
          expect(isBoundedJson(json, 200)).toBe(true);
          expect(JSON.parse(JSON.stringify(json))).toEqual(
            JSON.parse(JSON.stringify(toJson(json))),
          );
        },
      ),
    );
  });
});

describe('a result that is too long', () => {
  it('is left alone when it just fits', () => {
    expect(boundedJson('x'.repeat(998), 1_000)).toBe('x'.repeat(998));
  });

  it('is cut with a marker that states its full length', promise('S48', 'T13'), () => {
    const cut = boundedJson('x'.repeat(2_000), 1_000) as Record<string, Json>;
    expect(cut).toMatchObject({ truncated: true });
    const text = cut['text'] as string;
    expect(text).toMatch(/^x{800,}$/);
    expect(cut['note']).toBe(`[truncated: ${text.length} of 2000 bytes shown]`);
  });

  it('shows the beginning of its JSON when it is no text', () => {
    const list = Array.from({ length: 500 }, (_item, index) => ({ index }));
    expect(boundedJson(list, 1_000)).toMatchObject({
      text: expect.stringMatching(/^\[\{"index":0\},/) as unknown,
    });
  });

  it('always fits, with any content, and is never cut within a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 100, maxLength: 2_000 }), (text) => {
        const json = boundedJson(text, 300);
        expect(utf8Bytes(JSON.stringify(json))).toBeLessThanOrEqual(300);
        if (json !== text)
          expect(() => encodeURIComponent((json as { text: string }).text)).not.toThrow();
      }),
    );
  });
});
