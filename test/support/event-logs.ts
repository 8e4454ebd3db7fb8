/** Event logs without their blobs. */
import {
  openPostgresStores,
  type PostgresEventLogOptions,
} from '../../src/store/postgres/event-log.js';
import { openSqliteStores, type SqliteEventLogOptions } from '../../src/store/sqlite/event-log.js';

export async function openSqliteEventLog(options: SqliteEventLogOptions) {
  return (await openSqliteStores(options)).log;
}

export async function openPostgresEventLog(options: PostgresEventLogOptions) {
  return (await openPostgresStores(options)).log;
}
