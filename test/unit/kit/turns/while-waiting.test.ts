/** The effect of a message while a question is open, by the settings of agent and message. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentSettingsSpec, defineAgent, defineTool } from '../../../../src/index.js';
import { callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const ask = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer.',
  executor: 'human',
  input: z.object({}),
});
const pay = defineTool({
  name: 'payments.pay',
  description: 'Pays something.',
  input: z.object({}),
  approval: 'required',
  run: () => 'paid',
});
const cart = defineTool({
  name: 'cart.read',
  description: 'Reads the cart in the browser.',
  executor: 'client',
  input: z.object({}),
});
const CALL = { ask: 'customer.ask', pay: 'payments.pay', cart: 'cart.read' } as const;

async function waiting(settings: AgentSettingsSpec | undefined, ...names: (keyof typeof CALL)[]) {
  const asked = callsAll(names.map((name) => ({ name: CALL[name], input: {} })));
  const model = script(asked, says('Meanwhile.'), says('Then.'), says('And on.'));
  const spec = { name: 'shop', instructions: 'Help.', model, tools: [ask, pay, cart] };
  const t = testConversation(
    defineAgent({ ...spec, ...(settings === undefined ? {} : { settings }) }),
  );
  await t.send('Buy it');
  return t;
}

describe('a message while calls wait for a person', () => {
  const agents: readonly [string, AgentSettingsSpec | undefined][] = [
    ['of an agent that says nothing of it', undefined],
    ['of an agent that rejects messages while it works', { onBusy: 'reject' }],
    ['of an agent that queues messages while it works', { onBusy: 'queue' }],
    ['of an agent that a message interrupts while it works', { onBusy: 'interrupt' }],
    ['of an agent that a message steers while it works', { onBusy: 'steer' }],
    ['of an agent that says so', { whileWaiting: 'detach' }],
  ];
  it.each(agents)(
    '%s is answered at once; they stay open, and are answered later',
    promise('G113'),
    async (_title, settings) => {
      const t = await waiting(settings, 'ask', 'pay');
      const sent = await t.send('By the way?');
      expect(sent).toMatchObject({ ahead: 0, steers: true });
      expect(t.text).toBe('Meanwhile.');
      expect(t.pending.map(({ name, detached }) => [name, detached])).toEqual([
        ['customer.ask', true],
        ['payments.pay', true],
      ]);
      await t.resolve('payments.pay', { type: 'approve' });
      expect(t.text).toBe('Then.');
      await t.resolve('customer.ask', { type: 'answer', value: 'red' });
      expect([t.text, t.pending]).toEqual(['And on.', []]);
    },
  );

  it('follows onBusy where the agent blocks', async () => {
    const refused = await waiting({ whileWaiting: 'block' }, 'ask');
    await expect(refused.send('By the way?')).rejects.toMatchObject({ code: 'busy' });
    const queued = await waiting({ whileWaiting: 'block', onBusy: 'queue' }, 'ask');
    expect(await queued.send('By the way?')).toMatchObject({ ahead: 1 });
    expect(queued.pending).toMatchObject([{ name: 'customer.ask' }]);
    expect(queued.pending[0]).not.toHaveProperty('detached');
  });

  it('follows its own onBusy', promise('G113'), async () => {
    const refused = await waiting(undefined, 'ask');
    await expect(refused.send('Hm', { onBusy: 'reject' })).rejects.toMatchObject({ code: 'busy' });
    expect(await refused.send('Hm', { onBusy: 'queue' })).toMatchObject({ ahead: 1 });
    expect(refused.pending[0]).not.toHaveProperty('detached');
    await refused.send('Stop', { onBusy: 'interrupt' });
    expect(refused.pending).toEqual([]);
  });

  it('is refused while only a browser call is pending: its answer comes soon, or not at all', async () => {
    const t = await waiting(undefined, 'cart');
    await expect(t.send('By the way?')).rejects.toMatchObject({ code: 'busy' });
  });
});
