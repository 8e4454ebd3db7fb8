/** `colloquy worker`: serves the agents of a module until it is stopped. */
import { temporalSettings } from '../../client/temporal/connection.js';
import { Services } from '../../define/services/container.js';
import { startWatchdog } from '../../watchdog/watchdog.js';
import { createColloquyWorker } from '../../worker/create-worker.js';
import type { ColloquyWorkerOptions } from '../../worker/options.js';
import { makeDataFolder } from '../data/data-folder.js';
import { loadAgents } from '../process/agents-module.js';
import { type Config, readConfig } from '../process/config.js';
import { createPino, installRuntime, loggerOf, stderrStyle } from '../process/logging.js';
import { announceReady, endWhileStarting, exitNow, onStop } from '../process/process-life.js';

export interface WorkerFlags {
  readonly agents: string;
  readonly data?: string;
  /** Seconds to keep trying to reach Temporal; 0 = one try. */
  readonly retry: number;
  /** Seconds that running calls get at SIGTERM. */
  readonly drain: number;
}

export async function runWorker(flags: WorkerFlags): Promise<void> {
  const config = readConfig(process.env, flags);
  endWhileStarting();
  const log = createPino(config, 'colloquy-worker');
  installRuntime(log, config.metrics);
  const watchdog = startWatchdog({
    name: 'colloquy-worker',
    level: config.logLevel,
    style: stderrStyle(config),
  });
  const { agents, catalog, services, secrets } = await loadAgents(flags.agents);
  await makeDataFolder(config);
  const temporal = temporalSettings();
  const worker = await createColloquyWorker({
    ...workerOptions(config, flags),
    ...{ agents, catalog, services, secrets, temporal },
    logger: loggerOf(log),
  });
  onStop(() => {
    log.info('draining');
    worker.shutdown();
  });
  const stored = catalog === undefined ? [] : [`catalog ${catalog.template.name}`];
  const names = [...agents.map((agent) => agent.name), ...stored].join(', ');
  const health = worker.healthUrl === undefined ? '' : `  health ${worker.healthUrl}`;
  announceReady(
    `worker  pid ${process.pid}  queue ${config.taskQueue}  agents ${names}  temporal ${temporal.address}${health}`,
  );
  await worker.run();
  if (services instanceof Services)
    await services.dispose().catch((error: unknown) => {
      log.error({ err: error }, 'services not disposed of');
    });
  await watchdog.stop();
  exitNow();
}

/** The options of the worker that the settings and flags decide. */
export function workerOptions(
  config: Config,
  { retry, drain }: Pick<WorkerFlags, 'retry' | 'drain'>,
): Omit<ColloquyWorkerOptions<unknown>, 'agents' | 'services'> {
  return {
    eventLog: config.eventLog,
    blobs: config.blobs,
    ...(config.closedAfter === undefined ? {} : { retention: { closedAfter: config.closedAfter } }),
    taskQueue: config.taskQueue,
    searchAttributes: config.searchAttributes,
    pageUrl: config.pageUrl,
    apiUrls: config.apiUrls,
    compression: config.compression,
    audit: config.audit,
    sdkGuards: config.sdkGuards,
    retryForMs: retry * 1_000,
    shutdownGraceMs: drain * 1_000,
    health: config.health,
    webhooks: config.webhooks,
    // This command handles the signals, so that the projector drains after the worker.
    tuning: { maxCachedWorkflows: config.cachedRuns },
  };
}
