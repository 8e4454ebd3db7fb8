import { initColloquy } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

/** Refunds that were made, by idempotency key. */
export type Ledger = Map<string, { readonly paymentId: string; readonly cents: number }>;

const { defineTool, defineAgent } = initColloquy<{ services: { readonly ledger: Ledger } }>();

const refund = defineTool({
  name: 'refund',
  description: 'Refunds a payment.',
  input: z.object({ paymentId: z.string(), cents: z.int().positive() }),
  effects: 'once',
  approval: ({ cents }) => (cents <= 1_000 ? 'allow' : { ask: { reason: `${cents} cents` } }),
  timeouts: { approval: '2 days' },
  run: ({ paymentId, cents }, { services, idempotencyKey }) => {
    services.ledger.set(idempotencyKey, { paymentId, cents });
    return { refundId: `re_${paymentId}` };
  },
});

export const support = defineAgent({
  name: 'support',
  instructions: 'You help customers with their payments.',
  model: scriptedBy(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? says('You get 75.00 back.')
      : calls('refund', { paymentId: 'p_1', cents: 7_500 }),
  ),
  tools: [refund],
});
