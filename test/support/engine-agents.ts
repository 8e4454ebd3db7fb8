/** The agent of the workflow tests: one tool for each way a call can be answered, and a ledger of what really ran. */
import { z } from 'zod';
import { type Agent, type AgentSettingsSpec, defineAgent } from '../../src/define/agent.js';
import type { ToolContext } from '../../src/define/context.js';
import { defineTool } from '../../src/define/tool.js';
import type { Json } from '../../src/protocol/json.js';
import type { Model } from '../../src/protocol/model.js';

export interface ToolRun {
  readonly name: string;
  readonly input: unknown;
  readonly ctx: ToolContext<Services>;
}

export interface Services {
  /** Called by every server tool; what it returns is the result. */
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

/** Its result is judged by the workflow alone. */
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

export const TOOLS = [weather, stock, refund, ask, code, cart, count, clear];

export function shop(model: Model, settings: AgentSettingsSpec = {}): Agent<Services> {
  return defineAgent<Services>({
    name: 'shop',
    model,
    instructions: 'Help the customer.',
    tools: TOOLS,
    settings,
  });
}
