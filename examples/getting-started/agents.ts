/** An agent with one tool, which needs an approval. */
import { defineAgent, defineTool, openaiModel } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const refund = defineTool({
  name: 'refund',
  description: 'Refund a payment.',
  input: z.object({ paymentId: z.string(), cents: z.int().positive() }),
  effects: 'once',
  approval: { ask: { reason: 'Money leaves the house' } },
  run: ({ paymentId, cents }) => ({ refundId: `re_${paymentId}`, cents }),
});

/** Without a key the model is scripted. */
const model =
  process.env['OPENAI_API_KEY'] === undefined
    ? scriptedBy(({ messages }) =>
        messages.some(({ role }) => role === 'tool')
          ? says('You get 75.00 back.')
          : calls('refund', { paymentId: 'p_1', cents: 7_500 }),
      )
    : openaiModel('gpt-5.1');

export const support = defineAgent({
  name: 'support',
  instructions: 'You help customers with their payments.',
  model,
  tools: [refund],
});
