/** The answers of the people, browsers and webhooks in the demo. */
import type { PendingCall, Resolution } from 'colloquy/client';

const ANSWERS: Readonly<Record<string, Resolution>> = {
  'customer.ask': { type: 'answer', value: { answer: 'Size 42, please' } },
  'cart.read': { type: 'result', value: { items: ['red shoes', 'laces'] } },
};

export function answerFor(call: Pick<PendingCall, 'kind' | 'name'>): Resolution {
  if (call.kind === 'approval') return { type: 'approve' };
  return ANSWERS[call.name] ?? { type: 'answer', value: {} };
}
