/** `colloquy serve`: the HTTP API over one event log and one Temporal namespace. */
import type { Logger } from '../../define/tool/context.js';
import { openColloquy } from '../../engine/open-colloquy.js';
import type { OpenedColloquy } from '../../engine/options.js';
import { hostProblem, serve } from '../../http/listen.js';
import { ApiMetrics } from '../../http/metrics/api-metrics.js';
import { type ProbeAddress, type ProbeServer, serveProbes } from '../../net/probe-server.js';
import { startWatchdog } from '../../watchdog/watchdog.js';
import { makeDataFolder } from '../data/data-folder.js';
import { type Config, ConfigError, readConfig } from '../process/config.js';
import { killRequest } from '../process/kill-request.js';
import { createPino, loggerOf, stderrStyle } from '../process/logging.js';
import { announceReady, endWhileStarting, exitNow, onStop } from '../process/process-life.js';
import { configuredIdentity, isDevelopment } from './identity.js';
import { configuredFiles } from './provider-files.js';
import { configuredRoutes } from './routes.js';

export interface ServeFlags {
  readonly data?: string;
  readonly port?: string;
  readonly host?: string;
  /** Names under which the API may be reached besides those of this machine, separated by commas. */
  readonly allowedHosts?: string;
  /** Module with routes of the application. */
  readonly routes?: string;
  /** Module that knows the owners of files at the provider of the models. */
  readonly providerFiles?: string;
  /** Seconds to keep trying to reach Temporal and Postgres; 0 = one try. */
  readonly retry: number;
  /** Seconds in which the API, once it is to stop, serves on and says that it is not ready. */
  readonly drain: number;
}

export async function runServe(flags: ServeFlags): Promise<void> {
  const config = readConfig(process.env, flags);
  endWhileStarting();
  // Checked before the wait for a server, which would not make it right.
  const problem = isDevelopment(config) ? hostProblem(config.host) : undefined;
  if (problem !== undefined) throw new ConfigError(problem);
  const files = await configuredFiles(config);
  const routes = await configuredRoutes(config);
  const log = createPino(config, 'colloquy-api');
  const watchdog = startWatchdog({
    name: 'colloquy-api',
    level: config.logLevel,
    style: stderrStyle(config),
  });
  const logger = loggerOf(log);
  await makeDataFolder(config);
  const colloquy = await opened(config, flags, logger);
  const { allowedHosts, uiOrigins, corsOrigins } = config;
  const { apiMetrics, limits } = config;
  const metrics = apiMetrics === undefined ? undefined : new ApiMetrics();
  const metricsServer = await serveMetrics(metrics, apiMetrics);
  const { schemes, notice, lines } = await configuredIdentity(config, colloquy);
  const killWorker = isDevelopment(config) ? killRequest(process.env) : undefined;
  const app = await colloquy.app({
    ...{ ...schemes, ...files },
    ...(killWorker === undefined ? {} : { killWorker }),
    ...{ log, allowedHosts, codecOrigins: uiOrigins, limits, routes, ui: config.ui },
    ...(config.temporalUi === undefined ? {} : { temporalUi: config.temporalUi }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(corsOrigins.length === 0 ? {} : { cors: { origins: corsOrigins } }),
  });
  const server = await serve(app, {
    port: config.port,
    host: config.host,
    drainMs: flags.drain * 1_000,
    ...(limits.connections === 'off' ? {} : { connectionsPerAddress: limits.connections }),
  });
  const stopped = new Promise<void>((resolve) => {
    onStop(resolve);
  });
  announceReady(`api     ${server.url}  pid ${process.pid}  (${notice})`);
  if (config.ui === 'on') process.stdout.write(`inbox   ${server.url}/ui/inbox\n`);
  for (const line of lines) process.stdout.write(`${line}\n`);
  await stopped;
  await server.close();
  await metricsServer?.close();
  await colloquy.close();
  await watchdog.stop();
  exitNow();
}

async function opened(
  config: Config,
  { retry }: ServeFlags,
  logger: Logger,
): Promise<OpenedColloquy> {
  return await openColloquy({
    store: config.eventLog,
    blobs: config.blobs,
    compression: config.compression,
    retryForMs: retry * 1_000,
    logger,
    taskQueue: config.taskQueue,
    channel: 'api',
    searchAttributes: config.searchAttributes,
    pageUrl: config.pageUrl,
    patience: config.patience,
  });
}

/** @throws {ConfigError} naming the variable when the address cannot be used */
async function serveMetrics(
  metrics: ApiMetrics | undefined,
  address: ProbeAddress | undefined,
): Promise<ProbeServer | undefined> {
  if (metrics === undefined || address === undefined) return undefined;
  const shown = async () => ({
    status: 200,
    type: metrics.contentType,
    body: await metrics.text(),
  });
  return await serveProbes({ '/metrics': shown }, address).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`COLLOQUY_API_METRICS: ${reason}`);
  });
}
