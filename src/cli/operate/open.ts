/** Opens Temporal and the event log for operators' commands, with the settings of worker and API. */
import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { CompressionCodec } from '../../client/payloads/payload-codec.js';
import { connectClient, temporalSettings } from '../../client/temporal/connection.js';
import { type OpenLog, openEventLog } from '../../projection/source/open-log.js';
import { makeDataFolder } from '../data/data-folder.js';
import { type Config, ConfigError } from '../process/config.js';
import { createPino, loggerOf } from '../process/logging.js';

/** @param retry Seconds to keep trying to reach it; 0 = one try. @throws {TemporalUnreachable} */
export async function openTemporal(config: Config, retry: number): Promise<Client> {
  const logger = loggerOf(createPino(config, 'colloquy-operate'));
  const codecs = [new CompressionCodec({ writes: config.compression })];
  return await connectClient(temporalSettings(), { retryForMs: retry * 1_000, logger }, codecs);
}

/**
 * Opens an event log that exists: in a wrong folder an empty one would be created, and a deletion would remove the runs
 * without their log.
 * @param retry Seconds to keep trying to reach Postgres; 0 = one try.
 * @throws {ConfigError} when there is none @throws {StoreUnavailable}
 */
export async function openExistingLog(config: Config, retry: number): Promise<OpenLog> {
  requireEventLog(config);
  return await openLog(config, retry);
}

/**
 * Opens the event log, and makes it where there is none, as worker and API do; a line on stderr then names the place.
 * @param retry as above @throws {ConfigError} when it cannot be made @throws {StoreUnavailable}
 */
export async function openOrMakeLog(config: Config, retry: number): Promise<OpenLog> {
  const { eventLog } = config;
  await makeDataFolder(config);
  if (!isPostgres(eventLog) && !existsSync(eventLog))
    process.stderr.write(`colloquy: made a new event log, ${eventLog}\n`);
  return await openLog(config, retry);
}

async function openLog(config: Config, retry: number): Promise<OpenLog> {
  const logger = loggerOf(createPino(config, 'colloquy-operate'));
  const { blobs } = config;
  return await openEventLog(config.eventLog, { blobs, logger, retryForMs: retry * 1_000 });
}

function isPostgres(eventLog: string): boolean {
  return /^postgres(ql)?:/.test(eventLog);
}

/** @throws {ConfigError} when there is no event log at that place */
export function requireEventLog({ eventLog }: Config): void {
  if (!isPostgres(eventLog) && !existsSync(eventLog))
    throw new ConfigError(
      `No event log at ${eventLog}; nothing was done. Say where it is: --data or COLLOQUY_DATA, or COLLOQUY_DATABASE_URL`,
    );
}
