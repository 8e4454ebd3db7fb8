import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AnsweredCall,
  sampleAnswer,
  whoMayAnswer,
} from '../../../src/core/view/sample-answer.js';
import type { JsonSchema } from '../../../src/protocol/values/json.js';

type Call = Omit<AnsweredCall, 'toolCallId'>;
const sample = (call: Call) => sampleAnswer({ toolCallId: 'c', ...call }, []);
const sampleOf = (call: Call) => sample(call)?.answer.resolution;
const hintOf = (call: Call) => sample(call)?.hint ?? '';
const form = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema) as JsonSchema;

describe('the sample of an answer to a pending call', () => {
  it('approves an approval, with nothing to edit', () => {
    expect(sample({ kind: 'approval', argsDigest: 'sha256:x' })).toEqual({
      answer: { toolCallId: 'c', resolution: { type: 'approve' }, actor: { id: 'operator' } },
    });
  });

  it('names the question of a tool, since there may be another before the answer comes', () => {
    const call = { kind: 'elicitation', ask: 2, argsDigest: 'ask:2:x' } as const;
    expect(sample(call)?.answer.argsDigest).toBe('ask:2:x');
  });

  it('is free text where a person is asked without a form', () => {
    expect(sampleOf({ kind: 'elicitation' })).toEqual({ type: 'answer', value: 'an answer' });
  });

  it.each([
    ['texts', z.object({ answer: z.string().min(1) })],
    ['long texts', z.object({ answer: z.string().min(20) })],
    ['short texts', z.object({ answer: z.string().max(3) })],
    ['numbers', z.object({ cents: z.int().positive(), share: z.number().min(0.5) })],
    ['small numbers', z.object({ below: z.int().max(-5), step: z.number().min(7).multipleOf(5) })],
    ['choices', z.object({ size: z.enum(['S', 'M']), kind: z.literal('shoe') })],
    ['lists', z.object({ items: z.array(z.string()).min(2), none: z.array(z.string()) })],
    ['tuples', z.object({ pair: z.tuple([z.string(), z.number()]) })],
    ['either-or', z.object({ value: z.union([z.boolean(), z.string()]), none: z.null() })],
    ['optional fields', z.object({ note: z.string().optional() })],
    ['nested objects', z.object({ a: z.object({ b: z.object({ c: z.boolean() }) }) })],
    ['both of two', z.object({ a: z.string() }).and(z.object({ b: z.number() }))],
    ['named fields', z.record(z.enum(['a', 'b']), z.number())],
    [
      'dates and addresses',
      z.object({
        on: z.iso.date(),
        at: z.iso.datetime(),
        to: z.email(),
        id: z.uuid(),
        see: z.url(),
      }),
    ],
  ])('fits a form of %s', (_, schema) => {
    for (const kind of ['elicitation', 'client_execution', 'external_execution'] as const) {
      const call = { kind, answerSchema: form(schema) };
      const { value } = sampleOf(call) as { value: unknown };
      expect(schema.safeParse(value).error).toBeUndefined();
      expect(hintOf(call)).toContain('put the real one in its place');
      expect(hintOf(call)).not.toContain('as it stands');
    }
  });

  it('fits a form that refers to a part of it', () => {
    const Node = z.object({
      name: z.string(),
      get child() {
        return Node.optional();
      },
    });
    const schema = z.object({ left: Node, right: Node });
    const answerSchema = z.toJSONSchema(schema, { reused: 'ref' }) as JsonSchema;
    const { value } = sampleOf({ kind: 'elicitation', answerSchema }) as { value: unknown };
    expect(schema.safeParse(value).error).toBeUndefined();
  });

  it('says which fields to edit where it does not fit', () => {
    const answerSchema = { not: {} };
    expect(hintOf({ kind: 'elicitation', answerSchema })).toMatch(
      /which as it stands `.+`\. Its form: `\{"not": \{\}\}`/,
    );
  });

  it('says that a worker judges answers that the workflow cannot', () => {
    const answerSchema = { type: 'string', pattern: '^[A-Z]{3}$' };
    expect(hintOf({ kind: 'elicitation', answerSchema })).toContain(
      'Its form, and a worker judges it by all of it: `{"type": "string", "pattern": "^[A-Z]{3}$"}`',
    );
  });

  it('is short, for any size of the form and its values', () => {
    const answerSchema = { enum: ['x'.repeat(50_000)] };
    const large = sample({ kind: 'elicitation', answerSchema });
    expect(JSON.stringify(large).length).toBeLessThan(1_500);
    expect(large?.hint).toContain('as it stands');
  });

  it('is absent where only verified actors may answer', () => {
    expect(sample({ kind: 'approval', audience: { requireVerified: true } })).toBeUndefined();
    expect(sample({ kind: 'approval', audience: { users: [] } })).toBeUndefined();
  });
});

describe('the actors who may answer a pending call', () => {
  it.each<[string, Parameters<typeof whoMayAnswer>[0], string]>([
    ['anybody', {}, 'anybody'],
    ['users', { audience: { users: ['ada', 'ben'] } }, 'user `ada`, `ben`'],
    [
      'users or roles',
      { audience: { users: ['ada'], roles: ['lead'] } },
      'user `ada` or role `lead`',
    ],
    [
      'all but some',
      { audience: { exclude: ['requester', 'eve'] } },
      'anybody, but not the requester, but not `eve`',
    ],
    ['verified', { audience: { requireVerified: true } }, 'anybody, and verified'],
    [
      'two rules',
      { audience: { roles: ['a'], also: [{ roles: ['b'] }] } },
      'role `a`; and role `b`',
    ],
    [
      'many',
      { audience: { users: Array.from({ length: 100 }, (_, at) => `u${at}`) } },
      'user `u0`, `u1`, `u2`, `u3`, `u4`, `u5`, … 94 more',
    ],
    [
      'many rules',
      { audience: { users: ['a'], also: Array.from({ length: 9 }, () => ({ roles: ['b'] })) } },
      'user `a`; and role `b`; and role `b`; and … 7 more conditions',
    ],
  ])('are listed: %s', (_title, call, expected) => {
    expect(whoMayAnswer(call)).toBe(expected);
  });
});
