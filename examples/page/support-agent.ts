/** The agent of the page `support-chat.tsx`: a page needs its type only. */
import { defineAgent, defineTool, openaiModel } from 'colloquy';
import { z } from 'zod';

const refund = defineTool({
  name: 'payments.refund',
  description: 'Refunds a payment.',
  input: z.object({ paymentId: z.string(), cents: z.int().positive() }),
  output: z.object({ refundId: z.string() }),
  effects: 'once',
  approval: { ask: { reason: 'Money leaves the house' } },
  run: () => ({ refundId: 're_1' }),
});

const ask = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer a question.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string().min(1) }),
});

const cart = defineTool({
  name: 'cart.read',
  description: "Reads the cart in the customer's browser.",
  executor: 'client',
  input: z.object({ currency: z.string() }),
  output: z.object({ items: z.array(z.string()) }),
});

export const support = defineAgent({
  name: 'support',
  model: openaiModel('gpt-5.1'),
  instructions: 'Help customers.',
  tools: [refund, ask, cart],
});
