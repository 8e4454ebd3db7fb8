/**
 * The event log in a real Postgres: the conformance suite of all logs, and the effects of several processes and a
 * network.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openEventLog } from '../../src/projection/index.js';
import type { EventLog } from '../../src/store/ports/log.js';
import { StoreUnavailable } from '../../src/store/ports/log.js';
import { openPostgresStores } from '../../src/store/postgres/event-log.js';
import { describeDeletedBlobs } from '../support/conformance/blob-deletion.js';
import { describeBlobs } from '../support/conformance/blobs.js';
import { describeDeletions } from '../support/conformance/deletion.js';
import { describeEventLog } from '../support/conformance/event-log.js';
import { describeApiKeys } from '../support/conformance/keys/api-keys.js';
import { describeLeases } from '../support/conformance/leases.js';
import { describeAudiences } from '../support/conformance/lists/audience.js';
import { describeChanges } from '../support/conformance/lists/changes.js';
import { describeLists } from '../support/conformance/lists/lists.js';
import { describeWorklist } from '../support/conformance/lists/worklist.js';
import { describePresence } from '../support/conformance/presence.js';
import { describeTroubles } from '../support/conformance/troubles.js';
import { expectNoRowLeft } from '../support/conformance/whole-deletion.js';
import { openPostgresEventLog } from '../support/event-logs.js';
import { startTestPostgres } from '../support/networks/postgres-server.js';
import { promise } from '../support/promise.js';
import { asks, KEY, stamped, started, turn } from '../support/samples/log-events.js';
import { until } from '../support/until.js';
import { describeDeliveries } from '../support/webhooks/deliveries.js';
import { describeOutbox } from '../support/webhooks/outbox.js';

const url = inject('postgresUrl');
const EVENTS = stamped([started(), ...turn('t1')]);
const batch = { ...KEY, runId: 'run-a', events: EVENTS };

/** A schema replaces a database of its own, and is created faster. */
const anySchema = (): string => `log_${randomUUID().slice(0, 8)}`;
const open = async (schema = anySchema()): Promise<EventLog> =>
  await openPostgresEventLog({ url, schema, maxConnections: 4 });

async function ask(sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as readonly unknown[];
  } finally {
    await client.end();
  }
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreUnavailable))
    throw new Error('expected StoreUnavailable', { cause: error });
  return error.message;
}

