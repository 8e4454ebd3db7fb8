/** Two agents that work in one space: one makes refunds and reads carts, the other draws charts. */
import { appendFileSync } from 'node:fs';
import { initColloquy } from 'colloquy';
import { spacesPlugin } from 'colloquy/spaces';
import { z } from 'zod';
import { scriptedAgent } from './script.js';

export interface Refund {
  readonly order: string;
  readonly cents: number;
  /** The same for each run of one call. */
  readonly key: string;
}

/** Refunds that were made. */
interface Ledger {
  add(refund: Refund): void;
}

const { defineTool, defineAgent } = initColloquy<{ services: { readonly ledger: Ledger } }>();

/** Calls of these tools are messages of the space: the page shows them by the renderer for their name. */
const VISIBLE = { visible: true } as const;

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order, once a person has approved it.',
  input: z.object({ order: z.string(), cents: z.int().positive() }),
  effects: 'once',
  approval: 'required',
  metadata: VISIBLE,
  run: ({ order, cents }, { services, idempotencyKey: key }) => {
    services.ledger.add({ order, cents, key });
    return { refundId: `re_${order}` };
  },
});

const readCart = defineTool({
  name: 'cart.read',
  description: "Reads the shopping cart in the person's browser.",
  executor: 'client',
  input: z.object({ currency: z.string() }),
  output: z.object({ items: z.array(z.string()), total: z.string() }),
  // The page answers without a claim, so only the time for the answer counts.
  timeouts: { claim: '2 minutes', answer: '2 minutes' },
  metadata: VISIBLE,
});

const chart = defineTool({
  name: 'chart.show',
  description: 'Shows a bar chart to everyone in the space.',
  // Nothing runs: the page draws the arguments.
  executor: 'internal',
  input: z.object({
    title: z.string(),
    bars: z.array(z.object({ label: z.string(), value: z.number() })),
  }),
  metadata: VISIBLE,
});

const shared = {
  instructions: 'Answer the people of the space, in the space.',
  plugins: [spacesPlugin()],
  settings: {
    toolExecution: 'sequential',
    // A turn answers the texts that it began with; those that come meanwhile are the input of the next one.
    inbox: { whileBusy: 'next_turn' },
  },
} as const;

const Cart = z.object({ items: z.array(z.string()), total: z.string() });
const SALES = [
  { label: 'Mon', value: 12 },
  { label: 'Tue', value: 19 },
  { label: 'Wed', value: 7 },
];

export const support = defineAgent({
  ...shared,
  name: 'support',
  tools: [refund, readCart],
  model: scriptedAgent({
    callFor: (text) => {
      if (/refund/i.test(text)) return { name: refund.name, input: { order: '42', cents: 7_500 } };
      if (/cart/i.test(text)) return { name: readCart.name, input: { currency: 'EUR' } };
      return undefined;
    },
    answerTo: (text, result) => {
      if (result === undefined) return 'Hello! I make refunds, and I can look into your cart.';
      if ('error' in result) return `That did not work: ${result.error}`;
      if (/refund/i.test(text)) return 'Order 42 is refunded: 75.00 EUR.';
      const { items, total } = Cart.parse(result.value);
      return `You have ${items.join(', ')} in your cart, for ${total}.`;
    },
  }),
});

export const analyst = defineAgent({
  ...shared,
  name: 'analyst',
  tools: [chart],
  model: scriptedAgent({
    callFor: (text) =>
      /sales/i.test(text)
        ? { name: chart.name, input: { title: 'Sales of this week', bars: SALES } }
        : undefined,
    answerTo: (_text, result) =>
      result === undefined ? 'I draw charts: ask me for the sales.' : 'Tuesday was the best day.',
  }),
});

/** `SPACE_PAGE_LEDGER` names a file that gets a line for each refund. */
export function services(): { readonly ledger: Ledger } {
  const file = process.env['SPACE_PAGE_LEDGER'];
  return {
    ledger: {
      add: (made) => {
        if (file !== undefined) appendFileSync(file, `${JSON.stringify(made)}\n`);
      },
    },
  };
}
