import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/protocol/values/json.js';
import {
  safeJson,
  shellQuote,
  shownJson,
  shownText,
} from '../../../src/protocol/workflow/shown-text.js';
import { promise } from '../../support/promise.js';
import { HOSTILE } from '../../support/waits-by-hand.js';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string())).map((parts) => parts.join('')),
);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(text, tie('value')) as fc.Arbitrary<Json>,
  ),
})).value;

/**
 * Holds for a text that ends no code span or quoted word, begins no tag or cell, is not replaced by the UI, and hides
 * nothing.
 */
const HARMLESS = /^(?:(?![<>&`|'])(?:[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]| (?! )))*$/u;
const REPLACED = /\{(?:namespace|workflowId|runId)\}/;
const SPAN = /^`([^`]*)`( … \d+ more characters)?$/;

function inSpan(shown: string): string {
  const inside = SPAN.exec(shown)?.[1];
  if (inside === undefined || inside === '') throw new Error(`is no code span: ${shown}`);
  return inside;
}

describe('a text of another author', () => {
  it.each([
    ['stands as it is', 'Refund 7,50 € to Zoë (日本) now!', '`Refund 7,50 € to Zoë (日本) now!`'],
    ['keeps its quotes', 'say "hi"', '`say "hi"`'],
    ['cannot end the code', 'a `b` c', '`a \\u0060b\\u0060 c`'],
    ['begins no line', 'a\n# b', '`a\\n# b`'],
    ['is no link of HTML', '<a href=x>', '`\\u003ca href=x\\u003e`'],
    ['is no cell', 'a|b', '`a\\u007cb`'],
    ['cannot turn the line around', '\u202egnp', '`\\u202egnp`'],
    ['hides nothing', 'a\u200bb\ufeff', '`a\\u200bb\\ufeff`'],
    ['moves no cursor', '\u001b[2J\u009b2J', '`\\u001b[2J\\u009b2J`'],
    ['loses no spaces', ' a  b ', '`\\u0020a\\u0020 b\\u0020`'],
    ['is not replaced by the UI', '{workflowId}', '`\\u007bworkflowId}`'],
    ['is there when it is empty', '', '`""`'],
    ['cuts no character in two', '👩👩', '`👩` … 2 more characters'],
  ])('%s', (_title, given, shown) => {
    expect(shownText(given, given.startsWith('👩') ? 3 : 200)).toBe(shown);
  });

  it('does nothing and hides nothing on a page, with any content', promise('G261'), () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (given, max) => {
        const inside = inSpan(shownText(given, max));
        expect(inside).toMatch(HARMLESS);
        expect(inside).not.toMatch(REPLACED);
        expect(inside).not.toMatch(/^ | $/);
      }),
    );
  });
});

describe('a value of another author', () => {
  it.each<[string, Json, string]>([
    ['scalars', [1, true, null, 'x'], '`[1, true, null, "x"]`'],
    ['fields', { a: 1, b: { c: [] } }, '`{"a": 1, "b": {"c": []}}`'],
    [
      'more items than the limit',
      Array.from({ length: 50 }, (_, at) => at),
      '`[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 … 37 more]`',
    ],
    ['a long text', { a: 'x'.repeat(500) }, `\`{"a": "${'x'.repeat(35)}" … 465 more characters}\``],
    ['what is nested too deep', [[[[[[['x']]]]]]], '`[[[[[[[… 1 more]]]]]]]`'],
    ['a text that says it was cut', '… 3 more', '`"… 3 more"`'],
  ])('shows %s', (_title, value, shown) => {
    expect(shownJson(value, 40)).toBe(shown);
  });

  it('does nothing and hides nothing on a page, and is whole where it fits', () => {
    fc.assert(
      fc.property(json, (value) => {
        const inside = inSpan(shownJson(value, 100_000));
        expect(inside).toMatch(HARMLESS);
        expect(inside).not.toMatch(REPLACED);
        if (!inside.includes(' more'))
          expect(JSON.parse(inside)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is bounded, at any size, and says how much was omitted', () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field${at}`, at]));
    const deep = Array.from({ length: 200 }).reduce<Json>((inner) => ({ inner }), 'x');
    for (const value of [
      wide,
      deep,
      'x'.repeat(200_000),
      Array(5_000).fill('\u0000'.repeat(500)) as Json,
    ]) {
      const shown = shownJson(value, 800);
      expect(shown.length).toBeLessThan(2_200);
      expect(shown).toMatch(/… \d+ more/);
    }
  });
});

describe('JSON in a command', () => {
  it('means the same, and needs no more than two quotes around it', () => {
    fc.assert(
      fc.property(json, (value) => {
        for (const indent of [undefined, 1]) {
          const written = safeJson(value, indent);
          expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
          expect(written.replaceAll(/\n *| (?= )/g, '')).toMatch(HARMLESS);
        }
      }),
    );
  });
});

describe('a text for a shell', () => {
  it('arrives as it is, with any content', () => {
    for (const given of [`it's "$HOME" \`ls\` \\ *`, ...HOSTILE.filter((it) => it !== '\ud800')]) {
      const printed = execFileSync('sh', ['-c', `printf %s ${shellQuote(given)}`]);
      expect(printed.toString('utf8')).toBe(given);
    }
  });
});
