/** Query plans of lists in a real Postgres. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { listedQuery, listQuery } from '../../src/store/plans/list-query.js';
import { worklistQuery } from '../../src/store/plans/worklist-query.js';
import { LATE_MS } from '../../src/store/ports/lists.js';
import { changesQuery, postgresDialect } from '../../src/store/postgres/conversations/lists.js';
import { openPostgresEventLog } from '../support/event-logs.js';
import { promise } from '../support/promise.js';
import { stamped, started } from '../support/samples/log-events.js';
import { LIST_FILTERS, WORKLIST_FILTERS } from '../support/schedules/list-filters.js';

const url = inject('postgresUrl');
const anySchema = (): string => `lists_${randomUUID().slice(0, 8)}`;

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

it('lists of a tenant follow an index in order for every filter: no scan, no sort', {
  ...promise('G238'),
}, async () => {
  const schema = anySchema();
  const log = await openPostgresEventLog({ url, schema, maxConnections: 2 });
  onTestFinished(() => log.close());
  const client = await connected();
  const from = Date.parse('2030-01-02T00:00:00.000Z');
  await client.query(`INSERT INTO ${schema}.conversations
      (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot)
    SELECT CASE WHEN n % 10 = 0 THEN 'other' ELSE 'default' END, 'c' || n, 1, 1, 'r', 1, 'a' || n % 50,
      CASE WHEN n % 4 = 0 THEN 'awaiting_input' WHEN n % 4 = 1 THEN 'idle' ELSE 'closed' END, '{}'
    FROM generate_series(1, 20000) AS n`);
  await client.query(`INSERT INTO ${schema}.pending_calls
      (tenant, conversation_id, tool_call_id, position, tool, agent, kind, risk, deadline_ms, opened_at_ms,
       excludes_requester, requesters, item, claims, seq)
    SELECT tenant, conversation_id, 'call', position, CASE WHEN position % 7 = 0 THEN 'pay' ELSE 'mail' END, agent,
      CASE WHEN position % 5 = 0 THEN 'approval' ELSE 'elicitation' END,
      CASE WHEN position % 3 = 0 THEN 'high' ELSE 'low' END, ${from} + position * 100, ${from}, position % 2 = 0,
      '["ann"]', '{}', 0, 1
    FROM ${schema}.conversations WHERE status = 'awaiting_input'`);
  await client.query(`ANALYZE ${schema}.conversations`);
  await client.query(`ANALYZE ${schema}.pending_calls`);
  const dialect = postgresDialect({ table: (name) => `${schema}.${name}` });
  for (const options of LIST_FILTERS) {
    const { sql, values } = listQuery(options, dialect);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, [...values]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(`${JSON.stringify(options)}\n${plan}`).not.toMatch(/Seq Scan|Sort|Hash/);
    expect(plan).not.toMatch(/using pending_calls_by_\w+ on pending_calls earlier/);
  }
  for (const request of WORKLIST_FILTERS) {
    const { sql, values } = worklistQuery(request, dialect);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, [...values]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(`${JSON.stringify(request)}\n${plan}`).not.toMatch(/Seq Scan|Sort|Hash/);
  }
});

it('what has changed since a time is read along an index, in order, for several tenants too', {
  ...promise('G364'),
}, async () => {
  const schema = anySchema();
  const log = await openPostgresEventLog({ url, schema, maxConnections: 2 });
  onTestFinished(() => log.close());
  const client = await connected();
  await client.query(`INSERT INTO ${schema}.conversations
      (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot, changed_at_ms)
    SELECT 't' || n % 10, 'c' || n, 1, 1, 'r', 1, 'a', CASE WHEN n % 4 = 0 THEN 'idle' ELSE 'closed' END, '{}', n * 1000
    FROM generate_series(1, 20000) AS n`);
  await client.query(`INSERT INTO ${schema}.deletions (tenant, conversation_id, run_ids, generation, requested_at_ms)
    SELECT 't' || n % 10, 'd' || n, '[]', 1, n * 1000 FROM generate_series(1, 20000) AS n`);
  for (const table of ['conversations', 'deletions'])
    await client.query(`ANALYZE ${schema}.${table}`);
  const database = { table: (name: string) => `${schema}.${name}` };
  const planOf = async (sql: string, values: readonly unknown[]): Promise<string> => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, [...values]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  for (const [tenants, since, limit] of [
    [['t1'], 19_970_000, 1_001],
    [['t1', 't2', 't3'], 19_970_000, 10_001],
    // Long ago: the first rows in order, without reading all that follow.
    [['t1'], 0, 101],
  ] as const) {
    const plan = await planOf(changesQuery(database), [tenants, since, limit]);
    expect(plan).not.toMatch(since === 0 ? /Seq Scan|Sort|Hash/ : /Seq Scan|Hash/);
    expect(plan).toMatch(/conversations_changed_of_tenant/);
    expect(plan).toMatch(/deletions_of_tenant/);
  }
  const of = { tenant: 't1', ids: ['c1', 'c11'] };
  const { sql, values } = listedQuery(of, postgresDialect(database));
  const plan = await planOf(sql, values);
  expect(plan).not.toMatch(/Seq Scan/);
  expect(plan).toMatch(/conversations_pkey/);
});

it('a transaction that was open for longer than readers look back is rolled back', {
  ...promise('G364'),
}, async () => {
  const log = await openPostgresEventLog({ url, schema: anySchema(), maxConnections: 2 });
  onTestFinished(() => log.close());
  const key = { tenant: 'default', conversationId: 'c1' };
  const batch = { ...key, runId: 'r', events: stamped([started(key)]) };
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += LATE_MS));
  await expect(log.append(batch)).rejects.toThrow('a transaction took too long');
  clock.mockRestore();
  expect(await log.head(key)).toBeUndefined();
  expect((await log.append(batch)).outcome).toBe('appended');
});
