import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutText,
  NOT_WELL_FORMED,
  textProblems,
  wellFormed,
  wellFormedJson,
} from '../../../../src/protocol/values/well-formed.js';

const units = fc
  .array(fc.constantFrom('a', '\ud83d', '\ude00', '\ud800', '\udfff', '😀', '\u0000'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
const survives = (text: string): boolean => Buffer.from(text, 'utf8').toString('utf8') === text;

describe('text that is well-formed', () => {
  it('is read back from UTF-8 as it was; all other text becomes that of UTF-8', () => {
    fc.assert(
      fc.property(units, (text) => {
        expect(wellFormed(text)).toBe(Buffer.from(text, 'utf8').toString('utf8'));
        expect(textProblems(text).length === 0).toBe(survives(text));
      }),
    );
  });

  it('stays so when it is cut, at any place', () => {
    fc.assert(
      fc.property(units, fc.nat(14), (text, length) => {
        const cut = cutText(text, length);
        expect(survives(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(length);
        expect(wellFormed(text).startsWith(cut)).toBe(true);
      }),
    );
  });

  it('is required with the path of the first fault, in keys, too', () => {
    const lone = '\ud800';
    expect(textProblems({ a: ['x', { 'b/c': lone }], z: lone })).toEqual([
      { path: '/a/1/b~1c', message: NOT_WELL_FORMED },
    ]);
    expect(textProblems({ [`k${lone}`]: 1 })).toEqual([
      { path: '/k\ufffd', message: NOT_WELL_FORMED },
    ]);
    expect(textProblems({ a: '😀', b: null, c: 1, d: undefined })).toEqual([]);
  });

  it('is checked at any depth of a value, and in a circle', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}"\\ud800"${']'.repeat(50_000)}`) as unknown;
    expect(textProblems(deep)).toHaveLength(1);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(textProblems(circle)).toEqual([]);
  });

  it('is made of JSON without a change to parts that need none', () => {
    const fine = { a: ['😀'] };
    expect(wellFormedJson(fine)).toBe(fine);
    const odd = JSON.parse('{"a":["\\ud800b"],"__proto__":"\\udc00","\\ud800":null}') as object;
    expect(JSON.stringify(wellFormedJson(odd))).toBe(
      '{"a":["\ufffdb"],"__proto__":"\ufffd","\ufffd":null}',
    );
  });
});
