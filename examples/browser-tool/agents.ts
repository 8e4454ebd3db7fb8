import { initColloquy } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const readCart = defineTool({
  name: 'cart.read',
  description: "Reads the shopping cart in the user's browser.",
  executor: 'client',
  input: z.object({ currency: z.string() }),
  output: z.object({ items: z.array(z.string()), total: z.string() }),
  // A page claims the call as soon as it sees it. Where none is open, the model reads so after 15 seconds.
  timeouts: { claim: '15 seconds', answer: '2 minutes' },
});

export const shopper = defineAgent({
  name: 'shopper',
  instructions: 'You help the user to shop.',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? says('You have tea in your cart, for 4.20 EUR.')
      : calls('cart.read', { currency: 'EUR' }),
  ),
  tools: [readCart],
});
