/**
 * The agent of the workflow tests: one tool for each way a call can be answered, and a ledger of the runs that took
 * place.
 */
import { z } from 'zod';
import type { ContextSpec } from '../../../src/define/agent/context.js';
import type { AgentSettingsSpec } from '../../../src/define/agent/settings.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import type { Model } from '../../../src/protocol/model/model.js';
import type { Json } from '../../../src/protocol/values/json.js';

export interface ToolRun {
  readonly name: string;
  readonly input: unknown;
  readonly ctx: ToolContext<Services>;
}

export interface Services {
  /** Called by every server tool; its return value is the result. */
  readonly work: (run: ToolRun) => Json | Promise<Json>;
}

export interface Ledger extends Services {
  readonly runs: readonly ToolRun[];
}

/** Records runs; `answers` gives the result of a tool by its name, else `{ok: true}`. */
export function ledger(
  answers: Readonly<Record<string, (run: ToolRun) => Json | Promise<Json>>> = {},
): Ledger {
  const runs: ToolRun[] = [];
  return {
    runs,
    work: (run) => {
      runs.push(run);
      return answers[run.name]?.(run) ?? { done: run.name };
    },
  };
}

const weather = defineTool<Services, z.ZodObject<{ city: z.ZodDefault<z.ZodString> }>>({
  name: 'weather.lookup',
  description: 'Weather of a city.',
  input: z.object({ city: z.string().default('Oslo') }),
  effects: 'none',
  timeouts: { run: '10s' },
  run: (input, ctx) => ctx.services.work({ name: 'weather.lookup', input, ctx }),
});

const stock = defineTool<Services, z.ZodObject<{ item: z.ZodString }>>({
  name: 'stock',
  description: 'Stock of an item.',
  input: z.object({ item: z.string() }),
  effects: 'none',
  run: (input, ctx) => ctx.services.work({ name: 'stock', input, ctx }),
});

const refund = defineTool<
  Services,
  z.ZodObject<{ paymentId: z.ZodString; cents: z.ZodNumber; note: z.ZodDefault<z.ZodString> }>
>({
  name: 'payments.refund',
  description: 'Refund a payment.',
  input: z.object({
    paymentId: z.string(),
    cents: z.number().int().positive(),
    note: z.string().default('none'),
  }),
  effects: 'once',
  approval: { ask: { reason: 'Money leaves the house' } },
  timeouts: { approval: '2 days', run: '10s' },
  run: (input, ctx) => ctx.services.work({ name: 'payments.refund', input, ctx }),
});

const ask = defineTool<
  Services,
  z.ZodObject<{ question: z.ZodString }>,
  z.ZodType<{ answer: string }>
>({
  name: 'customer.ask',
  description: 'Ask the customer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string().min(1) }),
  timeouts: { answer: '3 days' },
});

/** The answer must pass a check that only a worker can run. */
const code = defineTool<Services, z.ZodObject, z.ZodType<{ code: string }>>({
  name: 'customer.code',
  description: 'Ask the customer for a code.',
  executor: 'human',
  input: z.object({}),
  output: z.object({ code: z.string().regex(/^[A-Z]{3}$/) }),
});

const cart = defineTool<Services, z.ZodObject, z.ZodType<{ items: string[] }>>({
  name: 'cart.read',
  description: 'Read the cart in the browser.',
  executor: 'client',
  input: z.object({}),
  output: z.object({ items: z.array(z.string()) }),
  timeouts: { claim: '30 minutes', answer: '30 minutes' },
});

/** The workflow alone judges the result. */
const count = defineTool<Services, z.ZodObject, z.ZodNumber>({
  name: 'cart.count',
  description: 'Count the items in the cart in the browser.',
  executor: 'client',
  input: z.object({}),
  output: z.number().int(),
});

const clear = defineTool<Services, z.ZodObject<{ reason: z.ZodString }>>({
  name: 'cart.clear',
  description: 'Clear the cart in the browser.',
  executor: 'client',
  input: z.object({ reason: z.string() }),
  approval: 'required',
  timeouts: { approval: '1 day', claim: '30 minutes', answer: '30 minutes' },
});

const Address = z.object({ city: z.string(), zip: z.string().regex(/^\d{4}$/) });

/** Asks in mid-run for a place, and then whether the price is right. */
const order = defineTool<Services, z.ZodObject<{ item: z.ZodString }>>({
  name: 'orders.place',
  description: 'Place an order.',
  input: z.object({ item: z.string() }),
  timeouts: { answer: '5 days' },
  run: async (input, ctx) => {
    const { asks, state } = ctx;
    await ctx.services.work({ name: 'orders.place', input, ctx });
    if (asks === 0) return ctx.ask({ form: Address, reason: 'Where to?', state: { cents: 900 } });
    if (asks === 1) {
      const to = (await ctx.answerTo(Address)) ?? null;
      return ctx.ask({ form: z.boolean(), reason: 'For 900?', state: { to } });
    }
    const agreed = (await ctx.answerTo(z.boolean())) ?? null;
    return { item: input.item, state: state ?? null, agreed };
  },
});

/** Short, so that the tool runs inside the model activity. */
const clock = defineTool<Services, z.ZodObject>({
  name: 'clock.read',
  description: 'Read the clock.',
  input: z.object({}),
  effects: 'none',
  inline: true,
  run: (input, ctx) => ctx.services.work({ name: 'clock.read', input, ctx }),
});

const base = { description: 'Read the clock.', input: z.object({}), effects: 'none' } as const;

/** The same, behind an approval. */
const gatedClock = defineTool<Services, z.ZodObject>({
  ...base,
  name: 'clock.gated',
  inline: true,
  approval: 'required',
  run: (input, ctx) => ctx.services.work({ name: 'clock.gated', input, ctx }),
});

export const TOOLS = [
  ...[weather, stock, refund, ask, code, cart, count, clear],
  ...[order, clock, gatedClock],
];

export function shop(
  model: Model,
  settings: AgentSettingsSpec = {},
  context: ContextSpec = {},
): Agent<Services> {
  return defineAgent<Services>({
    name: 'shop',
    model,
    instructions: 'Help the customer.',
    tools: TOOLS,
    settings,
    context,
  });
}
