/** Use: tools that wait for people. An agent with each kind of waiting call, and a test of its rules. */
import { deepEqual } from 'node:assert/strict';
import { initColloquy, openaiModel } from 'colloquy';
import { callsAll, says, script, testConversation } from 'colloquy/testing';
import { z } from 'zod';

interface Bank {
  balance(account: string): number;
  pay(key: string, cents: number): string;
  wasPaid(key: string): string | undefined;
}

// #region tools
const { defineTool, defineAgent } = initColloquy<{ services: Bank }>();

const transfer = defineTool({
  name: 'transfer',
  description: 'Transfers money.',
  input: z.object({ from: z.string(), cents: z.number().int().positive() }),
  // Decided once for each call and recorded, so a replay does not decide again. Fails closed.
  approval: ({ from, cents }, ctx) => {
    if (cents > ctx.services.balance(from)) return { deny: 'the account does not cover it' };
    if (cents < 1_000) return 'allow';
    return {
      ask: { reason: `${cents} cents`, audience: { roles: ['clerk'], exclude: ['requester'] } },
    };
  },
  // Never repeated on suspicion: the run of a lost worker is looked up by its key.
  effects: 'once',
  run: ({ cents }, ctx) => ctx.services.pay(ctx.idempotencyKey, cents),
  reconcile: (_input, ctx) => {
    const receipt = ctx.services.wasPaid(ctx.idempotencyKey);
    return receipt === undefined ? { happened: false } : { happened: true, result: receipt };
  },
});

const askCustomer = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.strictObject({ answer: z.string().min(1) }),
  timeouts: { answer: '2 days' },
  warnBefore: '2 hours',
  onExpire: { default: { answer: 'no answer' } },
});

const creditReport = defineTool({
  name: 'credit.report',
  description: 'Orders a credit report. It may take days; you are notified when it is ready.',
  executor: 'external',
  mode: 'detach',
  input: z.object({ customer: z.string() }),
  output: z.object({ score: z.number() }),
});

export const teller = defineAgent({
  name: 'teller',
  model: openaiModel('gpt-5-mini'),
  instructions: 'Help the customer.',
  tools: [transfer, askCustomer, creditReport],
  // For all tools, in addition to their own gates; the stricter rule wins.
  toolPolicy: ({ effects }, { requester }) =>
    effects === 'once' && !requester.verified ? { deny: 'sign in first' } : 'allow',
  settings: {
    onBusy: 'steer',
    toolExecution: 'sequential',
    budgets: { tokens: 100_000, time: '1 day', callsOf: { transfer: 3 } },
    repeatLimit: 3,
  },
});
// #endregion tools

export async function aClerkApprovesOnce(): Promise<void> {
  const paid = new Map<string, number>();
  const services: Bank = {
    balance: () => 5_000,
    pay: (key, cents) => {
      paid.set(key, cents);
      return `receipt ${paid.size}`;
    },
    wasPaid: (key) => (paid.has(key) ? 'receipt' : undefined),
  };
  const ask = (cents: number) => ({ name: 'transfer', input: { from: 'a', cents } });
  const t = testConversation(teller, {
    model: script(
      callsAll([ask(500), ask(2_000), ask(9_000)]),
      callsAll([{ name: 'credit.report', input: { customer: 'ann' } }]),
      says('Two transfers are made; the report is ordered.'),
      says('Your score is 700.'),
    ),
    services,
  });
  // #region approve
  await t.send('Transfer 5, 20 and 90; then order my report', { actor: { id: 'ann' } });
  deepEqual(
    t.pending.map(({ name, reason }) => [name, reason]),
    [['transfer', '2000 cents']],
  );
  const [call] = t.pending;
  const id = call?.toolCallId ?? '';
  const clerk = { id: 'cleo', roles: ['clerk'] };
  const verdicts = [
    await t.resolve(id, { type: 'approve' }, { actor: { id: 'ann', roles: ['clerk'] } }),
    await t.resolve(id, { type: 'approve' }, { actor: clerk }),
    await t.resolve(id, { type: 'approve' }, { actor: clerk }),
  ];
  deepEqual(
    verdicts.map(({ verdict }) => verdict),
    ['forbidden', 'accepted', 'stale'],
  );
  deepEqual(t.result('credit.report')?.ok, true);
  deepEqual(t.text, 'Two transfers are made; the report is ordered.');
  await t.resolve('credit.report', { type: 'result', value: { score: 700 } });
  deepEqual(t.text, 'Your score is 700.');
  // #endregion approve
  deepEqual([...paid.values()], [500, 2_000]);
}

const cartOf = defineTool({
  name: 'cart.read',
  description: 'Reads the cart in the browser.',
  executor: 'client',
  input: z.object({}),
  output: z.array(z.string()),
  streaming: true,
});

const shop = defineAgent({
  name: 'shop',
  model: openaiModel('gpt-5-mini'),
  instructions: 'Help the customer.',
  tools: [cartOf],
});

export async function oneTabReadsTheCart(): Promise<void> {
  const model = script(
    callsAll([{ name: 'cart.read', input: {} }]),
    says('There is tea in your cart.'),
  );
  const t = testConversation(shop, { model });
  await t.send('What is in my cart?');
  // #region claim
  const first = t.claim('cart.read', { actor: { id: 'ann' }, lease: '1 minute' });
  const second = t.claim('cart.read', { actor: { id: 'ann' } });
  deepEqual([first.verdict, second.verdict], ['accepted', 'stale']);
  // The first tab is closed: its lease runs out, and the call is offered again.
  await t.advance('1 minute');
  const third = t.claim('cart.read', { actor: { id: 'ann' } });
  const claimId = 'claimId' in third ? third.claimId : '';
  const cart = { type: 'result', value: ['tea'] } as const;
  const verdict = await t.resolve('cart.read', cart, { actor: { id: 'ann' }, claimId });
  deepEqual(verdict.verdict, 'accepted');
  // #endregion claim
  deepEqual(t.text, 'There is tea in your cart.');
}
