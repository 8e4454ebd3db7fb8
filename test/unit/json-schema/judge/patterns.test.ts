/** Patterns and formats of strangers: judged in time linear in the text, or refused by the name of their field. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validate } from '../../../../src/define/schemas/validate.js';
import { FORMATS } from '../../../../src/json-schema/judge/formats.schema.js';
import {
  LINEAR_TEXTS,
  linearPattern,
  patternProblems,
  withoutSlowPatterns,
} from '../../../../src/json-schema/judge/patterns.schema.js';
import type { JsonSchema } from '../../../../src/protocol/values/json.js';
import { promise } from '../../../support/promise.js';

/** Far above the time on a loaded machine, far below that of a backtracking engine. */
const SOON_MS = 5_000;

function takes(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

describe('a pattern', () => {
  it('that would backtrack without end is judged at once', async () => {
    const value = { x: `${'a'.repeat(100)}!` };
    const schema = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };
    expect(await validate({ jsonSchema: schema }, value)).toEqual({
      ok: false,
      problems: [{ path: '/x', message: 'must match the pattern ^(a+)+$' }],
    });
  });

  it.each([
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(x+x+)+y',
    '^(.*)*$',
    '(a*)*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ])('%s is judged in linear time', promise('G272'), (source) => {
    const { test } = linearPattern(source);
    for (const text of ['a', 'x', 'ab'])
      expect(takes(() => test(`${text.repeat(20_000)}!`))).toBeLessThan(SOON_MS);
  });

  it.each([
    ['^\\d{3}$', ['123', '12', '١٢٣']],
    ['^\\w+$', ['a_1', 'é', '']],
    ['^\\s$', [' ', '\u00a0', '\u2028', '\ufeff', 'x']],
    ['^\\S+$', ['abc', 'a\u00a0b']],
    ['^[\\s,]+$', [' ,\u3000', 'x']],
    ['^.$', ['a', '\n', '\r', '\u2028', '🚲']],
    ['^[.]$', ['.', 'x']],
    ['\\bcat\\b', ['a cat', 'concat']],
    ['^\\u00e9\\x41\\cA$', ['éA\u0001', 'eA']],
    ['^\\u{1F6B2}$', ['🚲', 'u']],
    ['^\\p{Letter}+$', ['äß漢', '1']],
    ['^\\p{Script=Greek}+$', ['αβγ', 'abc']],
    ['^\\P{Lu}$', ['a', 'A']],
    ['^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$', ['2026-11', '2026-13']],
    ['^[^]$', ['\n', 'ab']],
    ['^\\/a\\.b$', ['/a.b', '/axb']],
    ['^(?:a|b){2,3}?$', ['ab', 'abab']],
    ['', ['', 'x']],
  ])('%s means the same as in JavaScript', (source, texts) => {
    const native = new RegExp(source, 'u');
    const { test } = linearPattern(source);
    expect(texts.map((text) => [text, test(text)])).toEqual(
      texts.map((text) => [text, native.test(text)]),
    );
  });

  it.each([
    ['a look-ahead', '^(?=a)b$', 'look-around and back-references are not supported'],
    ['a look-behind', '(?<!a)b', 'look-around and back-references are not supported'],
    ['a back-reference', '(a)\\1', 'look-around and back-references are not supported'],
    ['no expression', '(', 'cannot be matched'],
    ['more characters than the bound', 'a'.repeat(2_001), 'has 2001 characters; at most 2000'],
    ['repetitions that multiply', 'a{1000}b{1000}c{1000}', 'repeats 3000 times in all'],
    ['nested repetitions', '((a{50}){50}){50}', 'cannot be matched'],
    ['a thousand repetitions of much', '(?:abcdefghijabcdefghij){1000}', 'is too large'],
  ])('with %s is refused by the name of its field', promise('G274'), (_what, pattern, rule) => {
    const schema: JsonSchema = {
      properties: { code: { type: 'string', pattern }, pattern: { const: { pattern } } },
    };
    const problem = {
      path: '/properties/code/pattern',
      rule: expect.stringContaining(rule) as string,
    };
    expect(patternProblems(schema)).toEqual([problem]);
    const keys = patternProblems({ items: { patternProperties: { [pattern]: true } } });
    expect(keys).toMatchObject([{ rule: problem.rule }]);
    expect(keys[0]?.path).toMatch(/^\/items\/patternProperties\//);
  });

  it('counts together with the others of its schema, and is not compiled behind the bound', () => {
    const schema: JsonSchema = {
      allOf: Array.from({ length: 500 }, (_, index) => ({ pattern: `^[${index}a]{1,900}$` })),
    };
    let problems: readonly { readonly path: string }[] = [];
    expect(takes(() => (problems = patternProblems(schema)))).toBeLessThan(SOON_MS);
    expect(problems[0]?.path).toMatch(/^\/allOf\/1\d\/pattern$/);
  });

  it('that zod writes for a format of its own is accepted, and is judged in linear time', () => {
    const formats = z.object({
      ...{ email: z.email(), uuid: z.uuid(), url: z.url(), host: z.hostname(), date: z.iso.date() },
      ...{ time: z.iso.time(), when: z.iso.datetime(), length: z.iso.duration(), v4: z.ipv4() },
      ...{ v6: z.ipv6(), cidr: z.cidrv6(), base64: z.base64(), jwt: z.jwt(), e164: z.e164() },
      ...{ cuid: z.cuid2(), ulid: z.ulid(), nano: z.nanoid(), emoji: z.emoji(), text: z.string() },
    });
    expect(patternProblems(z.toJSONSchema(formats) as JsonSchema)).toEqual([]);
  });

  it('is omitted from the form that code judges, where a worker cannot judge by it', () => {
    const schema: JsonSchema = {
      properties: { a: { pattern: '(?=a)' }, b: { pattern: '^b' }, pattern: { type: 'string' } },
    };
    expect(withoutSlowPatterns(schema)).toEqual({
      properties: { a: {}, b: { pattern: '^b' }, pattern: { type: 'string' } },
    });
  });
});

describe('expressions of zod, by which the schemas of an author judge input of strangers', () => {
  const constant = Object.entries(z.regexes).filter(
    (entry): entry is [string, RegExp] => entry[1] instanceof RegExp,
  );
  const { datetime, emoji, mac, nanoidOfLength, string, time, uuid } = z.regexes;
  const made: Readonly<Record<string, RegExp>> = {
    datetime: datetime({ precision: null, offset: true, local: true }),
    emoji: emoji(),
    mac: mac(),
    nanoidOfLength: nanoidOfLength(21),
    string: string({ minimum: 1 }),
    time: time({ precision: null }),
    uuid: uuid(),
  };
  const expressions = [...constant, ...Object.entries(made)];
  const ATTACKS = [
    // Belongs to both classes of characters of which an emoji consists.
    '\u{1F9B0}',
    '😀',
    '1\u{20E3}',
    'a',
    '1',
    '.',
    '-',
    '@',
    'a.',
    '1:',
    'P1',
    '::',
    'A-',
    '0x',
    ' ',
    'a@',
    '=',
    '%41',
  ];

  it('include each that zod makes by a function', () => {
    const functions = Object.entries(z.regexes).filter(([, value]) => typeof value === 'function');
    expect(functions.map(([name]) => name).sort()).toEqual(Object.keys(made).sort());
  });

  it.each(expressions)('%s take linear time', promise('G276'), (_name, expression) => {
    for (const piece of ATTACKS)
      for (const text of [`${piece.repeat(20_000)}!`, `a${piece.repeat(20_000)}\n`])
        expect(takes(() => expression.test(text))).toBeLessThan(SOON_MS);
  });
});

describe('a format', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['date', ['2026-11-23', '2024-02-29'], ['2026-02-29', '2026-13-01', '2026-1-1', '2026-11-23T']],
    [
      'time',
      ['10:00:00Z', '23:59:60Z', '10:00:00.5+02:00'],
      ['10:00', '24:00:00Z', '10:00:60Z', '10:00:00'],
    ],
    [
      'date-time',
      ['2026-11-23T10:00:00Z', '2026-11-23t10:00:00z'],
      ['2026-11-23', '2026-11-23T25:00:00Z'],
    ],
    [
      'duration',
      ['P1Y2M3D', 'PT1H', 'P4W', 'P1DT12H'],
      ['P', 'P1', 'PT', 'P1YT', 'P1Y3D', '1D', 'P1T2H'],
    ],
    [
      'email',
      ['a.b@c.example', '"a b"@c.example', 'a@[127.0.0.1]', 'a@[IPv6:::1]'],
      ['a', '@b', 'a..b@c', 'a@-b', `${'a'.repeat(65)}@b`],
    ],
    [
      'hostname',
      ['a.example', 'localhost', 'a-b.c1'],
      ['-a', 'a-', 'a..b', `${'a'.repeat(64)}.b`, ''],
    ],
    ['ipv4', ['127.0.0.1'], ['256.0.0.1', '1.2.3']],
    ['ipv6', ['::1', '2001:db8::8a2e:370:7334'], [':::', '12345::', '1.2.3.4']],
    [
      'uri',
      ['https://a.example/b?c#d', 'urn:x:y', 'https://[::1]/'],
      ['/a', 'a b', 'http://a/[', 'x:#a#b'],
    ],
    ['uri-reference', ['/a', 'a?b', ''], ['a b', '\\']],
    ['uri-template', ['/a/{b}', '/{?x,y*}', "/it's"], ['/{a', '/{a b}', '/a}']],
    ['url', ['https://a.example'], ['urn:x', 'https://']],
    ['uuid', ['2eb8aa08-aa98-11ea-b4aa-73b441d16380'], ['2eb8aa08aa9811eab4aa73b441d16380']],
    ['regex', ['^a+$', '(?=a)'], ['(', '[']],
    ['json-pointer', ['', '/a/b~0', '/'], ['a', '/~2']],
    ['relative-json-pointer', ['0', '1/a', '2#'], ['', '-1', '01']],
  ])('%s admits its values, and no others', (name, good, bad) => {
    const admits = FORMATS[name];
    expect(good.filter((text) => admits?.(text) !== true)).toEqual([]);
    expect(bad.filter((text) => admits?.(text) !== false)).toEqual([]);
  });

  const ATTACKS = [
    ...[
      'a',
      '1',
      'a-',
      'a.',
      '/',
      '%41',
      '{a}',
      '{a',
      '[',
      '@',
      'http://',
      '"',
      '\\"',
      'P1Y',
      '0:',
    ],
    ...['~0', '/~0', '((', 'a+', '::', '١'],
  ];
  it.each(Object.keys(FORMATS))('%s takes linear time', promise('G276'), (name) => {
    for (const piece of ATTACKS)
      for (const start of ['', 'http://', '/', '"', 'P', 'a@'])
        for (const end of ['', '!', '\n', '@', '}'])
          expect(takes(() => FORMATS[name]?.(start + piece.repeat(10_000) + end))).toBeLessThan(
            SOON_MS,
          );
  });

  it('that is unknown, or that every object inherits, admits every value', () => {
    for (const name of ['colour', 'constructor', '__proto__', 'toString'])
      expect(LINEAR_TEXTS.format(name)).toBeUndefined();
  });
});