describeEventLog('postgres event log', open);
describeApiKeys('postgres API keys', open);
describeLeases('postgres leases', open);
describePresence('workers in the postgres event log', async () => {
  const schema = anySchema();
  const pass = async (milliseconds: number): Promise<void> => {
    const by = `interval '${milliseconds} milliseconds'`;
    await ask(`UPDATE ${schema}.workers SET seen_at = seen_at - ${by}`);
    await ask(`UPDATE ${schema}.agents SET published_at = published_at - ${by}`);
  };
  return { log: await open(schema), pass };
});
it('a deleted conversation leaves no row but its tombstone in any table', async () => {
  const schema = anySchema();
  const stores = await openPostgresStores({ url, schema, maxConnections: 2 });
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await stores.log.close();
  });
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = $1 AND column_name = 'conversation_id'`,
    [schema],
  );
  await expectNoRowLeft({
    ...stores,
    rowsOf: async (id) => {
      const counts: [string, number][] = [];
      for (const { name } of tables) {
        const { rows } = await client.query<{ rows: number }>(
          `SELECT count(*)::int AS rows FROM "${schema}".${name} WHERE conversation_id = $1`,
          [id],
        );
        counts.push([name, rows[0]?.rows ?? 0]);
      }
      return Object.fromEntries(counts);
    },
  });
});
describeDeletedBlobs('deleted blobs in Postgres', async () => {
  const stores = await openPostgresStores({ url, schema: anySchema(), maxConnections: 2 });
  onTestFinished(() => stores.log.close());
  return stores;
});
describeBlobs(
  'postgres blobs',
  async () => (await openPostgresStores({ url, schema: anySchema(), maxConnections: 4 })).blobs,
);
describeAudiences('postgres lists by audience', open);
describeLists('postgres lists', open);
describeChanges('changes in postgres', open);
describeWorklist('the postgres worklist', open);
describeDeletions('postgres deletions', open);
describeTroubles('postgres marks of trouble', open);

const openStores = async () =>
  await openPostgresStores({ url, schema: anySchema(), maxConnections: 4 });
describeOutbox('the postgres outbox', openStores);
describeDeliveries('postgres deliveries', openStores);

describe('a postgres event log', () => {
  it('is created once when several processes open it at the same time, and keeps its content', async () => {
    const schema = anySchema();
    const logs = await Promise.all([1, 2, 3, 4].map(() => open(schema)));
    await logs[0]?.append(batch);
    expect((await logs[1]?.read(KEY))?.events).toEqual(EVENTS);
    await Promise.all(logs.map((log) => log.close()));
    const again = await open(schema);
    expect((await again.read(KEY))?.events).toEqual(EVENTS);
    await again.close();
  });

  it('takes the same first events from several writers at once, and stores them once', async () => {
    const schema = anySchema();
    const [one, two] = [await open(schema), await open(schema)];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).append(batch)),
    );
    const added = results.map((result) => ('added' in result ? result.added : -1));
    expect(added.sort((left, right) => right - left)).toEqual([
      EVENTS.length,
      ...Array.from({ length: 19 }, () => 0),
    ]);
    expect((await two.read(KEY))?.events).toEqual(EVENTS);
    await one.close();
    await two.close();
  });

  it('lets two writers of one conversation alternate: the log is dense and has no repeat', {
    ...promise('G232'),
  }, async () => {
    const schema = anySchema();
    const [one, two] = [await open(schema), await open(schema)];
    const long = stamped([
      started(),
      ...Array.from({ length: 30 }, (_, n) => asks(`t${n}`)).flat(),
    ]);
    const write = async (log: EventLog): Promise<void> => {
      for (let from = 0; from < long.length; from += 3)
        await log.append({ ...KEY, runId: 'run-a', events: long.slice(from, from + 5) });
    };
    await Promise.all([write(one), write(two)]);
    const read = await one.read(KEY);
    expect(read).toMatchObject({ generation: 1, events: long });
    await one.close();
    await two.close();
  });

  it('returns texts unchanged: lone surrogates, zero characters, any script', async () => {
    const log = await open();
    const odd = JSON.parse(
      JSON.stringify(EVENTS).replaceAll('"t1"', String.raw`"t\u0000 \ud800 \"' 漢 🙂"`),
    ) as typeof EVENTS;
    // Postgres refuses a zero character in the id column; ids never contain one.
    const events = odd.map((event) => ({ ...event, turnId: 't1' }) as typeof event);
    await log.append({ ...batch, events });
    expect((await log.read(KEY))?.events).toEqual(events);
    await log.close();
  });

  it('written by a newer version is refused by name and not changed', {
    ...promise('G250'),
  }, async () => {
    const schema = anySchema();
    await (await open(schema)).close();
    await ask(`INSERT INTO "${schema}".migrations (name, run_on) VALUES ('9999_later', now())`);
    expect(await refusalOf(open(schema))).toMatch(/9999_later.*newer version/);
    await ask(`DELETE FROM "${schema}".migrations WHERE name = '9999_later'`);
    await (await open(schema)).close();
  });

  it('on a full disk is detected by a write, although reads succeed', promise('G244'), async () => {
    const schema = anySchema();
    const log = await open(schema);
    await log.checkWritable();
    await ask(`CREATE FUNCTION "${schema}".full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$`);
    await ask(`CREATE TRIGGER no_space BEFORE UPDATE ON "${schema}".store
      FOR EACH ROW EXECUTE FUNCTION "${schema}".full()`);
    expect(await log.agents()).toEqual([]);
    expect(await refusalOf(log.checkWritable())).toMatch(/cannot be used: No space left on device/);
    await log.close();
  });

  it('has a name that every process reads, and no other schema has', async () => {
    const schema = anySchema();
    const logs = await Promise.all([open(schema), open(schema), open()]);
    const [first, again, other] = await Promise.all(logs.map((log) => log.storeId()));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    await Promise.all(logs.map((log) => log.close()));
  });

  it('reports its address when it cannot be reached, and never the password', async () => {
    const nowhere = 'postgres://me:secret@127.0.0.1:9/db?sslmode=disable';
    const message = await refusalOf(openPostgresEventLog({ url: nowhere }));
    expect(message).toMatch(/postgres:\/\/me@127\.0\.0\.1:9\/db cannot be used: .*ECONNREFUSED/);
    const wrong = url.replace(':colloquy@', ':secret@');
    const refused = await refusalOf(openPostgresEventLog({ url: wrong }));
    expect(refused).toMatch(/cannot be used: .*password authentication failed/);
    expect(`${message}${refused}`).not.toContain('secret');
  });

  it('is unavailable once it is closed', async () => {
    const log = await open();
    await log.close();
    await log.close();
    expect(await refusalOf(log.head(KEY))).toMatch(/is closed/);
  });

  it('is unavailable while its server is down, and works again afterwards', async () => {
    const server = await startTestPostgres();
    const log = await openPostgresEventLog({ url: server.url });
    try {
      await log.append(batch);
      await server.stop();
      expect(await refusalOf(log.append(batch))).toMatch(/cannot be used/);
      expect(await refusalOf(log.read(KEY))).toMatch(/cannot be used/);
      await server.startAgain();
      expect((await log.read(KEY))?.events).toEqual(EVENTS);
      expect(await log.append(batch)).toMatchObject({ outcome: 'appended', added: 0 });
    } finally {
      await log.close();
      await server.stop();
    }
  });

  it('is opened once its server answers; what would be refused again is refused at once', async () => {
    const server = await startTestPostgres();
    await server.stop();
    const warned: string[] = [];
    const logger = { info: () => undefined, warn: (line: string) => warned.push(line) };
    expect(await refusalOf(openEventLog(server.url))).toMatch(/ECONNREFUSED/);
    const opening = openEventLog(server.url, { retryForMs: 60_000, logger });
    await until('the server was not there', () => warned, { holds: ({ length }) => length > 0 });
    await server.startAgain();
    const opened = await opening;
    try {
      expect(await opened.log.append(batch)).toMatchObject({ outcome: 'appended' });
      expect(warned).toEqual([expect.stringMatching(/ECONNREFUSED.*Trying again/)]);
      const missing = server.url.replace(/[^/]*$/, 'no_such_database');
      const refused = openEventLog(missing, { retryForMs: 60_000, logger });
      expect(await refusalOf(refused)).toMatch(/does not exist/);
      expect(warned).toHaveLength(1);
    } finally {
      await opened.close();
      await server.stop();
    }
  });

  it('survives a connection that is cut in the middle of an append', async () => {
    const schema = anySchema();
    const log = await open(schema);
    await log.append(batch);
    const blocker = new Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query(`SELECT 1 FROM "${schema}".conversations FOR UPDATE`);
    const appending = log.append({
      ...batch,
      events: stamped([started(), ...turn('t1'), ...turn('t2')]),
    });
    const refused = refusalOf(appending);
    await until('the append waits for the row', async () => {
      const cut = await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'colloquy' AND wait_event_type = 'Lock' AND query LIKE '%${schema}%'`);
      return cut.length > 0;
    });
    expect(await refused).toMatch(/cannot be used/);
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect((await log.read(KEY))?.events).toEqual(EVENTS);
    await log.close();
  });

  it('finds nothing by an id that it cannot store', async () => {
    const log = await open();
    expect(await log.findTurn('t\0')).toBeUndefined();
    const call = { ...KEY, toolCallId: '\0' };
    expect(await log.renewCallLease({ call, claimId: 'c\0', holder: 'a\0' })).toBeUndefined();
    await log.close();
  });
});
