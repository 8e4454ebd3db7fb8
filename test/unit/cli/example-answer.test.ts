import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exampleAnswer, exampleResolution, shellQuote } from '../../../src/cli/example-answer.js';
import type { JsonSchema } from '../../../src/protocol/json.js';

describe('the example of an answer to a waiting call', () => {
  it('approves an approval', () => {
    expect(exampleResolution({ kind: 'approval' })).toBe('{"type":"approve"}');
  });

  it('names the question that a tool asks, since there may be another before the answer comes', () => {
    const call = { kind: 'elicitation', ask: 2, argsDigest: 'ask:2:x' } as const;
    const resolution = { type: 'answer', value: 'an answer' };
    expect(JSON.parse(exampleAnswer(call))).toEqual({ resolution, argsDigest: 'ask:2:x' });
    expect(exampleAnswer({ kind: 'approval', argsDigest: 'sha256:x' })).toBe('{"type":"approve"}');
  });

  it('is free text where a person is asked without a form', () => {
    const example: unknown = JSON.parse(exampleResolution({ kind: 'elicitation' }));
    expect(example).toEqual({ type: 'answer', value: 'an answer' });
  });

  it.each([
    ['texts', z.object({ answer: z.string().min(1) })],
    ['long texts', z.object({ answer: z.string().min(20) })],
    ['numbers', z.object({ cents: z.int().positive(), share: z.number().min(0.5) })],
    ['choices', z.object({ size: z.enum(['S', 'M']), kind: z.literal('shoe') })],
    ['lists', z.object({ items: z.array(z.string()).min(2), none: z.array(z.string()) })],
    ['either-or', z.object({ value: z.union([z.boolean(), z.string()]), none: z.null() })],
    ['optional fields', z.object({ note: z.string().optional() })],
    ['nested objects', z.object({ a: z.object({ b: z.object({ c: z.boolean() }) }) })],
  ])('fits a form of %s', (_, schema) => {
    const answerSchema = z.toJSONSchema(schema) as JsonSchema;
    for (const kind of ['elicitation', 'client_execution'] as const) {
      const example = JSON.parse(exampleResolution({ kind, answerSchema })) as { value: unknown };
      expect(schema.safeParse(example.value).error).toBeUndefined();
    }
  });
});

describe('a text for a shell', () => {
  it('arrives as it is, whatever is in it', () => {
    const text = `it's "$HOME" \`ls\` \\ *`;
    const printed = execFileSync('sh', ['-c', `printf %s ${shellQuote(text)}`], {
      encoding: 'utf8',
    });
    expect(printed).toBe(text);
  });
});
