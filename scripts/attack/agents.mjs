// The agents that Schemathesis meets: one that answers, one whose call needs an approval, and two whose calls an external
// worker and a client carry out.
import { defineAgent, defineTool } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds a payment.',
  input: z.object({ paymentId: z.string(), cents: z.int().positive() }),
  approval: 'required',
  run: ({ paymentId, cents }) => ({ refundId: `re_${paymentId}`, cents }),
});

const render = defineTool({
  name: 'video.render',
  description: 'Renders a video.',
  executor: 'external',
  input: z.object({ scene: z.string() }),
  streaming: true,
  timeouts: { claim: '1 hour', answer: '1 hour' },
});

const readCart = defineTool({
  name: 'cart.read',
  description: 'Reads the cart of the page.',
  executor: 'client',
  input: z.object({ currency: z.string() }),
  timeouts: { claim: '1 hour', answer: '1 hour' },
});

/** One call in each turn, then a text. */
function once(name, input) {
  return scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('Done.') : calls(name, input),
  );
}

export const support = defineAgent({
  name: 'support',
  instructions: 'You help customers with their payments.',
  model: once('refund', { paymentId: 'p_1', cents: 7_500 }),
  tools: [refund],
});

export const director = defineAgent({
  name: 'director',
  instructions: 'You make videos.',
  model: once('video.render', { scene: 'sea' }),
  tools: [render],
});

export const shopper = defineAgent({
  name: 'shopper',
  instructions: 'You help to shop.',
  model: once('cart.read', { currency: 'EUR' }),
  tools: [readCart],
});

export const greeter = defineAgent({
  name: 'greeter',
  instructions: 'You greet.',
  model: scriptedBy(() => says('Hello.')),
});
