/** Webhooks end to end: a receiver hears of a waiting call, answers it by the API, and hears how it went on. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import type { WebhookEnvelope } from '../../src/protocol/log/webhook-events.js';
import { ledger, shop } from '../support/engine/agents.js';
import { openedServer, runs } from '../support/started-engines/opened.js';
import { until } from '../support/until.js';
import { startReceiver } from '../support/webhooks/receiver.js';
import { SECRET } from '../support/webhooks/samples.js';

async function postJson(url: string, body: object, key: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return await response.json();
}

test('a receiver hears of a waiting call, answers it by the API, and hears of its end and the turn', async () => {
  const { colloquy, url } = await openedServer({ actor: { id: 'job' } });
  const id = randomUUID();
  const verdicts: unknown[] = [];
  const receiver = await startReceiver(SECRET, {
    onEvent: async (event) => {
      if (event.type !== 'conversation.suspension.opened') return;
      const { conversationId, toolCallId } = event.data;
      if (conversationId !== id) return;
      const call = `${url}/v1/conversations/${conversationId}/tool-calls/${toolCallId}`;
      const answer = { type: 'answer', value: { answer: 'yes' } };
      verdicts.push(await postJson(`${call}/resolution`, answer, event.id));
    },
  });
  const given: WebhookEnvelope[] = [];
  const agent = shop(script(calls('customer.ask', { question: 'A?' }), says('done')));
  await runs(colloquy, {
    agents: [agent],
    services: ledger(),
    webhooks: {
      endpoints: [{ name: 'crm', url: receiver.url, secret: SECRET, tenant: 'default' }],
      deliver: (event) => Promise.resolve(void given.push(event)),
      allowPrivate: ['127.0.0.1'],
    },
  });
  await colloquy.client.conversation(id, { agent }).send('hello');
  // The store also follows conversations of other tests on the same server.
  const own = (events: readonly WebhookEnvelope[]) =>
    events.filter(({ source }) => source === `/tenants/default/conversations/${id}`);
  const all = [
    ...['conversation.suspension.opened', 'conversation.suspension.ended'],
    'conversation.turn.ended',
  ];
  await until('three events', () => [receiver.events, given].every((it) => own(it).length >= 3));
  expect(own(receiver.events).map(({ type }) => type)).toEqual(all);
  expect(own(given).map(({ type }) => type)).toEqual(all);
  expect(receiver.refused).toEqual([]);
  expect(verdicts).toMatchObject([{ verdict: 'accepted' }]);
  expect(own(receiver.events).map(({ data }) => data)).toMatchObject([
    { conversationId: id, tool: 'customer.ask' },
    { conversationId: id, outcome: 'answered', answer: 'answer' },
    { conversationId: id, status: 'completed' },
  ]);
});
