/** Two tabs of one user show a conversation; the agent calls a tool that runs in one of them. */
import { deepEqual, equal } from 'node:assert/strict';
import type { BrowserConversation } from 'colloquy/browser';
import { runExample } from '../support/run-example.js';
import { shopper } from './agents.js';
import { linesOf, openPage } from './page.js';

/** Resolves when the page shows the end of a turn. */
async function answered(page: BrowserConversation): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (page.getSnapshot().lastTurn !== undefined) resolve();
    };
    page.subscribe(look);
    look();
  });
}

await runExample({ agents: [shopper], services: {} }, async ({ api, headers, idOf, note }) => {
  const conversationId = idOf('ann');
  const ran: string[] = [];
  const tab = (name: string): Promise<BrowserConversation> => {
    const readCart = ({ currency }: { readonly currency: string }) => {
      note(`${name} reads the cart`);
      ran.push(name);
      return { items: ['tea'], total: `4.20 ${currency}` };
    };
    return openPage({ api, headers, conversationId, tools: { 'cart.read': readCart } });
  };

  const [first, second] = await Promise.all([tab('tab 1'), tab('tab 2')]);
  // The conversation begins with this message.
  await first.send('What is in my cart?');
  for (const page of [first, second]) {
    await answered(page);
    const lines = linesOf(page.getSnapshot());
    for (const line of lines) note(`  ${line}`);
    deepEqual(lines, [
      'user: What is in my cart?',
      'cart.read: done',
      'assistant: You have tea in your cart, for 4.20 EUR.',
    ]);
    page.leave();
  }
  equal(ran.length, 1);
});
