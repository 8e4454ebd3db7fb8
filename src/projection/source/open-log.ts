/** Opens the event log and its live channel together: one file, a Postgres database, or adapters of the application. */

import { setTimeout as delay } from 'node:timers/promises';
import { openFolderBlobStore } from '../../store/folder/blobs.js';
import { openLiveChannel } from '../../store/live/sockets.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import type { DocumentStore } from '../../store/ports/documents/documents.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { StoreUnavailable } from '../../store/ports/log.js';
import type { SpaceStore } from '../../store/ports/spaces/spaces.js';
import type { WebhookStore } from '../../store/ports/webhooks.js';
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
  | {
      readonly log: EventLog;
      readonly live: LiveChannel;
      readonly blobs?: BlobStore;
      readonly webhooks?: WebhookStore;
      readonly spaces?: SpaceStore;
      readonly documents?: DocumentStore;
    };

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
  /** Absent: adapters of the application that send no webhooks. */
  readonly webhooks?: WebhookStore;
  /** Absent: adapters of the application that have no spaces. */
  readonly spaces?: SpaceStore;
  /** Absent: adapters of the application that keep no documents. */
  readonly documents?: DocumentStore;
  /** Closes everything that was opened here; adapters of the application stay open. */
  close(): Promise<void>;
}

export interface OpenLogOptions {
  /** @defaultValue 'event-log' */
  readonly blobs?: BlobChoice | undefined;
  /** Receives a line when a database does not answer yet, or its upgrade has to wait. @defaultValue no log */
  readonly logger?: ProjectionLogger | undefined;
  /** Milliseconds for which a database that does not answer is tried again. @defaultValue 0: one try */
  readonly retryForMs?: number | undefined;
}

/**
 * @throws {StoreUnavailable} naming the file, the folder or the database (never its password) that cannot be opened.
 * @throws {TypeError} if `url` is not an address of Postgres, or a text is an address of anything else.
 */
export async function openEventLog(
  choice: EventLogChoice,
  options: OpenLogOptions = {},
): Promise<OpenLog> {
  const { blobs = 'event-log' } = options;
  const own = await onceItAnswers(options, () => opened(choice, options.logger));
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

const PAUSE_MS = 1_000;
/** The server is not there yet, or is about to take connections (57P03). Other refusals would come again. */
const NOT_YET: readonly unknown[] = [
  ...['EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
  ...['ETIMEDOUT', '57P03'],
];

async function onceItAnswers<Value>(
  { retryForMs = 0, logger }: OpenLogOptions,
  open: () => Promise<Value>,
): Promise<Value> {
  const giveUpAt = Date.now() + retryForMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      const left = giveUpAt - Date.now();
      if (left <= 0 || !isNotYet(error)) throw error;
      if (attempt === 1) logger?.warn(`${(error as Error).message}. Trying again…`);
      await delay(Math.min(left, PAUSE_MS));
    }
  }
}

function isNotYet(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && NOT_YET.includes(cause.code);
}

async function opened(choice: EventLogChoice, logger: OpenLogOptions['logger']): Promise<OpenLog> {
  if (typeof choice !== 'string' && 'log' in choice)
    return { ...choice, close: () => Promise.resolve() };
  const { log, live, blobs, webhooks, spaces, documents } = await openedBy(choice, logger);
  return {
    ...{ log, live, blobs, webhooks, spaces, documents },
    close: async () => {
      await live.close();
      await log.close();
    },
  };
}

/** One letter and a colon are a drive of Windows. */
const SCHEME = /^[a-z][a-z\d+.-]+:/i;

type Opened = Required<Omit<OpenLog, 'close'>>;

async function openedBy(
  choice: string | PostgresChoice,
  logger: OpenLogOptions['logger'],
): Promise<Opened> {
  if (typeof choice === 'string') {
    if (isPostgres(choice)) return await openPostgres({ url: choice, logger });
    const scheme = SCHEME.exec(choice)?.[0];
    if (scheme === undefined) return await openSqlite(choice);
    throw new TypeError(
      `The event log (eventLog, or store of openColloquy) must be a postgres:// address or a sqlite file, got an address with ${scheme}`,
    );
  }
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
