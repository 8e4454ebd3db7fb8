/** Brings the tables of one schema to this version. */
import { readdirSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { StoreUnavailable } from '../../ports/log.js';
import { identifier, sqlState } from './names.js';

export const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Seconds that a change of a table waits for its lock. Behind it every statement of every process on that table waits.
 */
const LOCK_TIMEOUT_S = 5;
/** SQLSTATE `lock_not_available`. */
const LOCK_TIMED_OUT = '55P03';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
const MIGRATIONS_TABLE = 'migrations';

/** The shape of Temporal's own logger. */
export interface StoreLogger {
  info(message: string, fields?: Record<string, unknown>): void;
}

export interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** The address, without its password. */
  readonly where: string;
  readonly logger: StoreLogger | undefined;
  /** Path of the folder with the steps; only tests set another. @defaultValue the steps of this version */
  readonly steps?: string;
}

const ignore = (): void => undefined;

/**
 * Runs the missing steps. Several processes may call this at once: one migrates, the others wait for it. Completed
 * steps stay when a later one fails.
 * @throws {StoreUnavailable} when the schema is of a newer version, or tables stay locked; other errors of Postgres or
 *   the network as they are.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { url, schema, where, steps = MIGRATIONS } = options;
  const { runner, PG_MIGRATE_LOCK_ID } = await import('node-pg-migrate');
  // A connection of its own: a step over many rows, or the wait for another process that migrates, takes longer than
  // the time limit of statements.
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'colloquy',
  });
  client.on('error', ignore);
  await client.connect();
  try {
    await takeTurn(client, PG_MIGRATE_LOCK_ID, options);
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT_S}s'`);
    await runner({
      dbClient: client,
      dir: steps,
      ignorePattern: String.raw`.*\.(map|d\.ts)`,
      direction: 'up',
      schema,
      createSchema: true,
      migrationsTable: MIGRATIONS_TABLE,
      noLock: true,
      logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    });
    const { rows } = await client.query<{ name: string }>(
      `SELECT name FROM ${identifier(schema)}.${identifier(MIGRATIONS_TABLE)} ORDER BY id`,
    );
    const known = knownMigrations(steps);
    const unknown = rows.find(({ name }) => !known.includes(name));
    if (unknown !== undefined)
      throw new StoreUnavailable(
        `The event log ${where} has schema ${unknown.name}, which this version does not know: it was written by a newer version`,
      );
  } catch (error) {
    if (sqlState(error) !== LOCK_TIMED_OUT) throw error;
    const by = await lockHoldersOf(client, schema).catch(() => '');
    throw new StoreUnavailable(
      `The event log ${where} cannot be brought to this version: tables that have to be changed were locked for ${LOCK_TIMEOUT_S} s${by}. Let that transaction end, or end it with pg_terminate_backend, and start again`,
      { cause: error },
    );
  } finally {
    // The locks end with the connection.
    await client.end();
  }
}

/** Takes the lock that the runner would take itself, without logging the wait: all versions use the same lock. */
async function takeTurn(
  client: Client,
  lock: number,
  { where, logger }: MigrateOptions,
): Promise<void> {
  const { rows } = await client.query<{ isOurs: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS "isOurs"',
    [lock],
  );
  if (rows[0]?.isOurs === true) return;
  logger?.info('Waiting for another process that upgrades an event log of this database', {
    eventLog: where,
  });
  await client.query('SELECT pg_advisory_lock($1)', [lock]);
}

/**
 * The transactions that had a table locked for as long as this one waited. Their statements are left out, because
 * this store must not publish them.
 */
async function lockHoldersOf(client: Client, schema: string): Promise<string> {
  await client.query('ROLLBACK');
  const { rows } = await client.query<{ holder: string }>(
    `SELECT format('%s by process %s (%s, %s)', string_agg(DISTINCT relname, ', '), pid, nullif(application_name, ''),
        coalesce(state, 'unknown')) AS holder
      FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_stat_activity USING (pid)
      WHERE nspname = $1 AND relkind = 'r' AND granted AND pid <> pg_backend_pid()
        AND coalesce(xact_start, '-infinity') < clock_timestamp() - $2 * interval '1 second'
      GROUP BY pid, application_name, state, xact_start ORDER BY xact_start LIMIT 3`,
    [schema, LOCK_TIMEOUT_S],
  );
  return rows.length === 0 ? '' : `: ${rows.map(({ holder }) => holder).join('; ')}`;
}

function knownMigrations(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => /^\d+_.*\.[jt]s$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => basename(file, extname(file)));
}
