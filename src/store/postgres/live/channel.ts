/** The live channel over LISTEN and NOTIFY: between processes that share a Postgres event log. */
import { createLiveChannel } from '../../live/channel.js';
import type { LiveChannel } from '../../ports/live.js';
import { PostgresBus } from './bus.js';

export interface PostgresLiveOptions {
  /**
   * The same database as the log's. Not through a pooler that hands connections on by transaction: those lose
   * listeners.
   */
  readonly url: string;
  /**
   * The same as the log's; processes with another one do not receive each other's messages. @defaultValue 'colloquy'
   */
  readonly schema?: string;
}

/** Opens the channel. Never fails: without a server it works inside this process, and tries to connect again. */
export function openPostgresLiveChannel({
  url,
  schema = 'colloquy',
}: PostgresLiveOptions): LiveChannel {
  return createLiveChannel((events) => new PostgresBus({ url, schema }, events));
}
