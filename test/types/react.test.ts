/** The compiler's side of colloquy/react: hooks and parts with the types of an agent. `tsc -p test` checks this file. */
import type {
  AgentHooks,
  ClientToolsOf,
  PromptOf,
  Shown,
  ToolName,
  TypedPending,
} from 'colloquy/react';
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.js';
import { script } from '../../src/model/scripted/scripted.js';
import { type CompiledTest, compileTest } from '../support/compiled-test.js';
import { patient } from '../support/patience.js';

const base = { description: 'Does something.', input: z.object({}) };
const refund = defineTool({
  ...base,
  name: 'payments.refund',
  input: z.object({ cents: z.int() }),
  run: () => null,
});
const ask = defineTool({
  ...base,
  name: 'customer.ask',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string() }),
});
const cart = defineTool({
  ...base,
  name: 'cart.read',
  executor: 'client',
  input: z.object({ currency: z.string() }),
  output: z.object({ items: z.array(z.string()) }),
});
const support = defineAgent({
  name: 'support',
  model: script(),
  instructions: 'Help.',
  tools: [refund, ask, cart],
});
type Support = typeof support;
type Tools = ClientToolsOf<Support>;

/** Takes a value of a type, and does nothing. */
function take<Value>(_value: Value): void {}

let compiled: CompiledTest;

beforeAll(() => {
  compiled = compileTest(import.meta.url);
}, patient(60_000));

/** Compares what the compiler refuses in the running test with the lines marked `@ts-expect-error`. */
function expectMarked(count: number): void {
  const title = expect.getState().currentTestName?.split(' > ').at(-1) ?? '';
  const refused = compiled.refusals(title).map(({ line }) => line);
  expect(refused).toEqual(compiled.marked(title));
  expect(refused).toHaveLength(count);
}

describe('the types of an agent', () => {
  it('name its tools, and the prompts of their calls', () => {
    expect(support.tools.map(({ name }) => name)).toContain(
      'cart.read' satisfies ToolName<Support>,
    );
    expectTypeOf<ToolName<Support>>().toEqualTypeOf<
      'payments.refund' | 'customer.ask' | 'cart.read'
    >();
    expectTypeOf<PromptOf<Support, 'payments.refund'>>().toEqualTypeOf<{
      readonly cents: number;
    }>();
    expectTypeOf<TypedPending<Support, 'customer.ask'>['prompt']>().toEqualTypeOf<{
      readonly question: string;
    }>();
    expectTypeOf<keyof Tools>().toEqualTypeOf<'cart.read'>();
    expectMarked(0);
  });

  it('refuse a function for a tool that the agent does not have, or that no page runs', () => {
    take<Tools>({ 'cart.read': ({ currency }) => ({ items: [currency] }) });
    take<Tools>({ 'cart.read': async () => ({ items: [] }) });
    // @ts-expect-error a wrong name
    take<Tools>({ 'cart.raed': () => ({ items: [] }) });
    // @ts-expect-error a server tool
    take<Tools>({ 'payments.refund': () => null });
    expectMarked(2);
  });

  it('refuse a function of another input, or another result', () => {
    // @ts-expect-error another input
    take<Tools>({ 'cart.read': ({ place }: { place: string }) => ({ items: [place] }) });
    // @ts-expect-error another result
    take<Tools>({ 'cart.read': () => ({ items: [1] }) });
    // @ts-expect-error no result at all
    take<Tools>({ 'cart.read': async () => undefined });
    expectMarked(3);
  });

  it('refuse to show the prompt of another tool, or another field', () => {
    take<Shown<Support>>({ 'payments.refund': ({ cents }) => cents });
    // @ts-expect-error a wrong name
    take<Shown<Support>>({ 'payments.refnd': () => null });
    // @ts-expect-error a wrong field
    take<Shown<Support>>({ 'payments.refund': ({ euros }) => euros as string });
    take<Parameters<AgentHooks<Support>['usePendingOf']>[1]>('customer.ask');
    // @ts-expect-error a wrong name
    take<Parameters<AgentHooks<Support>['usePendingOf']>[1]>('customer.tell');
    expectMarked(3);
  });
});
