/** A refund waits for an approval, which a webhook delivers: twice, as webhooks do. */
import { deepEqual, equal } from 'node:assert/strict';
import { runExample } from '../support/run-example.js';
import { type Ledger, support } from './agents.js';
import { startWebhook } from './webhook.js';

const ledger: Ledger = new Map();

await runExample({ agents: [support], services: { ledger } }, async ({ client, idOf, note }) => {
  const webhook = await startWebhook(client);
  const deliver = async (body: object): Promise<readonly [number, string]> => {
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { verdict } = (await response.json()) as { readonly verdict: string };
    note(`the webhook answers ${response.status} ${verdict}`);
    return [response.status, verdict];
  };
  try {
    const conversation = client.conversation(idOf('order-42'), { agent: support });
    const turn = await conversation.send('My order arrived broken.', { requestId: 'job-7' });
    const waiting = await turn.result({ timeout: '1 minute' });
    equal(waiting.status, 'waiting');
    const [call] = waiting.pending;
    if (call === undefined) throw new Error('no call waits');
    note(`${call.name} waits for an ${call.kind}: ${call.reason ?? ''}`);
    equal(ledger.size, 0);

    const decision = { eventId: 'evt-1', ref: call.ref, approved: true, by: 'ada' };
    deepEqual(await deliver(decision), [200, 'accepted']);
    deepEqual(await deliver(decision), [200, 'duplicate']);
    deepEqual(await deliver({ ...decision, eventId: 'evt-2', approved: false }), [409, 'stale']);

    const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
    equal(ended.status, 'completed');
    note(`the agent says: ${ended.text}`);
    deepEqual([...ledger.values()], [{ paymentId: 'p_1', cents: 7_500 }]);
  } finally {
    webhook.close();
  }
});
