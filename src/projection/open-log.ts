/** Opens the event log and its live channel together: one file, or adapters that the application brings. */

import type { LiveChannel } from '../store/live-port.js';
import { openLiveChannel } from '../store/live-sockets.js';
import type { EventLog } from '../store/port.js';
import { openSqliteEventLog } from '../store/sqlite.js';

/** A sqlite file (shared by worker and API processes of one machine), or adapters of one's own. */
export type EventLogChoice = string | { readonly log: EventLog; readonly live: LiveChannel };

export interface OpenLog {
  readonly log: EventLog;
  readonly live: LiveChannel;
  /** Closes what was opened here; adapters that were given stay open. */
  close(): Promise<void>;
}

/** @throws {StoreUnavailable} naming the file that cannot be opened. */
export async function openEventLog(choice: EventLogChoice): Promise<OpenLog> {
  if (typeof choice !== 'string') return { ...choice, close: () => Promise.resolve() };
  const log = await openSqliteEventLog({ file: choice });
  const live = openLiveChannel({ file: choice });
  return {
    log,
    live,
    close: async () => {
      await live.close();
      await log.close();
    },
  };
}
