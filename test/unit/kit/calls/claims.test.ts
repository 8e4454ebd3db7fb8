/** Claims and leases in `testConversation`: two tabs, a tab that goes away, no client at all. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const cart = defineTool({
  name: 'cart.read',
  description: 'Reads the cart.',
  executor: 'client',
  input: z.object({}),
  output: z.array(z.string()),
  timeouts: { answer: '1h' },
});
const agent = defineAgent({
  name: 'shop',
  model: script(),
  instructions: 'Help.',
  tools: [cart],
});
const ann = { id: 'ann' };

async function offered() {
  const model = script(calls('cart.read', {}), says('done'));
  const t = testConversation(agent, { model });
  await t.send('what is in my cart?');
  return t;
}

function claimIdOf(verdict: { readonly verdict: string; readonly claimId?: string }): string {
  if (verdict.claimId === undefined) throw new Error(`not claimed: ${verdict.verdict}`);
  return verdict.claimId;
}

describe('a test conversation', () => {
  it('ends a client call that no client claims after 15 seconds', promise('S16'), async () => {
    const t = await offered();
    await t.advance('14s');
    expect(t.pending).toHaveLength(1);
    await t.advance('1s');
    expect(t.result('cart.read')).toMatchObject({ ok: false, error: { code: 'unclaimed' } });
    expect(t.text).toBe('done');
  });

  it('lets one tab claim a call, and refuses the claim and the result of the other', async () => {
    const t = await offered();
    const claimId = claimIdOf(t.claim('cart.read', { actor: ann }));
    expect(t.claim('cart.read', { actor: ann })).toMatchObject({ verdict: 'stale', why: 'held' });
    const answer = { type: 'result', value: ['tea'] } as const;
    expect(await t.resolve('cart.read', answer, { actor: ann })).toMatchObject({
      why: 'not_holder',
    });
    expect(await t.resolve('cart.read', answer, { actor: ann, claimId })).toMatchObject({
      verdict: 'accepted',
    });
  });

  it('loses a lease that is not renewed, by the virtual clock', async () => {
    const t = await offered();
    const claimId = claimIdOf(t.claim('cart.read', { actor: ann, lease: '1 minute' }));
    await t.advance('50s');
    const { length } = t.events;
    expect(t.claim('cart.read', { actor: ann, claimId })).toMatchObject({ verdict: 'accepted' });
    expect(t.events).toHaveLength(length);
    await t.advance('50s');
    expect(t.pending[0]?.claim?.claimId).toBe(claimId);
    await t.advance('10s');
    expect(t.eventTypes.at(-1)).toBe('lease_lost');
    expect(t.claim('cart.read', { actor: { id: 'ben' } })).toMatchObject({ verdict: 'accepted' });
    await t.advance('1h');
    expect(t.result('cart.read')).toMatchObject({ ok: false, error: { code: 'expired' } });
  });
});
