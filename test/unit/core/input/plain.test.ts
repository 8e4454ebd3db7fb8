/** Copies of input as plain data. */
import { describe, expect, it } from 'vitest';
import { answerProblems } from '../../../../src/core/input/answer.js';
import { messageDigest, messageParts } from '../../../../src/core/input/attachments.js';
import { fieldsOf, plainInput } from '../../../../src/core/input/plain-input.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../../../src/protocol/limits/limits.js';

/** Lists, one in the other. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const isCopied = (value: unknown): boolean => typeof plainInput(value) !== 'symbol';

describe('a copy of input', () => {
  it('has the same JSON, and shares nothing', () => {
    const input = { a: [1, 'x', true, null, { b: 0 }], c: {} };
    const copy = plainInput(input) as typeof input;
    expect(copy).toEqual(input);
    expect(copy).not.toBe(input);
    expect(copy.a[4]).not.toBe(input.a[4]);
  });

  it('has no negative zero, no fields without a value, and keys of any name', () => {
    expect(Object.is(plainInput(-0), 0)).toBe(true);
    expect(plainInput(1.5)).toBe(1.5);
    expect(Object.keys(plainInput({ a: undefined, b: 1 }) as object)).toEqual(['b']);
    const proto = plainInput(JSON.parse('{"__proto__": {"a": 1}}')) as object;
    expect(Object.keys(proto)).toEqual(['__proto__']);
  });

  it.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a big number', 1n],
    ['infinity', Number.POSITIVE_INFINITY],
    ['an instance', new Date()],
    ['a map', new Map()],
  ])('is refused for %s, also inside of a list or a record', (_title, value) => {
    expect(isCopied(value)).toBe(false);
    expect(typeof (plainInput([value]) as unknown[])[0]).toBe('symbol');
    expect(typeof (plainInput({ a: value }) as { a: unknown }).a).toBe('symbol');
  });

  it('takes records without a prototype, and those of another realm', () => {
    expect(plainInput(Object.assign(Object.create(null) as object, { a: 1 }))).toEqual({ a: 1 });
    const root = Object.create(null) as object;
    expect(plainInput(Object.assign(Object.create(root) as object, { a: 1 }))).toEqual({ a: 1 });
  });

  it('never throws for what throws when it is read', () => {
    const hostile = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('read');
      },
    });
    expect(isCopied(hostile)).toBe(false);
  });

  it('ends at a depth, three levels below that of answers', () => {
    const most = MAX_ANSWER_DEPTH + 3;
    const text = (levels: number): string => JSON.stringify(plainInput(nested(levels)));
    expect(text(most)).toBe(JSON.stringify(nested(most)));
    expect(text(most + 1)).toContain('[null]');
    const records = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = { a: value };
      return value;
    };
    expect(plainInput(records(most))).toEqual(records(most));
    expect(JSON.stringify(plainInput(records(most + 1)))).toContain('{}');
  });

  it('ends after a number of values, also where one list is shared by many', () => {
    const shared = Array.from({ length: 1_000 }, () => 1);
    const lists = Array.from({ length: 1_000 }, () => shared);
    const copied = plainInput(lists) as unknown[];
    const whole = copied.filter((list) => typeof list !== 'symbol');
    expect(whole.length).toBe(Math.floor((MAX_ANSWER_BYTES - 1) / 1_001));
    expect(isCopied(Array.from({ length: MAX_ANSWER_BYTES }, () => 1))).toBe(false);
    const exact = Array.from({ length: MAX_ANSWER_BYTES - 1 }, () => 1);
    expect((plainInput(exact) as unknown[]).every((one) => one === 1)).toBe(true);
  });

  it('has no fields where it is no record', () => {
    expect(fieldsOf({ a: 1 })).toEqual({ a: 1 });
    expect([fieldsOf([1]), fieldsOf('a'), fieldsOf(undefined)]).toEqual([{}, {}, {}]);
  });
});

describe('the problems of an answer', () => {
  const path = '/resolution/value';

  it.each([
    [undefined, undefined, [{ path, message: 'is required' }]],
    [nested(MAX_ANSWER_DEPTH + 1), undefined, [deep()]],
    [nested(MAX_ANSWER_DEPTH), undefined, []],
    [{ a: 1n }, undefined, [deep()]],
    ['x'.repeat(MAX_ANSWER_BYTES - 2), undefined, []],
    ['x'.repeat(MAX_ANSWER_BYTES - 1), undefined, [large(MAX_ANSWER_BYTES + 1)]],
    ['x', { type: 'number' }, [{ path, message: expect.any(String) as string }]],
    [7, { type: 'number' }, []],
  ])('are those of its form (%#)', (value, schema, problems) => {
    expect(answerProblems(value, schema)).toEqual(problems);
  });

  it('have the path into the value', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    expect(answerProblems({ a: 'x' }, schema)).toMatchObject([{ path: `${path}/a` }]);
  });

  function deep() {
    return { path, message: `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep` };
  }

  function large(bytes: number) {
    return { path, message: `must be at most ${MAX_ANSWER_BYTES} bytes, got ${bytes}` };
  }
});

describe('the digest of a message', () => {
  const image = { type: 'image', source: { url: 'https://a.example/x.png' } };

  it('is that of its text alone, of its attachments as well, and of the form of its answer', () => {
    const parts = messageParts({ text: 'hi' });
    const withImage = messageParts({ text: 'hi', attachments: [image] });
    expect(parts).toEqual([{ type: 'text', text: 'hi' }]);
    expect(withImage).toEqual([{ type: 'text', text: 'hi' }, image]);
    const digests = [
      messageDigest(parts, undefined),
      messageDigest(withImage, undefined),
      messageDigest(parts, { type: 'object' }),
      messageDigest(parts, { type: 'string' }),
      messageDigest(messageParts({ text: JSON.stringify(parts) }), undefined),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(messageDigest(messageParts({ text: 'hi' }), undefined)).toBe(digests[0]);
  });
});
