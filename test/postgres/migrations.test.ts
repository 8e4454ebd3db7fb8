/** Upgrades of the tables by a migration after the present ones, while other clients use them. */
import { randomUUID } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PG_MIGRATE_LOCK_ID } from 'node-pg-migrate';
import { Client } from 'pg';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from '../../src/store/ports/log.js';
import { migrate } from '../../src/store/postgres/database/migrate.js';
import { openPostgresEventLog } from '../support/event-logs.js';
import { promise } from '../support/promise.js';
import { KEY, stamped, started, turn } from '../support/samples/log-events.js';
import { temporaryFolder } from '../support/temporary.js';
import { until } from '../support/until.js';

/** A database of its own, because upgrades of one database wait for each other, in any schema. */
const DATABASE = `upgrades_${randomUUID().slice(0, 8)}`;
const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${DATABASE}` }).href;
const STEPS = fileURLToPath(new URL('../../src/store/postgres/migrations/', import.meta.url));
const EVENTS = stamped([started(), ...turn('t1')]);
const ADDS_NOTE = 'ALTER TABLE pending_calls ADD COLUMN note TEXT';

beforeAll(async () => {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query(`CREATE DATABASE ${DATABASE}`);
  await client.end();
});

async function connected(name: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: name });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Tables of this version, with a conversation in them. */
async function storedSchema(): Promise<string> {
  const schema = `upgrade_${randomUUID().slice(0, 8)}`;
  const log = await openPostgresEventLog({ url, schema });
  await log.append({ ...KEY, runId: 'run-a', events: EVENTS });
  await log.close();
  return schema;
}

/** Migrates like a later version: the present steps, followed by further ones. */
async function upgrade(
  schema: string,
  next: readonly string[],
  logger?: Parameters<typeof migrate>[0]['logger'],
): Promise<void> {
  const steps = temporaryFolder();
  cpSync(STEPS, steps, { recursive: true });
  for (const [index, sql] of next.entries())
    writeFileSync(
      join(steps, `${String(9_001 + index)}_next.js`),
      `export const up = (pgm) => { pgm.sql(${JSON.stringify(sql)}); };\nexport const down = false;\n`,
    );
  await migrate({ url, schema, where: 'the log', logger, steps });
}

async function stepsOf(client: Client, schema: string): Promise<number> {
  return (await client.query(`SELECT 1 FROM ${schema}.migrations`)).rows.length;
}

describe('an upgrade', () => {
  it('adds new tables beside the stored data, once, and an older version refuses the tables from then on', {
    ...promise('G250'),
  }, async () => {
    const client = await connected('upgraded');
    const schema = await storedSchema();
    await Promise.all([1, 2, 3].map(() => upgrade(schema, [ADDS_NOTE])));
    await upgrade(schema, [ADDS_NOTE]);
    expect(await stepsOf(client, schema)).toBe(2);
    const { rows } = await client.query(`SELECT event FROM ${schema}.events ORDER BY seq`);
    expect(rows.map(({ event }) => JSON.parse(String(event)) as unknown)).toEqual(EVENTS);
    await expect(openPostgresEventLog({ url, schema })).rejects.toThrow(/9001_next.*newer version/);
  });

  it('whose last step fails keeps the steps before it, nothing of that step, and resumes there', {
    ...promise('G206'),
  }, async () => {
    const client = await connected('failing');
    const schema = await storedSchema();
    const broken = 'CREATE TABLE half (id TEXT); SELECT 1 / 0';
    await expect(upgrade(schema, [ADDS_NOTE, broken])).rejects.toThrow('division by zero');
    expect(await stepsOf(client, schema)).toBe(2);
    await upgrade(schema, [ADDS_NOTE, 'CREATE TABLE half (id TEXT)']);
    expect(await stepsOf(client, schema)).toBe(3);
  });

  it('fails in bounded time while another client locks a table, names that client, and is completed by the next start', {
    ...promise('G206'),
  }, async () => {
    const reader = await connected('a report');
    const schema = await storedSchema();
    await reader.query('BEGIN');
    await reader.query(`SELECT count(*) FROM ${schema}.pending_calls`);
    const began = performance.now();
    const error: unknown = await upgrade(schema, [ADDS_NOTE]).catch((reason: unknown) => reason);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /cannot be brought to this version: tables .* were locked for 5 s: pending_calls by process \d+ \(a report, idle in transaction\)\. .*pg_terminate_backend, and start again$/,
      ),
    );
    await reader.query('ROLLBACK');
    expect(await stepsOf(reader, schema)).toBe(1);
    await upgrade(schema, [ADDS_NOTE]);
    expect(await stepsOf(reader, schema)).toBe(2);
  });

  it('may take longer than any other statement', promise('G206'), async () => {
    const client = await connected('slow');
    const schema = await storedSchema();
    await upgrade(schema, ['DO $$ BEGIN PERFORM pg_sleep(10.5); END $$']);
    expect(await stepsOf(client, schema)).toBe(2);
  });

  it('waits for the upgrade of another process, and logs that', promise('G206'), async () => {
    const other = await connected('another upgrade');
    const schema = await storedSchema();
    await other.query('SELECT pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
    const logged: unknown[] = [];
    const logger = {
      info: (message: string, fields?: Record<string, unknown>) => {
        logged.push([message, fields]);
      },
    };
    const opening = openPostgresEventLog({ url, schema, logger });
    await until('it waits', () => logged.length > 0);
    expect(logged).toEqual([
      [
        'Waiting for another process that upgrades an event log of this database',
        { eventLog: expect.stringMatching(/^postgres:\/\//) as string },
      ],
    ]);
    expect(JSON.stringify(logged)).not.toContain(`:${new URL(url).password}@`);
    await other.query('SELECT pg_advisory_unlock($1)', [PG_MIGRATE_LOCK_ID]);
    await (await opening).close();
  });
});
