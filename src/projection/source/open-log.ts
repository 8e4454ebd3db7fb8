/** Opens the event log and its live channel together: one file, a Postgres database, or adapters of the application. */

import { openFolderBlobStore } from '../../store/folder/blobs.js';
import { openLiveChannel } from '../../store/live/sockets.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { openSqliteStores } from '../../store/sqlite/event-log.js';
import type { ProjectionLogger } from './outages.js';

/** A Postgres database with options besides its address. */
export interface PostgresChoice {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Holds the tables; the same in every process. @defaultValue 'colloquy' */
  readonly schema?: string;
  /** Maximum of connections of this process, besides one for live events. @defaultValue 10 */
  readonly maxConnections?: number;
}

/**
 * A sqlite file (shared by worker and API processes of one machine), the `postgres://` address of a database (shared by
 * those of many; with `{url, schema, maxConnections}` instead of the defaults), or adapters of the application.
 */
export type EventLogChoice =
  | string
  | PostgresChoice
  | { readonly log: EventLog; readonly live: LiveChannel; readonly blobs?: BlobStore };

/**
 * The store of values that are too large for events: the database of the event log (adapters of the application may
 * have none), files of a folder, an adapter, or none: then values are cut.
 */
export type BlobChoice = 'event-log' | { readonly folder: string } | BlobStore | 'off';

export interface OpenLog {
  readonly log: EventLog;
  readonly live: LiveChannel;
  /** Absent: large values are cut. */
  readonly blobs?: BlobStore;
  /** Closes everything that was opened here; adapters of the application stay open. */
  close(): Promise<void>;
}

export interface OpenLogOptions {
  /** @defaultValue 'event-log' */
  readonly blobs?: BlobChoice | undefined;
  /** Receives a line when an upgrade of a database has to wait. @defaultValue no log */
  readonly logger?: Pick<ProjectionLogger, 'info'> | undefined;
}

/**
 * @throws {StoreUnavailable} naming the file, the folder or the database (never its password) that cannot be opened.
 * @throws {TypeError} if `url` is not an address of Postgres.
 */
export async function openEventLog(
  choice: EventLogChoice,
  options: OpenLogOptions = {},
): Promise<OpenLog> {
  const { blobs = 'event-log', logger } = options;
  const own = await opened(choice, logger);
  try {
    if (blobs === 'event-log') return own;
    const { blobs: _inLog, ...rest } = own;
    if (blobs === 'off') return rest;
    const other = 'put' in blobs ? blobs : await openFolderBlobStore(blobs);
    return { ...rest, blobs: other };
  } catch (error) {
    await own.close();
    throw error;
  }
}

async function opened(choice: EventLogChoice, logger: OpenLogOptions['logger']): Promise<OpenLog> {
  if (typeof choice !== 'string' && 'log' in choice)
    return { ...choice, close: () => Promise.resolve() };
  const { log, live, blobs } = await openedBy(choice, logger);
  return {
    log,
    live,
    blobs,
    close: async () => {
      await live.close();
      await log.close();
    },
  };
}

type Opened = Required<Pick<OpenLog, 'log' | 'live' | 'blobs'>>;

async function openedBy(
  choice: string | PostgresChoice,
  logger: OpenLogOptions['logger'],
): Promise<Opened> {
  if (typeof choice === 'string')
    return await (isPostgres(choice) ? openPostgres({ url: choice, logger }) : openSqlite(choice));
  if (isPostgres(choice.url)) return await openPostgres({ ...choice, logger });
  throw new TypeError('eventLog: url must be a postgres:// address; a file is given as a string');
}

async function openSqlite(file: string): Promise<Opened> {
  return { ...(await openSqliteStores({ file })), live: openLiveChannel({ file }) };
}

/** Loads the driver only if it is used. */
async function openPostgres(
  options: PostgresChoice & Pick<OpenLogOptions, 'logger'>,
): Promise<Opened> {
  const { openPostgresStores } = await import('../../store/postgres/event-log.js');
  const { openPostgresLiveChannel } = await import('../../store/postgres/live/channel.js');
  return { ...(await openPostgresStores(options)), live: openPostgresLiveChannel(options) };
}

function isPostgres(choice: string): boolean {
  return /^postgres(ql)?:\/\//.test(choice);
}
