/**
 * The compiler's side of definitions: inferred types, and definitions that do not compile. `tsc -p test` checks this
 * file in the editor and before a commit; here each test compiles its own code, so that it fails by itself when a type
 * is wrong.
 */
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentSettingsSpec,
  defineTool as defineFreeTool,
  initColloquy,
  jsonSchema,
} from '../../src/index.js';
import { type CompiledTest, compileTest } from '../support/compiled-test.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

interface Payments {
  refund(paymentId: string, cents: number, key: string): Promise<{ refundId: string }>;
}

const { defineTool, defineAgent } = initColloquy<{ services: { payments: Payments } }>();
const base = { name: 'a.tool', description: 'Does something.', input: z.object({}) };

/** Definitions that must not compile; most are refused at run time, too, and that is not the point here. */
function attempt(define: () => unknown): void {
  try {
    define();
  } catch {
    // Judged by the tests of the legal matrix.
  }
}

let compiled: CompiledTest;

beforeAll(() => {
  compiled = compileTest(import.meta.url);
}, patient(60_000));

/**
 * Compares what the compiler refuses in the running test with the lines marked `@ts-expect-error`, and each message with
 * its pattern.
 */
function expectRefused(...messages: readonly RegExp[]): void {
  const title = expect.getState().currentTestName?.split(' > ').at(-1) ?? '';
  const refusals = compiled.refusals(title);
  expect(refusals.map(({ line }) => line)).toEqual(compiled.marked(title));
  expect(refusals.map(({ message }) => message)).toEqual(
    messages.map((message) => expect.stringMatching(message) as string),
  );
}

/** Expects that the whole test compiles. */
function expectCompiles(): void {
  expectRefused();
}

