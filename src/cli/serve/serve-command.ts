/** `colloquy serve`: the HTTP API over one event log and one Temporal namespace. */
import { mkdir } from 'node:fs/promises';
import { ConversationClient } from '../../client/conversation-client.js';
import { CompressionCodec } from '../../client/payloads/payload-codec.js';
import { ownIdentity } from '../../client/workers/identity.js';
import { createApp } from '../../http/app.js';
import { hostProblem, serve } from '../../http/listen.js';
import { clientOptionsFrom } from '../../projection/client-options.js';
import { StoreWatch } from '../../projection/duties/store-watch.js';
import { TroubleWatch } from '../../projection/duties/trouble-watch.js';
import { openEventLog } from '../../projection/source/open-log.js';
import { startWatchdog } from '../../watchdog/watchdog.js';
import { connectClient, temporalSettings } from '../../worker/temporal/connection.js';
import { ConfigError, readConfig } from '../process/config.js';
import { createPino, loggerOf } from '../process/logging.js';
import { announceReady, exitNow, onStop } from '../process/process-life.js';

export interface ServeFlags {
  readonly data?: string;
  readonly port?: string;
  readonly host?: string;
  /** Names under which the API may be reached besides those of this machine, separated by commas. */
  readonly allowedHosts?: string;
  /** Seconds to keep trying to reach Temporal; 0 = one try. */
  readonly retry: number;
}

export async function runServe(flags: ServeFlags): Promise<void> {
  const config = readConfig(process.env, flags);
  // Checked before the wait for a server, which would not make it right.
  const problem = hostProblem(config.host);
  if (problem !== undefined) throw new ConfigError(problem);
  const log = createPino(config, 'colloquy-api');
  const watchdog = startWatchdog({ name: 'colloquy-api', level: config.logLevel });
  const settings = temporalSettings();
  const codecs = [new CompressionCodec({ writes: config.compression })];
  const logger = loggerOf(log);
  await mkdir(config.dataDir, { recursive: true });
  const opened = await openEventLog(config.eventLog, { blobs: config.blobs, logger });
  const storeId = await opened.log.storeId();
  const policy = { retryForMs: flags.retry * 1_000, logger, identity: ownIdentity(storeId) };
  const temporal = await connectClient(settings, policy, codecs);
  const fromLog = clientOptionsFrom(opened, temporal);
  // The agents are known from here on, even if the store becomes unavailable.
  await fromLog.agents();
  const troubles = new TroubleWatch({ log: opened.log, logger });
  const client = new ConversationClient({
    ...fromLog,
    onTrouble: (key, trouble) => void troubles.found(key, trouble),
    taskQueue: config.taskQueue,
    channel: 'api',
    searchAttributes: config.searchAttributes,
    patience: config.patience,
  });
  const app = createApp({
    client,
    reader: fromLog.reader,
    conversations: opened.log,
    log,
    allowedHosts: config.allowedHosts,
    codec: { codecs, origins: config.uiOrigins },
  });
  const server = await serve(app, { port: config.port, host: config.host });
  const stopped = new Promise<void>((resolve) => {
    onStop(resolve);
  });
  const stores = new StoreWatch({ storeId, check: () => client.workersElsewhere(), logger });
  stores.start();
  announceReady(`api     ${server.url}  pid ${process.pid}  (no auth configured: loopback only)`);
  await stopped;
  await stores.stop();
  await server.close();
  await opened.close();
  await watchdog.stop();
  exitNow();
}
