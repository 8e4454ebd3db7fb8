/**
 * `Pending<typeof agent>`: pending calls, typed by the tools of the agent. Checked by `tsc -p test`, and at run time.
 */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { PendingCall } from '../../../../src/client/index.js';
import {
  defineAgent as defineFreeAgent,
  defineTool as defineFreeTool,
  initColloquy,
  isPendingOf,
  type Json,
  type JsonOf,
  jsonSchema,
  type Pending,
} from '../../../../src/index.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';

const tool0 = { description: 'd', input: z.object({}) };
const { defineTool, defineAgent } = initColloquy<{ services: { rate: number } }>();

const refund = defineTool({
  name: 'payments.refund',
  description: 'd',
  input: z.object({
    cents: z.int(),
    at: z.string().transform((text) => new Date(text)),
    note: z.string().optional(),
  }),
  approval: 'required',
  run: ({ cents, at }, ctx) => cents * ctx.services.rate + at.getTime(),
});
const ask = defineTool({
  name: 'customer.ask',
  description: 'd',
  executor: 'human',
  input: z.object({ question: z.string() }),
});
const cart = defineTool({
  name: 'cart.read',
  description: 'd',
  executor: 'client',
  input: z.object({ page: z.int() }),
});
const open = defineTool({
  name: 'file.open',
  description: 'd',
  executor: 'client',
  input: z.object({ path: z.string() }),
  preflight: async ({ path }) => Promise.resolve({ uri: path, size: 1n }),
});
const report = defineTool({
  name: 'report',
  description: 'd',
  executor: 'external',
  input: jsonSchema<{ of: string }>({ type: 'object' }),
});
const agent = defineAgent({
  name: 'a',
  instructions: 'i',
  model: script(calls('payments.refund', { cents: 1 }), says('done')),
  tools: [refund, ask, cart, open, report],
});
type Waiting = Pending<typeof agent>;
type Refund = Extract<Waiting, { readonly name: 'payments.refund'; readonly kind: 'approval' }>;
type Of<Name extends Waiting['name']> = Extract<Waiting, { readonly name: Name }>;

describe('a pending call', () => {
  it('has a name among the tools of the agent, to the letter', () => {
    expectTypeOf<Waiting['name']>().toEqualTypeOf<
      'payments.refund' | 'customer.ask' | 'cart.read' | 'file.open' | 'report'
    >();
    // @ts-expect-error no tool of this agent is called so
    expectTypeOf<Of<'nobody'>>().toBeNever();
  });

  it('has a kind that calls of its executor can have', () => {
    expectTypeOf<Of<'payments.refund'>['kind']>().toEqualTypeOf<
      'approval' | 'outcome' | 'elicitation'
    >();
    expectTypeOf<Of<'customer.ask'>['kind']>().toEqualTypeOf<'elicitation'>();
    expectTypeOf<Of<'cart.read'>['kind']>().toEqualTypeOf<'approval' | 'client_execution'>();
    expectTypeOf<Of<'report'>['kind']>().toEqualTypeOf<'approval' | 'external_execution'>();
  });

  it('has the tool’s parsed input as its prompt, as JSON has it', () => {
    expectTypeOf<Of<'customer.ask'>['prompt']>().toEqualTypeOf<{ readonly question: string }>();
    expectTypeOf<Refund['prompt']['cents']>().toEqualTypeOf<number>();
    expectTypeOf<Refund['prompt']['at']>().toEqualTypeOf<string>();
    expectTypeOf<Of<'report'>['prompt']>().toEqualTypeOf<{ readonly of: string }>();
  });

  it('has the output of the preflight in its place, where there is one', () => {
    expectTypeOf<Of<'cart.read'>['prompt']>().toEqualTypeOf<{ readonly page: number }>();
    expectTypeOf<Of<'file.open'>['prompt']>().toEqualTypeOf<{
      readonly uri: string;
      readonly size: string;
    }>();
  });

  it('is a pending call like any other', () => {
    expectTypeOf<Waiting>().toExtend<PendingCall>();
    expectTypeOf<JsonOf<unknown>>().toEqualTypeOf<Json>();
    expectTypeOf<JsonOf<[1, Map<string, string>]>[0]>().not.toBeNever();
  });
});

describe('a list of pending calls', () => {
  it('is narrowed by the agent, without a cast', () => {
    const call = { name: 'customer.ask', kind: 'elicitation', prompt: { question: 'Why?' } };
    const snapshot = { pending: [call] as unknown as readonly PendingCall[] };
    const questions = snapshot.pending
      .filter((entry) => isPendingOf(agent, entry))
      .map((entry) => (entry.name === 'customer.ask' ? entry.prompt.question : entry.kind));
    expectTypeOf(questions).toEqualTypeOf<string[]>();
    expect(questions).toEqual(['Why?']);
    expect([null, 7, {}, { name: 'x' }].filter((entry) => isPendingOf(agent, entry))).toEqual([]);
  });

  it('of a test conversation is typed as it is', async () => {
    const model = script(calls('customer.ask', { question: 'Why?' }), says('done'));
    const t = testConversation(agent, { model, services: { rate: 2 } });
    await t.send('go');
    const [first] = t.pending;
    expectTypeOf(first).toEqualTypeOf<Waiting | undefined>();
    expect(first?.name === 'customer.ask' ? first.prompt.question : '').toBe('Why?');
  });

  it('has names of its own without bound services, too; and any name where none is known', () => {
    const tool = defineFreeTool({ name: 't', description: 'd', input: z.object({}), run: () => 1 });
    const model = script(says('x'));
    const free = defineFreeAgent({ name: 'f', instructions: 'i', model, tools: [tool] });
    expectTypeOf<Pending<typeof free>['name']>().toEqualTypeOf<'t'>();
    expect(free.tools[0].name).toBe('t');
    const dynamic: string = 'd';
    const named = defineFreeTool({ ...tool0, name: dynamic, run: () => 1 });
    const any = defineFreeAgent({ name: 'f', instructions: 'i', model, tools: [named] });
    expectTypeOf<Pending<typeof any>['name']>().toEqualTypeOf<string>();
    expect(any.tools[0].name).toBe('d');
    const none = defineFreeAgent({ name: 'f', instructions: 'i', model });
    expect(none.tools).toEqual([]);
  });
});
