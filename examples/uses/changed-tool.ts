/** Use: a tool whose input is renamed while one of its calls waits for approval. */
import { deepEqual } from 'node:assert/strict';
import { initColloquy, openaiModel } from 'colloquy';
import { calls, says, script, testConversation } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const ship = defineTool({
  name: 'orders.ship',
  description: 'Ships an order.',
  approval: 'required',
  input: z.object({ order: z.string() }),
  run: ({ order }) => `shipped ${order}`,
});

// #region tool
const Before = z.object({ order: z.string() });

const renamed = defineTool({
  name: 'orders.ship',
  description: 'Ships an order.',
  approval: 'required',
  input: z.object({ orderId: z.string(), express: z.boolean().default(false) }),
  // The arguments in the form of the old definition. Without `migrate`, such a call ends with `definition_changed`.
  migrate: (raw) => ({ orderId: Before.parse(raw).order }),
  run: ({ orderId }) => `shipped ${orderId}`,
});
// #endregion tool

function agentWith(tool: typeof ship | typeof renamed) {
  const model = openaiModel('gpt-5-mini');
  return defineAgent({ name: 'shop', model, instructions: 'Help the customer.', tools: [tool] });
}

export async function anApprovedCallIsCarriedOver(): Promise<void> {
  const model = script(calls('orders.ship', { order: 'a7' }), says('It is on its way.'));
  const t = testConversation(agentWith(ship), { model });
  // #region deploy
  await t.send('Ship order a7');
  await t.deploy(agentWith(renamed));
  await t.approve('orders.ship');
  // The approved arguments are not the ones that would run, so the call is shown with the new ones and approved again.
  const [call] = t.snapshot.pending;
  deepEqual(call?.prompt, { orderId: 'a7', express: false });
  await t.approve('orders.ship', { argsDigest: call.argsDigest ?? '' });
  deepEqual(t.result('orders.ship'), { ok: true, result: 'shipped a7' });
  // #endregion deploy
}
