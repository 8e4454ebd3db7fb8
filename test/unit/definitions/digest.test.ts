/**
 * Digests of definitions: equal where nothing has to be parsed again, and different wherever arguments may be read
 * otherwise.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { jsonSchema } from '../../../src/define/schemas/schema.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { definitionOf } from '../../../src/tools/definition/digest.js';
import { judgeInput } from '../../../src/tools/definition/judge.js';
import { agentOf, BEFORE, INPUT_CHANGES, Runs, serverTool, waiting } from './deploys.js';

function digest(input: z.ZodType, more: object = {}): string {
  return definitionOf(serverTool(new Runs(), input, more)).definition;
}

function answerDigest(output: unknown): string | undefined {
  const spec = { name: 'ask', description: 'Asks.', executor: 'human', input: BEFORE, output };
  return definitionOf(defineTool(spec as never)).answerDefinition;
}

const twice = (make: () => z.ZodType): readonly [string, string] => [
  digest(make()),
  digest(make()),
];

describe('the digest of a definition', () => {
  it('is the same for the same definition, made anew', () => {
    const make = () =>
      z.object({
        a: z.string().trim().regex(/^x/i),
        b: z.number().transform((it) => it + 1),
        c: z.lazy(() => z.array(z.string())).optional(),
        d: z.enum(['on', 'off']).default('on'),
      });
    const [left, right] = twice(make);
    expect(left).toBe(right);
  });

  it('is the same for a default with a new value each time', () => {
    let clock = 0;
    const [left, right] = twice(() => z.object({ at: z.number().default(() => (clock += 1)) }));
    expect(left).toBe(right);
  });

  it('does not depend on texts of errors, approvals, clocks or code', () => {
    const message = z.object({ order: z.string('Which?'), count: z.int().max(100) });
    expect(digest(message)).toBe(digest(BEFORE));
    expect(digest(BEFORE, { approval: 'auto', timeouts: { run: '5s' } })).toBe(digest(BEFORE));
  });

  it.each(INPUT_CHANGES.filter(({ what }) => !/nothing|description/.test(what)))(
    'is another when $what',
    ({ input }) => {
      expect(digest(input)).not.toBe(digest(BEFORE));
    },
  );

  it('is another when code changes that no JSON Schema shows', () => {
    const { order } = BEFORE.shape;
    const digests = [
      order.transform((it) => it.trim()),
      order.transform((it) => it.toUpperCase()),
      order.refine((it) => it !== 'x'),
      order.refine((it) => it !== 'y'),
      order.regex(/a/),
      order.regex(/a/i),
      z.preprocess((it) => String(it), order),
      order.catch('x'),
    ].map((field) => digest(z.object({ order: field })));
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('is another under another version of the author', () => {
    expect(digest(BEFORE, { version: '2' })).not.toBe(digest(BEFORE));
  });

  it('is another for another executor', () => {
    const external = { name: 'order', description: 'Orders.', executor: 'external', input: BEFORE };
    const tool = defineTool(external as never) as AnyTool;
    expect(definitionOf(tool).definition).not.toBe(digest(BEFORE));
  });

  it('of an answer depends on its schema alone', () => {
    const digests = [
      z.int(),
      z.string(),
      z.string().min(2),
      z.string().refine((it) => it !== 'x'),
      z.object({ a: z.string() }),
      jsonSchema({ type: 'string', pattern: '^a' }),
    ].map(answerDigest);
    expect(new Set(digests).size).toBe(digests.length);
    expect(answerDigest(z.string())).toBe(answerDigest(z.string()));
    expect(definitionOf(serverTool(new Runs(), BEFORE))).not.toHaveProperty('answerDefinition');
  });

  it('follows a schema that refers to itself to its end', () => {
    interface Tree {
      readonly of: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.object({ of: z.array(z.lazy(() => tree)) });
    const [left, right] = twice(() => z.object({ tree }));
    expect(left).toBe(right);
  });
});

describe('a definition that makes another input of the same arguments each time', () => {
  let clock = 0;
  const ticking = (key: string) =>
    z.object({ order: z.string(), [key]: z.number().default(() => (clock += 1)) });

  it('runs with the recorded input, where it accepts that unchanged', async () => {
    const tool = serverTool(new Runs(), ticking('at').extend({ note: z.string().optional() }));
    const call = { executor: 'server', raw: { order: 'a7' }, definition: 'sha256:before' } as const;
    expect(await judgeInput(tool, { ...call, input: { order: 'a7', at: 1 } })).toEqual({
      runs: true,
    });
    expect(await judgeInput(tool, { ...call, input: { order: 'a7', then: 1 } })).toMatchObject({
      runs: false,
    });
  });

  it('runs after a restart, its digest being the same', async () => {
    const code = new Runs();
    const t = await waiting([
      serverTool(code, BEFORE.extend({ at: z.number().default(() => (clock += 1)) })),
    ]);
    const again = BEFORE.extend({ at: z.number().default(() => (clock += 1)) });
    await t.deploy(agentOf([serverTool(code, again)]));
    await t.approve('order');
    expect(code.inputs).toHaveLength(1);
  });
});

describe('raw arguments', () => {
  it('are kept in the plan only where parsing has changed them', async () => {
    const plain = await waiting([serverTool(new Runs(), BEFORE)]);
    expect(plain.eventsOf('tool_call')[0]?.call).not.toHaveProperty('raw');
    const trimmed = BEFORE.extend({ express: z.boolean().default(false) });
    const parsed = await waiting([serverTool(new Runs(), trimmed)]);
    expect(parsed.eventsOf('tool_call')[0]?.call).toMatchObject({
      input: { order: 'a7', count: 5, express: false },
      raw: { order: 'a7', count: 5 },
    });
  });

  it('of an edit take the place of the model’s', async () => {
    const code = new Runs();
    const upper = z.object({
      order: z.string().transform((it) => it.toUpperCase()),
      count: z.int(),
    });
    const t = await waiting([serverTool(code, upper)]);
    await t.approve('order', { input: { order: 'b8', count: 1 } });
    expect(code.inputs).toEqual([{ order: 'B8', count: 1 }]);
    expect(t.eventsOf('input_edited')[0]?.definition).toBe(digest(upper));
  });
});
