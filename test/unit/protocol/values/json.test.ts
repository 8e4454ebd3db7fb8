/** JSON: its canonical text, its size, its fingerprint, its bounds. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  fingerprint,
  isBoundedJson,
  isRecord,
  utf8Bytes,
} from '../../../../src/protocol/values/json.js';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}

describe('canonical JSON', () => {
  it('is the same for equal values, in any order of their keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(shuffled(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('differs for values that differ', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const same =
          JSON.stringify(JSON.parse(canonicalJson(left))) ===
          JSON.stringify(JSON.parse(canonicalJson(right)));
        expect(canonicalJson(left) === canonicalJson(right)).toBe(same);
      }),
    );
  });

  it('sorts keys, omits undefined, and keeps the order of lists', () => {
    expect(canonicalJson({ b: [3, 1], a: { d: undefined, c: null } })).toBe(
      '{"a":{"c":null},"b":[3,1]}',
    );
    expect(canonicalJson(undefined)).toBe('null');
    expect(canonicalJson([undefined, Number.NaN])).toBe('[null,null]');
  });
});

describe('the size of a text in UTF-8', () => {
  it('is the length that an encoder gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text, 'utf8'));
      }),
      { numRuns: 300 },
    );
    for (const text of ['', 'a', 'é', '€', '😀', 'a😀é€', '\u0000', '\uffff'])
      expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
  });
});

describe('a fingerprint', () => {
  it('is short, stable, and differs between texts', () => {
    expect(fingerprint('')).toBe(fingerprint(''));
    const seen = new Set<string>();
    for (let index = 0; index < 10_000; index += 1) seen.add(fingerprint(`text ${index}`));
    expect(seen.size).toBe(10_000);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(fingerprint(text)).toMatch(/^[0-9a-z]{1,11}$/);
      }),
    );
  });
});

describe('bounded JSON', () => {
  it('is any JSON value of that depth, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(isBoundedJson(value, 10)).toBe(true);
      }),
    );
    for (const value of [
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      Symbol('x'),
      () => 1,
      [undefined],
      { a: () => 1 },
    ])
      expect(isBoundedJson(value, 10)).toBe(false);
    expect(isBoundedJson([[[]]], 3)).toBe(true);
    expect(isBoundedJson([[[]]], 2)).toBe(false);
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(isBoundedJson(cycle, 64)).toBe(false);
  });
});
