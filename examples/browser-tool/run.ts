/** Two tabs of one user watch a conversation; the agent calls a tool that runs in one of them. */
import { deepEqual, equal } from 'node:assert/strict';
import { runExample } from '../support/run-example.js';
import { shopper } from './agents.js';
import { openPage } from './page.js';

await runExample(
  { agents: [shopper], services: {} },
  async ({ client, api, headers, idOf, note }) => {
    const conversation = client.conversation(idOf('ann'), { agent: shopper });
    const leave = new AbortController();
    const ran: string[] = [];
    const claims: string[] = [];
    const tab = (name: string): Promise<void> =>
      openPage({
        conversation: `${api}/v1/conversations/${conversation.id}`,
        headers,
        user: 'ann',
        tools: {
          'cart.read': ({ currency }: { readonly currency: string }) => {
            ran.push(name);
            return { items: ['tea'], total: `4.20 ${currency}` };
          },
        },
        onClaim: (verdict) => {
          note(`${name} claims the call: ${verdict}`);
          claims.push(verdict);
        },
        signal: leave.signal,
      });

    const turn = await conversation.send('What is in my cart?', { actor: { id: 'ann' } });
    const tabs = [tab('tab 1'), tab('tab 2')];
    const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
    equal(ended.status, 'completed');
    note(`the agent says: ${ended.text}`);
    equal(ran.length, 1);
    // The other tab was too late, or saw that the call was over.
    deepEqual(
      claims.filter((verdict) => verdict === 'accepted'),
      ['accepted'],
    );
    leave.abort();
    await Promise.all(tabs);
  },
);
