/**
 * Connections to one Postgres database: a pool, the schema, short transactions, and the translation of errors of
 * Postgres and of the network into `StoreUnavailable`.
 */

import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { Pool } from 'pg';
import { type Row } from '../../plans/rows.js';

import { LATE_MS } from '../../ports/lists.js';
import { StoreUnavailable } from '../../ports/log.js';
import { CONNECT_TIMEOUT_MS, migrate, type StoreLogger } from './migrate.js';
import { identifier, safeUrl, sqlState } from './names.js';

export type Value = string | number | null | Uint8Array | readonly (string | number | null)[];

/** Statements inside a transaction, or outside of one. */
export interface Queries {
  all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  get(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Number of rows that changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows (`sslmode`, ...). */
  readonly url: string;
  /** Holds the tables; created when it is absent. @defaultValue 'colloquy' */
  readonly schema?: string;
  /** Maximum of connections of this process, besides one for live events. @defaultValue 10 */
  readonly maxConnections?: number;
  /** Receives a line when an upgrade of the tables has to wait. @defaultValue no log */
  readonly logger?: StoreLogger | undefined;
}

/** Statements of this store take milliseconds; one that takes this long waits for a lock or a broken network. */
const STATEMENT_TIMEOUT_MS = 10_000;
const MAX_TRIES = 5;
/**
 * A transaction that has been open for longer is rolled back, such as that of a process that was frozen: readers look
 * for changes only so far back (`LATE_MS`). The commit itself is a statement more.
 */
const MAX_OPEN_MS = LATE_MS - STATEMENT_TIMEOUT_MS - 5_000;

/** The clock of the database, in milliseconds: those of the machines may differ. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const ignore = (): void => undefined;

export class PostgresDatabase implements Queries {
  readonly schema: string;
  readonly #where: string;
  readonly #pool: Pool;
  #closed = false;

  private constructor(options: PostgresOptions) {
    const { url, maxConnections = 10 } = options;
    this.schema = options.schema ?? 'colloquy';
    this.#where = safeUrl(url);
    this.#pool = new Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      application_name: 'colloquy',
      allowExitOnIdle: true,
    });
    // The next query replaces a connection that breaks while idle.
    this.#pool.on('error', ignore);
    // A connection that breaks in a transaction fails its query; the pool listens to it only while it is idle.
    this.#pool.on('connect', (client) => {
      client.on('error', ignore);
    });
  }

  /**
   * Connects and brings the schema to the newest version; several processes may do so at once.
   * @throws {StoreUnavailable} when there is no server, it refuses the connection, the schema is of a newer version, or
   *   another process keeps tables locked that have to be changed.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(options);
    const { url, logger } = options;
    try {
      await migrate({ url, schema: database.schema, where: database.#where, logger });
      return database;
    } catch (error) {
      const translated = database.#translated(error);
      await database.close();
      throw translated instanceof StoreUnavailable ? translated : database.#unavailable(error);
    }
  }

  /** A table of this schema, as SQL names it. */
  table(name: string): string {
    return `${identifier(this.schema)}.${identifier(name)}`;
  }

  /** Returns no rows for a value with a zero character, because no text of Postgres holds one. */
  async all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    if (values.some((value) => typeof value === 'string' && value.includes('\0'))) return [];
    return await this.#translating(
      async () => (await this.#pool.query<Record<string, unknown>>(prepared(sql, values))).rows,
    );
  }

  async get(sql: string, ...values: readonly Value[]): Promise<Row | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  async run(sql: string, ...values: readonly Value[]): Promise<number> {
    return await this.#translating(
      async () =>
        (await this.#pool.query<Record<string, unknown>>(prepared(sql, values))).rowCount ?? 0,
    );
  }

  /** Runs reads and writes as one transaction; all or nothing. Retried when it conflicts with another transaction. */
  async write<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return await this.#translating(async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await this.#transaction(work);
        } catch (error) {
          if (tries >= MAX_TRIES || !isConflict(error)) throw error;
        }
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
  }

  async #transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    const begunAt = performance.now();
    try {
      await client.query('BEGIN');
      const result = await work(queriesOf(client));
      if (performance.now() - begunAt > MAX_OPEN_MS)
        throw new StoreUnavailable(`The event log ${this.#where}: a transaction took too long`);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      await client.query('ROLLBACK').then(
        () => {
          failure = undefined;
        },
        () => undefined,
      );
      throw error;
    } finally {
      // A connection that could not even roll back is not used again.
      client.release(failure);
    }
  }

  async #translating<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #translated(error: unknown): unknown {
    if (error instanceof StoreUnavailable) return error;
    if (this.#closed)
      return new StoreUnavailable(`The event log ${this.#where} is closed`, { cause: error });
    return isDefect(error) ? error : this.#unavailable(error);
  }

  #unavailable(error: unknown): StoreUnavailable {
    return new StoreUnavailable(`The event log ${this.#where} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function queriesOf(client: PoolClient): Queries {
  const all = async (sql: string, ...values: readonly Value[]): Promise<readonly Row[]> =>
    (await client.query<Record<string, unknown>>(prepared(sql, values))).rows;
  return {
    all,
    get: async (sql, ...values) => (await all(sql, ...values))[0],
    run: async (sql, ...values) =>
      (await client.query<Record<string, unknown>>(prepared(sql, values))).rowCount ?? 0,
  };
}

const names = new Map<string, string>();

/** Names the statement, so that each connection plans each text once. */
function prepared(
  sql: string,
  values: readonly Value[],
): { name: string; text: string; values: Value[] } {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash('sha256').update(sql).digest('hex').slice(0, 32);
    names.set(sql, name);
  }
  return { name, text: sql, values: [...values] };
}

/** Serialisation failure, deadlock, or a row that another transaction inserted first: a retry succeeds. */
function isConflict(error: unknown): boolean {
  return ['40001', '40P01', '23505'].includes(sqlState(error) ?? '');
}

/**
 * True for errors of Postgres caused by the statement: data, constraints, syntax. Every other error is a condition of
 * the store.
 */
function isDefect(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const state = sqlState(error);
  return state !== undefined && ['21', '22', '23', '42'].includes(state.slice(0, 2));
}

function reasonOf(error: unknown): string {
  // Several addresses were tried: the first failure says as much as all.
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
