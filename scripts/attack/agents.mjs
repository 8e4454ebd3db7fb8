// The agents that Schemathesis meets: one that answers, one whose call needs an approval, two whose calls an external
// worker and a client carry out, and one that asks in the space that a message names.
import { defineAgent, defineTool } from 'colloquy';
import { spacesPlugin } from 'colloquy/spaces';
import { calls, callsAll, says, scriptedBy } from 'colloquy/testing';
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

const confirm = defineTool({
  name: 'confirm',
  description: 'Asks whether to go on.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.boolean(),
  metadata: { visible: true },
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

export const member = defineAgent({
  name: 'member',
  instructions: 'You ask in a space.',
  model: scriptedBy(({ messages }) => {
    const asked = messages.find(({ role }) => role === 'user');
    const spaceId = asked?.parts.find(({ type }) => type === 'text')?.text ?? '';
    return messages.some(({ role }) => role === 'tool')
      ? says('Asked.')
      : callsAll([
          { name: 'enter_space', input: { spaceId } },
          { name: 'confirm', input: { question: 'Go on?' } },
        ]);
  }),
  tools: [confirm],
  plugins: [spacesPlugin()],
  settings: { toolExecution: 'sequential' },
});
