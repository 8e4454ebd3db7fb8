/**
 * One connection to a sqlite file that other processes use, too: opening, migrations, short transactions, and the
 * translation of errors of sqlite into `StoreUnavailable`. `node:sqlite` is synchronous, so no call may wait long
 * inside sqlite: the built-in busy wait is short, and longer waits are asynchronous.
 */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as Sqlite from 'node:sqlite';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../../plans/rows.js';
import { LATE_MS } from '../../ports/lists.js';
import { StoreUnavailable } from '../../ports/log.js';
import { MIGRATIONS } from './schema.js';

/** The longest time in milliseconds that the event loop is blocked while another process writes. */
const BUSY_TIMEOUT_MS = 20;
/** Writers hold the lock for milliseconds; a wait of this many milliseconds means that another process is stuck. */
const WRITE_PATIENCE_MS = 5_000;
const MAX_RETRY_WAIT_MS = 50;
/** The transaction of a process that was frozen for longer is rolled back: readers look for changes only so far back. */
const MAX_OPEN_MS = LATE_MS / 2;

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT = 19;

export class SqliteDatabase {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(file: string, database: DatabaseSync) {
    this.file = file;
    this.#database = database;
  }

  /**
   * Opens or creates the file and brings it to the newest schema: the last of `steps`, which only tests set.
   * @throws {StoreUnavailable} when the file cannot be opened, is not a database, or was written by a newer version.
   */
  static async open(
    file: string,
    synchronous: 'normal' | 'full',
    steps: readonly string[] = MIGRATIONS,
  ): Promise<SqliteDatabase> {
    let database: DatabaseSync | undefined;
    try {
      if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
      const sqlite = loadSqlite();
      database = new sqlite.DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
      const opened = new SqliteDatabase(file, database);
      await opened.#patiently(() => database?.exec('PRAGMA journal_mode = WAL'));
      database.exec(`PRAGMA synchronous = ${synchronous === 'full' ? 'FULL' : 'NORMAL'}`);
      await opened.#migrate(steps);
      return opened;
    } catch (error) {
      if (database?.isOpen === true) database.close();
      if (error instanceof StoreUnavailable) throw error;
      throw unavailable(file, error);
    }
  }

  /** Runs reads. Reads never wait for writers; a short wait happens only while a crashed file is recovered. */
  async read<Result>(work: () => Result): Promise<Result> {
    return await this.#patiently(work);
  }

  /** Runs reads and writes as one transaction; all or nothing, also when the process dies. */
  async write<Result>(work: () => Result, maxOpenMs = MAX_OPEN_MS): Promise<Result> {
    return await this.#patiently(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      const begunAt = performance.now();
      try {
        const result = work();
        if (performance.now() - begunAt > maxOpenMs)
          throw new StoreUnavailable(`The event log ${this.file}: a transaction took too long`);
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#prepare(sql).all(...values);
  }

  /** Rows one by one, for callers that stop early. Not to be held over an `await`. */
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepare(sql).iterate(...values);
  }

  /** Number of rows that changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  async #patiently<Result>(work: () => Result): Promise<Result> {
    const giveUpAt = performance.now() + WRITE_PATIENCE_MS;
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_WAIT_MS)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw this.#translated(error);
      }
      // Jitter, so that processes that collided once do not collide again.
      await sleep(waitMs * (0.5 + Math.random()));
    }
  }

  #translated(error: unknown): unknown {
    if (!this.#database.isOpen)
      return new StoreUnavailable(`The event log ${this.file} is closed`, { cause: error });
    const code = sqliteCode(error);
    const isDefect = code === undefined || code === SQLITE_CONSTRAINT;
    return isDefect ? error : unavailable(this.file, error);
  }

  async #migrate(steps: readonly string[]): Promise<void> {
    const newest = steps.length;
    const version = (): number => Number(this.get('PRAGMA user_version')?.['user_version'] ?? 0);
    const found = await this.read(version);
    if (found > newest)
      throw new StoreUnavailable(
        `The event log ${this.file} has schema ${found}, this version knows ${newest}: it was written by a newer version`,
      );
    if (found === newest) return;
    await this.write(() => {
      // Checked again: another process may have migrated while this one waited for the lock.
      for (let step = version(); step < newest; step += 1) {
        this.#database.exec(steps[step] ?? '');
        this.#database.exec(`PRAGMA user_version = ${step + 1}`);
      }
    }, Number.POSITIVE_INFINITY);
  }
}

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  // The low byte is the primary code; the rest distinguishes variants.
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

function unavailable(file: string, error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`The event log ${file} cannot be used: ${reason}`, { cause: error });
}

/**
 * Loads `node:sqlite` without its ExperimentalWarning, which would open the output of every command line. The warning
 * is emitted while the module loads, so it is suppressed only for that moment.
 */
function loadSqlite(): Pick<typeof Sqlite, 'DatabaseSync'> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- put back as it was, never called unbound
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
