/** Upgrades of the tables while others use them. */
import { randomUUID } from 'node:crypto';
import { PG_MIGRATE_LOCK_ID } from 'node-pg-migrate';
import { Client } from 'pg';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from '../../src/store/port.js';
import { openPostgresEventLog } from '../../src/store/postgres.js';
import { logsOfAnn } from '../support/asked-logs.js';
import { storeLogs, takeSteps } from '../support/older-tables.js';
import { until } from '../support/until.js';

/** A database of its own: upgrades of one wait for each other, whatever their schema. */
const DATABASE = `upgrades_${randomUUID().slice(0, 8)}`;
const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${DATABASE}` }).href;
/** Before lists left out whoever asked. */
const OLDER = 5;

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

/** Tables as an older version left them. */
async function olderSchema(client: Client): Promise<string> {
  const schema = `upgrade_${randomUUID().slice(0, 8)}`;
  await takeSteps(client, schema, 2);
  await storeLogs(client, schema, logsOfAnn());
  await takeSteps(client, schema, OLDER - 2);
  return schema;
}

async function stepsOf(client: Client, schema: string): Promise<number> {
  return (await client.query(`SELECT 1 FROM ${schema}.migrations`)).rows.length;
}

describe('an upgrade', () => {
  it('fails in bounded time while somebody keeps a table locked, says who, and is done by the next start', {
    timeout: 30_000,
  }, async () => {
    const reader = await connected('a report');
    const schema = await olderSchema(reader);
    await reader.query('BEGIN');
    await reader.query(`SELECT count(*) FROM ${schema}.pending_calls`);
    const began = performance.now();
    const error: unknown = await openPostgresEventLog({ url, schema }).catch(
      (reason: unknown) => reason,
    );
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /cannot be brought to this version: tables .* were locked for 5 s: pending_calls by process \d+ \(a report, idle in transaction\)\. .*pg_terminate_backend, and start again$/,
      ),
    );
    await reader.query('ROLLBACK');
    expect(await stepsOf(reader, schema)).toBe(OLDER);
    await (await openPostgresEventLog({ url, schema })).close();
    expect(await stepsOf(reader, schema)).toBeGreaterThan(OLDER);
  });

  it('may take longer than any other statement', { timeout: 40_000 }, async () => {
    const client = await connected('slow');
    const schema = await olderSchema(client);
    await client.query(`CREATE FUNCTION ${schema}.slowly() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(10.5); RETURN NEW; END $$`);
    await client.query(`CREATE TRIGGER slowly BEFORE INSERT ON ${schema}.migrations
      FOR EACH ROW EXECUTE FUNCTION ${schema}.slowly()`);
    await (await openPostgresEventLog({ url, schema })).close();
    expect(await stepsOf(client, schema)).toBeGreaterThan(OLDER);
  });

  it('fills in who asked while others read and write the table', async () => {
    const writer = await connected('writer');
    const schema = await olderSchema(writer);
    // Holds up each row, from a place that locks no table.
    await writer.query(`CREATE FUNCTION ${schema}.held() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$`);
    await writer.query(`CREATE TRIGGER held BEFORE UPDATE ON ${schema}.pending_calls
      FOR EACH ROW EXECUTE FUNCTION ${schema}.held()`);
    await writer.query('SELECT pg_advisory_lock(1)');
    const opening = openPostgresEventLog({ url, schema });
    const waits = `SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'colloquy' AND wait_event_type = 'Lock' AND query LIKE '%askers%' AND datname = current_database()`;
    const looker = await connected('looker');
    await until('it is held up', async () => (await looker.query(waits)).rows.length > 0);
    await looker.query("SET lock_timeout = '1s'");
    const { rows: before } = await looker.query(`SELECT requesters FROM ${schema}.pending_calls`);
    expect(before.length).toBeGreaterThan(0);
    await looker.query(
      `UPDATE ${schema}.pending_calls SET deadline_ms = 1 WHERE conversation_id = 'no such'`,
    );
    await writer.query('SELECT pg_advisory_unlock(1)');
    const log = await opening;
    onTestFinished(() => log.close());
    const { rows } = await looker.query(
      `SELECT 1 FROM ${schema}.pending_calls WHERE requesters IS NULL`,
    );
    expect(rows).toEqual([]);
  });

  it('that was broken off behind its first statement is completed by the next start', async () => {
    const client = await connected('broken off');
    const schema = await olderSchema(client);
    await client.query(`ALTER TABLE ${schema}.pending_calls ADD COLUMN requesters JSONB`);
    await (await openPostgresEventLog({ url, schema })).close();
    expect(await stepsOf(client, schema)).toBeGreaterThan(OLDER);
  });

  it('of another process is waited for, and that is told', async () => {
    const other = await connected('another upgrade');
    const schema = await olderSchema(other);
    await other.query('SELECT pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
    const told: unknown[] = [];
    const logger = {
      info: (message: string, fields?: Record<string, unknown>) => {
        told.push([message, fields]);
      },
    };
    const opening = openPostgresEventLog({ url, schema, logger });
    await until('it waits', () => told.length > 0);
    expect(told).toEqual([
      [
        'Waits for another process that brings an event log of this database to its version',
        { eventLog: expect.stringMatching(/^postgres:\/\//) as string },
      ],
    ]);
    expect(JSON.stringify(told)).not.toContain(`:${new URL(url).password}@`);
    await other.query('SELECT pg_advisory_unlock($1)', [PG_MIGRATE_LOCK_ID]);
    await (await opening).close();
  });
});