describe('types of tools', () => {
  it('run gets the parsed input and the typed services', promise('A20', 'C1', 'C2', 'C11'), () => {
    const tool = defineTool({
      name: 'payments.refund',
      description: 'Refunds a payment.',
      input: z.object({
        paymentId: z.string(),
        cents: z.int(),
        reason: z.string().default('none'),
        count: z.string().transform((text) => text.length),
      }),
      output: z.object({ refundId: z.string() }),
      effects: 'once',
      run: ({ paymentId, cents, reason, count }, ctx) => {
        expectTypeOf(reason).toEqualTypeOf<string>();
        expectTypeOf(count).toEqualTypeOf<number>();
        expectTypeOf(ctx.services.payments).toEqualTypeOf<Payments>();
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
        return ctx.services.payments.refund(paymentId, cents, ctx.idempotencyKey);
      },
    });
    type Types = NonNullable<(typeof tool)['~types']>;
    expectTypeOf<Types['output']>().toEqualTypeOf<{ refundId: string }>();
    expectTypeOf<Types['input']['count']>().toEqualTypeOf<number>();
    expect(tool.executor).toBe('server');
    expectCompiles();
  });

  it('run returns the input of the output schema, before its defaults and transforms', {
    ...promise('C1', 'C2', 'C6'),
  }, () => {
    const output = z.object({ at: z.string().default('now'), n: z.string().transform(Number) });
    defineTool({ ...base, output, run: () => ({ n: '1' }) });
    attempt(() =>
      // @ts-expect-error n has to be given as text
      defineTool({ ...base, output, run: () => ({ n: 1 }) }),
    );
    expectRefused(/'number' is not assignable to type 'string'/);
  });

  it('run may return any value when the tool declares no output', () => {
    defineTool({ ...base, run: () => undefined });
    defineTool({ ...base, run: async () => Promise.resolve([1n, new Date()]) });
    expectCompiles();
  });

  it('JSON Schema takes its type from the author', () => {
    defineTool({
      ...base,
      input: jsonSchema<{ city: string }>({ type: 'object' }),
      run: ({ city }) => city.toUpperCase(),
    });
    defineTool({
      ...base,
      input: { jsonSchema: { type: 'object' } },
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<unknown>();
      },
    });
    expectCompiles();
  });

  it('a server tool without run does not compile', promise('A18'), () => {
    attempt(() =>
      // @ts-expect-error run is missing
      defineTool({ ...base }),
    );
    // Every other executor has no `run`, so the compiler proposes one of them.
    expectRefused(/'executor' is missing/);
  });

  it('a human tool with a gate, code or clocks of others does not compile', () => {
    defineTool({
      ...base,
      executor: 'human',
      output: z.object({ ok: z.boolean() }),
      timeouts: { answer: '1h' },
    });
    attempt(() =>
      // @ts-expect-error the answer already is the decision
      defineTool({ ...base, executor: 'human', approval: 'required' }),
    );
    attempt(() =>
      // @ts-expect-error there is nothing to run
      defineTool({ ...base, executor: 'human', run: () => 1 }),
    );
    attempt(() =>
      // @ts-expect-error nothing runs, so nothing has a run time
      defineTool({ ...base, executor: 'human', timeouts: { run: 1_000 } }),
    );
    expectRefused(/'approval' does not exist/, /'run' does not exist/, /'run' does not exist/);
  });

  it('a client tool may be gated and shaped on the server, but has no code there', {
    ...promise('A7', 'X22'),
  }, () => {
    attempt(() =>
      defineTool({
        ...base,
        executor: 'client',
        approval: 'required',
        preflight: () => ({ ready: true }),
      }),
    );
    attempt(() =>
      // @ts-expect-error its code runs in the browser
      defineTool({ ...base, executor: 'client', run: () => 1 }),
    );
    expectRefused(/'run' does not exist in type 'ClientToolSpec/);
  });

  it('internal and provider tools have no code, and provider tools no gate', () => {
    defineTool({ ...base, executor: 'internal', approval: 'required' });
    attempt(() =>
      // @ts-expect-error the arguments are the result
      defineTool({ ...base, executor: 'internal', run: () => 1 }),
    );
    attempt(() =>
      // @ts-expect-error nothing can be held inside the model call
      defineTool({ ...base, executor: 'provider', approval: 'required' }),
    );
    expectRefused(
      /'run' does not exist in type 'Internal/,
      /'approval' does not exist in type 'Provider/,
    );
  });

  it('an approval never has a default', () => {
    defineTool({ ...base, approval: 'required', onExpire: 'error', run: () => 1 });
    attempt(() =>
      // @ts-expect-error silence is not consent
      defineTool({ ...base, approval: 'required', onExpire: { default: 1 }, run: () => 1 }),
    );
    // A default excludes every spec with `run`, which is then the field that the compiler names.
    expectRefused(/'run' does not exist/);
  });

  it('an approval function reads the parsed input and may not act', () => {
    attempt(() =>
      defineTool({
        ...base,
        input: z.object({ cents: z.int() }),
        approval: ({ cents }, ctx) => {
          expectTypeOf(cents).toEqualTypeOf<number>();
          expectTypeOf(ctx.services.payments).toEqualTypeOf<Payments>();
          expectTypeOf(ctx).not.toHaveProperty('progress');
          return cents > 100 ? { ask: { reason: 'much' } } : 'allow';
        },
        run: () => 1,
      }),
    );
    expectCompiles();
  });

  it('unknown fields do not compile', () => {
    attempt(() =>
      // @ts-expect-error a typing mistake
      defineTool({ ...base, timeout: '1s', run: () => 1 }),
    );
    expectRefused(/'timeout' does not exist/);
  });

  it('a tool that needs services is refused by an agent that has others; one that needs none is accepted', () => {
    const { defineAgent: other } = initColloquy<{ services: { mail: string } }>();
    const tool = defineTool({ ...base, run: (_input, ctx) => ctx.services.payments });
    const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };
    defineAgent({ name: 'a', model, instructions: 'Help.', tools: [tool] });
    const free = defineFreeTool({
      ...base,
      name: 'free',
      run: (_input, ctx) => {
        expectTypeOf(ctx.services).toEqualTypeOf<unknown>();
      },
    });
    defineAgent({ name: 'a', model, instructions: 'Help.', tools: [tool, free] });
    // @ts-expect-error payments are missing
    other({ name: 'a', model, instructions: 'Help.', tools: [tool] });
    // @ts-expect-error an unknown setting
    const settings: AgentSettingsSpec = { maxStep: 1 };
    expect(settings).toBeDefined();
    expectRefused(/'payments' is missing/, /'maxStep' does not exist.*'maxSteps'/);
  });
});
