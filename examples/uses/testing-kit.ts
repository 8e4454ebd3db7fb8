/** Use: the test kit. docs/testing.md shows this code; the unit tests run it. */
import { deepEqual, rejects } from 'node:assert/strict';
import { initColloquy, openaiModel } from 'colloquy';
import { calls, callsAll, says, script, testConversation } from 'colloquy/testing';
import { z } from 'zod';

interface Shop {
  refund(paymentId: string, cents: number, key: string): Promise<string>;
}

const { defineTool, defineAgent } = initColloquy<{ services: Shop }>();

const refund = defineTool({
  name: 'refund',
  description: 'Refunds a payment.',
  input: z.object({ paymentId: z.string(), cents: z.int().positive() }),
  approval: { ask: { audience: { roles: ['lead'], exclude: ['requester'] } } },
  effects: 'once',
  timeouts: { approval: '2 days' },
  run: ({ paymentId, cents }, ctx) => ctx.services.refund(paymentId, cents, ctx.idempotencyKey),
});
const ask = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
});
const cart = defineTool({
  name: 'cart.read',
  description: 'Reads the cart in the browser.',
  executor: 'client',
  input: z.object({}),
});

const support = defineAgent({
  name: 'support',
  model: openaiModel('gpt-5-mini'),
  instructions: 'Help the customer.',
  tools: [refund, ask, cart],
});

const services: Shop = { refund: (paymentId, cents) => Promise.resolve(`${paymentId}:${cents}`) };

export async function anApprovedRefund(): Promise<void> {
  // #region approve
  const t = testConversation(support, {
    model: script(calls('refund', { paymentId: 'p_1', cents: 7_500 }), says('Refunded.')),
    services,
  });
  await t.send('Refund p_1', { actor: { id: 'ann' } });

  // Typed by the tool: the prompt of an approval is the tool's input.
  const [waiting] = t.pending;
  if (waiting?.name === 'refund' && waiting.kind === 'approval')
    deepEqual(waiting.prompt.cents, 7_500);

  // Shorthands throw unless they are accepted; `resolve` returns the verdict instead.
  await rejects(t.approve('refund', { actor: { id: 'ann', roles: ['lead'] } }), /forbidden/);
  await t.approve('refund', {
    input: { paymentId: 'p_1', cents: 5_000 },
    actor: { id: 'lena', roles: ['lead'] },
  });

  deepEqual(t.result('refund'), { ok: true, result: 'p_1:5000' });
  deepEqual(t.text, 'Refunded.');
  t.expectNothingOpen();
  // #endregion approve
}

export async function peopleAndClients(): Promise<void> {
  // #region answers
  const t = testConversation(support, {
    model: script(
      callsAll([
        { name: 'customer.ask', input: { question: 'Which?' } },
        { name: 'cart.read', input: {} },
        { name: 'refund', input: { paymentId: 'p_1', cents: 100 } },
      ]),
      says('Done.'),
    ),
    services,
  });
  await t.send('Help');
  await t.answer('customer.ask', 'the first');
  await t.answer('cart.read', ['hat']);
  // Neither a deploy, a roll-over nor two days lose anything, and the clock is virtual.
  t.rollOver();
  await t.advance('2 days');

  deepEqual(
    t.calls().map(({ name, status }) => [name, status]),
    [
      ['customer.ask', 'resolved'],
      ['cart.read', 'resolved'],
      ['refund', 'expired'],
    ],
  );
  deepEqual(t.eventsOf('resolution').length, 2);
  deepEqual(t.eventsOf('turn_ended')[0]?.status, 'completed');
  // #endregion answers
}

export async function aWorkerIsLost(): Promise<void> {
  // #region lost
  const t = testConversation(support, {
    model: script(calls('refund', { paymentId: 'p_1', cents: 100 }), says('I am not sure.')),
    services,
  });
  await t.send('Refund p_1');
  t.loseRuns('refund');
  await t.approve('refund', { actor: { id: 'lena', roles: ['lead'] } });
  // `effects: 'once'`: the call may have run, so it does not run again.
  const result = t.result('refund');
  deepEqual(result?.ok === false && result.error.code, 'outcome_unknown');
  // #endregion lost
}
