/** Deliveries of webhooks in a real Postgres: several senders over one outbox, and the cost of a claim. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { WebhookEnvelope } from '../../src/protocol/log/webhook-events.js';
import { openPostgresStores } from '../../src/store/postgres/event-log.js';
import { claimQuery } from '../../src/store/postgres/webhooks/store.js';
import type { Post } from '../../src/webhooks/post.js';
import { createWebhookSender } from '../../src/webhooks/sender.js';
import { promise } from '../support/promise.js';
import { keyed } from '../support/samples/list-events.js';
import { stamped, started, turn } from '../support/samples/log-events.js';
import { putEndpoint } from '../support/webhooks/samples.js';

const url = inject('postgresUrl');

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks': number;
}

async function open() {
  const schema = `log_${randomUUID().slice(0, 8)}`;
  const connect = async () => {
    const stores = await openPostgresStores({ url, schema, maxConnections: 4 });
    onTestFinished(() => stores.log.close());
    return stores;
  };
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return { schema, connect, client };
}

it(
  'two senders over one outbox send each delivery once, and those of a conversation in order',
  promise('G359'),
  async () => {
    const { connect } = await open();
    const [{ log, webhooks }, other] = await Promise.all([connect(), connect()]);
    await putEndpoint(webhooks);
    const turns = Array.from({ length: 8 }, (_each, n) => `t${n}`);
    for (let n = 0; n < 12; n += 1) {
      const key = keyed(`many-${n}`);
      const events = stamped([started(key), ...turns.flatMap((id) => turn(id))]);
      await log.append({ ...key, runId: 'run-a', events });
    }
    const sent: (readonly [string, string])[] = [];
    const running = new Map<string, number>();
    let most = 0;
    const post: Post = async (_url, { body }) => {
      const { data, subject } = JSON.parse(body) as WebhookEnvelope<
        string,
        { conversationId: string }
      >;
      const { conversationId } = data;
      running.set(conversationId, (running.get(conversationId) ?? 0) + 1);
      most = Math.max(most, ...running.values());
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
      running.set(conversationId, (running.get(conversationId) ?? 0) - 1);
      sent.push([conversationId, subject ?? '']);
      return { status: 200 };
    };
    const senders = [webhooks, other.webhooks].map((store) => createWebhookSender({ store, post }));
    const counts = await Promise.all(senders.map((sender) => sender.pass()));
    await Promise.all(senders.map((sender) => sender.stop()));
    expect([counts.reduce((sum, each) => sum + each, 0), sent.length]).toEqual([96, 96]);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(most).toBe(1);
    for (let n = 0; n < 12; n += 1)
      expect(sent.flatMap(([id, subject]) => (id === `many-${n}` ? [subject] : []))).toEqual(turns);
  },
);

it('deliveries that an append has written for an endpoint while it was removed are pruned', async () => {
  const { schema, connect, client } = await open();
  const { webhooks } = await connect();
  await putEndpoint(webhooks);
  for (const id of ['hook', 'gone', 'gone-too'])
    await client.query(
      `INSERT INTO "${schema}".webhook_deliveries
         (endpoint_id, event_id, tenant, conversation_id, status, event, attempts, next_at_ms, since_ms)
       VALUES ($1, 'msg_1', 'default', 'c1', 'pending', '{}', 0, 1, 1)`,
      [id],
    );
  const limits = { deliveredBeforeMs: 0, deadBeforeMs: 0, pendingBeforeMs: 0, limit: 9 };
  expect(await webhooks.pruneDeliveries(limits)).toBe(2);
  expect(await webhooks.deliveryCounts()).toMatchObject({ pending: 1 });
});

it.each([
  ['of as many conversations', 'n'],
  ['of one hundred conversations', 'n % 100'],
])('a claim among 100,000 deliveries %s reads some of them', async (_each, conversation) => {
  const { schema, connect, client } = await open();
  const { webhooks } = await connect();
  await putEndpoint(webhooks);
  const deliveries = `"${schema}".webhook_deliveries`;
  await client.query(
    `INSERT INTO ${deliveries}
       (endpoint_id, event_id, tenant, conversation_id, status, event, attempts, next_at_ms, since_ms)
     SELECT 'hook', 'msg_' || n, 'default', 'c' || (${conversation}), 'pending', '{}', 0, n, n
     FROM generate_series(1, 100000) AS n`,
  );
  await client.query(`ANALYZE ${deliveries}`);
  const sql = claimQuery({ table: (name) => `"${schema}".${name}` });
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
    [300_000, 'hook', 200_000, 8],
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  expect(plan?.['Actual Rows']).toBe(8);
  // A read of the whole table, or of one of its indexes, is more.
  expect(plan?.['Shared Hit Blocks']).toBeLessThan(500);
});
