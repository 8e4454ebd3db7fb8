/** Opens the event log and its live channel together: one file, a Postgres database, or adapters that the application brings. */

import type { LiveChannel } from '../store/live-port.js';
import { openLiveChannel } from '../store/live-sockets.js';
import type { EventLog } from '../store/port.js';
import { openSqliteEventLog } from '../store/sqlite.js';

/**
 * A sqlite file (shared by worker and API processes of one machine), the `postgres://` address of a database (shared by those
 * of many), or adapters of one's own.
 */
export type EventLogChoice = string | { readonly log: EventLog; readonly live: LiveChannel };

export interface OpenLog {
  readonly log: EventLog;
  readonly live: LiveChannel;
  /** Closes what was opened here; adapters that were given stay open. */
  close(): Promise<void>;
}

/** @throws {StoreUnavailable} naming the file or the database (never its password) that cannot be opened. */
export async function openEventLog(choice: EventLogChoice): Promise<OpenLog> {
  if (typeof choice !== 'string') return { ...choice, close: () => Promise.resolve() };
  const { log, live } = isPostgres(choice) ? await openPostgres(choice) : await openSqlite(choice);
  return {
    log,
    live,
    close: async () => {
      await live.close();
      await log.close();
    },
  };
}

type Opened = Pick<OpenLog, 'log' | 'live'>;

async function openSqlite(file: string): Promise<Opened> {
  return { log: await openSqliteEventLog({ file }), live: openLiveChannel({ file }) };
}

/** The driver is loaded only where it is used. */
async function openPostgres(url: string): Promise<Opened> {
  const { openPostgresEventLog } = await import('../store/postgres.js');
  const { openPostgresLiveChannel } = await import('../store/live-postgres.js');
  return { log: await openPostgresEventLog({ url }), live: openPostgresLiveChannel({ url }) };
}

function isPostgres(choice: string): boolean {
  return /^postgres(ql)?:\/\//.test(choice);
}
