/**
 * The demo's agent: four tools, one for each kind of answer to a call. The demo, `npm start` and the end-to-end tests
 * serve it. The model is the server with the OpenAI protocol at OPENAI_BASE_URL.
 */
import { appendFileSync } from 'node:fs';
import { initColloquy, type Model, openaiModel } from 'colloquy';
import { z } from 'zod';
import { TINY_MODEL, tinyModel } from './tiny-model.js';

/** The payment provider of an application. This one writes a line to a file, so that runs can be counted. */
interface Payments {
  refund(paymentId: string, cents: number, idempotencyKey: string): Promise<{ refundId: string }>;
}

interface Types {
  readonly services: { readonly payments: Payments };
}

const { defineTool, defineAgent } = initColloquy<Types>();

const weather = defineTool({
  name: 'weather.lookup',
  description: 'Current weather of a city.',
  input: z.object({ city: z.string().describe('Name of the city') }),
  output: z.object({ city: z.string(), celsius: z.number() }),
  effects: 'none',
  run: ({ city }) => ({ city, celsius: 18 }),
});

const refund = defineTool({
  name: 'payments.refund',
  description: 'Refund a payment.',
  input: z.object({ paymentId: z.string(), cents: z.number().int().positive() }),
  output: z.object({ refundId: z.string() }),
  effects: 'once',
  approval: { ask: { reason: 'Money leaves the house' } },
  timeouts: { approval: '2 days', run: '30s' },
  run: ({ paymentId, cents }, ctx) =>
    ctx.services.payments.refund(paymentId, cents, ctx.idempotencyKey),
});

const ask = defineTool({
  name: 'customer.ask',
  description: 'Ask the customer a question and wait for the answer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string().min(1) }),
});

const cart = defineTool({
  name: 'cart.read',
  description: "Read the shopping cart in the customer's browser.",
  executor: 'client',
  input: z.object({}),
  output: z.object({ items: z.array(z.string()) }),
  // A front end would claim the call at once. Here a person with curl takes its place, who needs more time.
  timeouts: { claim: '30 minutes', answer: '30 minutes' },
});

export const support = defineAgent({
  name: 'support',
  description: 'Customer support of a shop',
  model: chosenModel(),
  instructions:
    'You are the support agent of a shop. Use the tools to find out what you need, several at once where you can. Be brief.',
  tools: [weather, refund, ask, cart],
});

export function services(): Types['services'] {
  const ledger = process.env['DEMO_LEDGER'];
  return {
    payments: {
      refund: (paymentId, cents, idempotencyKey) => {
        if (ledger !== undefined)
          appendFileSync(ledger, `${JSON.stringify({ paymentId, cents, idempotencyKey })}\n`);
        return Promise.resolve({ refundId: `re_${paymentId}` });
      },
    },
  };
}

function chosenModel(): Model {
  const name = process.env['OPENAI_MODEL'] ?? 'gpt-5.1';
  if (process.env[TINY_MODEL] === undefined) return openaiModel(name);
  // A tiny model chooses at random: without this list it might only look up the weather, and no call would wait.
  return tinyModel(name, { offered: [refund.name, ask.name, cart.name] });
}
