/**
 * The composition root of a worker process: workflow code, activities, projector and sweep around one Temporal worker.
 * Owns the resources that it opens and closes them in reverse order; resources that are passed in stay the caller's.
 */

import { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { connectClient, temporalSettings } from '../client/temporal/connection.js';
import { ownIdentity, presenceIdOf } from '../client/workers/identity.js';
import { recordedTurnOf } from '../core/what-if/recorded.js';
import type { Agent } from '../define/define-agent.js';
import { type Logger, SILENT_LOGGER } from '../define/tool/context.js';
import { createOfferNotifier, DefinitionWatch } from '../projection/duties/definition-watch.js';
import { createIsOrphanedRun } from '../projection/duties/deletions.js';
import { createHousekeeping } from '../projection/duties/housekeeping.js';
import { createLeaseLostNotifier, LeaseWatch } from '../projection/duties/lease-watch.js';
import { TroubleWatch } from '../projection/duties/trouble-watch.js';
import { forkState, isForkInput } from '../projection/forks/fork-state.js';
import { definitionKeeper } from '../projection/model-calls/definitions.js';
import { LossWatch } from '../projection/projector/loss-watch.js';
import { Projector } from '../projection/projector/projector.js';
import { StartupCheck } from '../projection/projector/startup-check.js';
import { Sweep } from '../projection/projector/sweep.js';
import { restoreState } from '../projection/reading/reopening.js';
import { ShownSlices } from '../projection/reading/shown-slices.js';
import {
  fetchStates,
  fetchTranscript,
  TranscriptChunks,
} from '../projection/reading/transcript-chunks.js';
import { wholeLog } from '../projection/reading/whole-log.js';
import { createEventSource } from '../projection/source/event-source.js';
import { HistoryProbe } from '../projection/source/history-probe.js';
import type { OpenLog } from '../projection/source/open-log.js';
import { openEventLog } from '../projection/source/open-log.js';
import { createFindCompletion, type FindCompletion } from '../projection/source/task-commit.js';
import type { WorkflowSource } from '../projection/source/workflow-source.js';
import { createWorkflowSource } from '../projection/source/workflow-source.js';
import { STICKY_TIMEOUT_MS } from '../protocol/limits/service-limits.js';
import { DEFAULT_TASK_QUEUE } from '../protocol/workflow/messaging.js';
import { servedAgent, servedManifests } from '../tools/definition/served.js';
import type { McpServers } from '../tools/mcp/servers.js';
import { type StartedPlugins, startPlugins } from '../tools/plugins/lifecycle.js';
import { withSubAgents } from '../tools/registry.js';
import { Scopes } from '../tools/scope/scopes.js';
import { createChildConversations } from './child-conversations.js';
import { withSlots } from './load/slots.js';
import type { ColloquyWorkerOptions } from './options.js';
import { retentionMs } from './options.js';
import { withQueryGuard } from './sdk-workarounds/query-guard.js';
import { createIsSettled } from './sdk-workarounds/settled.js';
import { createWatchedWorker } from './sdk-workarounds/worker-without-vm-timeout.js';
import { checkSettings } from './settings.js';
import { workflowSinks } from './sinks.js';
import { workerPorts } from './spaces/ports.js';
import { withShownCalls, workerSpaces } from './spaces/worker-spaces.js';
import { workflowCode } from './temporal/bundle.js';
import { connectNative } from './temporal/connection.js';
import { requireSearchAttributes } from './temporal/search-attributes.js';
import { codecsOf, commonOptions, deploymentOptions } from './temporal-options.js';
import { countedLog, runtimeCounters } from './watch/event-metrics.js';
import { WorkerHealth } from './watch/health.js';
import { measureModels } from './watch/model-metrics.js';
import { countTroubles } from './watch/trouble-metrics.js';
import { readinessOfWorker, serverWatch, storeWatch } from './watch/watches.js';
import { workerMcp } from './worker-mcp.js';
import { workerTriggers } from './worker-triggers.js';
import { workerWebhooks } from './worker-webhooks.js';

export interface ColloquyWorker {
  /**
   * The Temporal worker, for inspection and tuning. Start it with `run()` of this object: its own `run()` does not see
   * `WorkflowStuck`, and runs neither the sweep nor the shutdown.
   */
  readonly worker: Worker;
  /**
   * Resolves after `shutdown()` has drained everything, at once if that was called before; rejects when the worker
   * fails.
   * @throws {WorkflowStuck} when workflow code does not yield. The process must then exit, because one of its threads
   * never will.
   */
  run(): Promise<void>;
  /** Ends `run()`, a later one too. Safe to repeat. */
  shutdown(): void;
  /** Where `/healthz` and `/readyz` are served; undefined without the option `health`. */
  readonly healthUrl: string | undefined;
}

/**
 * Connects and creates a worker that serves the given agents.
 * @throws {TemporalUnreachable} {MissingSearchAttributes} {StoreUnavailable} {PluginFailed} {ProbePortUnavailable}
 * @throws {TypeError} that names an invalid setting.
 */
export async function createColloquyWorker<Services>(
  given: ColloquyWorkerOptions<Services>,
): Promise<ColloquyWorker> {
  checkSettings(given);
  const options = { ...given, agents: withSubAgents(given.agents) };
  const logger = options.logger ?? SILENT_LOGGER;
  const settings = options.temporal ?? temporalSettings();
  const policy = { retryForMs: options.retryForMs ?? 0, logger };
  const closers: (() => Promise<void>)[] = [];
  try {
    const health = await WorkerHealth.open(options.health);
    closers.push(() => health.close());
    const opened = await openEventLog(options.eventLog, {
      blobs: options.blobs,
      logger,
      retryForMs: options.retryForMs,
    });
    closers.push(() => opened.close());
    const codecs = codecsOf(options);
    const client = await connectClient(settings, policy, codecs);
    closers.push(() => client.connection.close());
    if (options.searchAttributes !== false) await requireSearchAttributes(client);
    const connection = await connectNative(settings, policy);
    closers.push(() => connection.close());
    const { services, secrets } = options;
    const scopes = new Scopes({ services, secrets, logger });
    const deps = { services: scopes.shared() as never, ports: workerPorts(opened), logger };
    const plugins = await startPlugins(served(options), deps);
    closers.push(() => plugins.dispose());
    const manifests = servedManifests(options.agents, options.catalog);
    await opened.log.publishAgents(manifests);
    const { namespace, address } = settings;
    const storeId = await opened.log.storeId();
    const parts = {
      ...{ client, connection, plugins, scopes, logger },
      opened: withShownCalls(opened, manifests, logger),
      ...{ namespace, codecs, storeId, address, health },
      tools: new Set(manifests.flatMap((each) => each.tools.map(({ name }) => name))),
    };
    return await assemble(options, parts);
  } catch (error) {
    for (const close of closers.reverse()) await close().catch(() => undefined);
    throw error;
  }
}

/** The agents of the worker, and the template of those of its catalog. */
function served<Services>({
  agents,
  catalog,
}: Pick<ColloquyWorkerOptions<Services>, 'agents' | 'catalog'>): readonly Agent<Services>[] {
  return catalog === undefined ? agents : [...agents, catalog.template];
}

type Activities = ReturnType<typeof createActivities>;

interface Parts {
  readonly client: Client;
  readonly connection: NativeConnection;
  readonly opened: OpenLog;
  readonly plugins: StartedPlugins;
  readonly scopes: Scopes;
  readonly logger: Logger;
  readonly namespace: string;
  readonly codecs: readonly PayloadCodec[];
  /** Names of the tools of all agents. */
  readonly tools: ReadonlySet<string>;
  readonly storeId: string;
  /** Address of the Temporal server. */
  readonly address: string;
  readonly health: WorkerHealth;
}

async function assemble<Services>(
  options: ColloquyWorkerOptions<Services>,
  parts: Parts,
): Promise<ColloquyWorker> {
  const { logger, health } = parts;
  const { tuning, taskQueue = DEFAULT_TASK_QUEUE, sdkGuards = false } = options;
  const { identity, id } = identitiesOf(tuning?.identity ?? ownIdentity(parts.storeId));
  const stores = storeWatch(parts, taskQueue);
  const watches = [stores, ...(await watchesOf(options, parts))];
  const history = readsHistory(parts, identity);
  const read = readsRuns(parts, taskQueue, history.findCompletion);
  const { projector } = read;
  const sweep = sweepOf(options, parts, { ...read, holder: id });
  const startupCheck = new StartupCheck({ ...read, log: parts.opened.log, logger });
  const waits = waitsOf(options, parts, { id, check: () => startupCheck.run() });
  const common = commonOptions(options, parts, identity);
  const runTool: Activities['runTool'] = (input) => activities.runTool(input);
  const create = (ownQueue: string): Promise<Worker> =>
    Worker.create({ ...common, taskQueue: ownQueue, activities: { runTool } });
  const servers = workerMcp({ ...parts, apiUrls: options.apiUrls, taskQueue, create });
  const activities: Activities = activitiesOf(options, parts, { ...servers, ...read });
  const { worker, stuck } = await createWatchedWorker(
    {
      ...common,
      taskQueue,
      activities: { ...activities },
      sinks: workflowSinks({ ...read, stores }),
      stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
      ...deploymentOptions(options),
      ...withSlots(tuning),
      workflowBundle: tuning?.workflowBundle ?? (await workflowCode({ logger, sdkGuards })),
      identity,
      dataConverter: common.dataConverter,
    },
    { over: (creator) => withQueryGuard(creator, history.isSettled), sdkGuards },
  );
  let isShutDown = false;
  const close = async (): Promise<void> => {
    await servers.close();
    // Together: during an outage each waits for the deadline of a request.
    await Promise.all([startupCheck, sweep, ...watches, ...waits].map((each) => each.stop()));
    await projector.drain();
    await closeAll(parts);
  };
  return {
    worker,
    healthUrl: health.url,
    run: async () => {
      if (isShutDown) return await endUnstarted(worker).finally(close);
      health.runs(readinessOfWorker(worker, parts));
      void startupCheck.run();
      for (const each of [sweep, ...waits, ...watches]) each.start();
      // With a stuck workflow nothing can be closed in order: shutdown would wait for steps that may never end.
      await Promise.race([worker.run().finally(close), stuck]);
    },
    shutdown: () => {
      isShutDown = true;
      health.drains();
      void stopAfter(projector, worker);
    },
  };
}

/** The name of a worker in requests to Temporal, and its id among the workers of the store. */
function identitiesOf(identity: string): { readonly identity: string; readonly id: string } {
  return { identity, id: presenceIdOf(identity) };
}

/** The watches that need no other part of this worker: of the server, of webhooks and of agents of spaces. */
async function watchesOf<Services>(options: ColloquyWorkerOptions<Services>, parts: Parts) {
  const { taskQueue = DEFAULT_TASK_QUEUE, pageUrl } = options;
  const searchAttributes = options.searchAttributes !== false;
  return [
    serverWatch(parts),
    ...(await workerWebhooks(options.webhooks, parts)),
    ...workerSpaces({ ...parts, taskQueue, searchAttributes, pageUrl }),
  ];
}

/** The projector queries workflows; once this worker has stopped, no worker may be left to answer. */
async function stopAfter(projector: Projector, worker: Worker): Promise<void> {
  await projector.drain().finally(() => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  });
}

/** A worker that never runs would keep its connection. */
async function endUnstarted(worker: Worker): Promise<void> {
  const ended = worker.run();
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await ended;
}

async function closeAll(parts: Parts): Promise<void> {
  const { opened, plugins, scopes, connection, client, health } = parts;
  await plugins.dispose();
  await scopes.close();
  await opened.close();
  await connection.close();
  await client.connection.close();
  await health.close();
}

/** The readers of workflows. */
function readsRuns(
  { client, opened, logger, tools }: Parts,
  taskQueue: string,
  findCompletion: FindCompletion,
) {
  const runs = createWorkflowSource(client, { taskQueue });
  const source = createEventSource(runs, findCompletion);
  const { live } = opened;
  const log = countedLog(opened.log, runtimeCounters(), tools);
  return {
    source,
    projector: new Projector({ live, source, logger, log }),
    slices: new ShownSlices(),
  };
}

/** The watches of waiting calls: of changed tools, of leases of claims, and of lost workers. */
function waitsOf<Services>(
  options: ColloquyWorkerOptions<Services>,
  { client, opened: { log }, logger }: Parts,
  { id, check }: { readonly id: string; readonly check: () => Promise<unknown> },
): readonly (LeaseWatch | DefinitionWatch | LossWatch)[] {
  const agents = served(options).map((agent) => servedAgent(agent));
  return [
    new DefinitionWatch({ log, agents, notify: createOfferNotifier(client), id, logger }),
    new LeaseWatch({ log, notify: createLeaseLostNotifier(client), logger }),
    new LossWatch({ log, id, check }),
  ];
}

function sweepOf<Services>(
  options: ColloquyWorkerOptions<Services>,
  parts: Parts,
  own: {
    readonly source: WorkflowSource;
    readonly projector: Projector;
    readonly holder: string;
  },
): Sweep {
  const { logger } = parts;
  const { log } = parts.opened;
  const troubles = new TroubleWatch({ log, logger, count: countTroubles() });
  return new Sweep({
    ...own,
    ...{ log, logger, troubles },
    afterPass: keeping(options, parts),
  });
}

/**
 * History reads are among the most frequent calls of a worker; on the native connection they cost its main thread half.
 */
function readsHistory({ connection, namespace, logger }: Parts, identity: string) {
  const looking = new HistoryProbe(new Client({ connection, namespace }), logger);
  return {
    findCompletion: createFindCompletion(looking, { identity }),
    isSettled: createIsSettled(looking, { identity }),
  };
}

/** The work of the worker that leads the sweep after each pass. */
function keeping<Services>(
  options: ColloquyWorkerOptions<Services>,
  { client, opened, logger }: Parts,
): (isStopping: () => boolean) => Promise<void> {
  const housekeeping = createHousekeeping({
    client,
    opened,
    logger,
    taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
    closedAfterMs: retentionMs(options.retention),
  });
  return async (isStopping) => {
    await housekeeping.pass(isStopping);
  };
}

function activitiesOf<Services>(
  options: ColloquyWorkerOptions<Services>,
  { client, opened, scopes, logger }: Parts,
  served: ReturnType<typeof readsRuns> & { readonly mcp: McpServers },
): Activities {
  const { projector, source, slices, mcp } = served;
  const { log, live, blobs, documents } = opened;
  const { agents, catalog, taskQueue = DEFAULT_TASK_QUEUE } = options;
  return createActivities({
    ...{ agents, catalog },
    measure: measureModels(),
    services: options.services,
    scopes,
    mcp,
    logger,
    children: createChildConversations(client, {
      taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
      searchAttributes: options.searchAttributes !== false,
      pageUrl: options.pageUrl,
    }),
    flush: (key, throughSeq) => projector.flush(key, throughSeq),
    restoreState: async (input, signal) =>
      isForkInput(input)
        ? await forkState({ log, blobs, signal }, input)
        : await restoreState({ log, live, source }, input),
    recordedTurn: (input) => recordedTurnOf(wholeLog(log, input, input.generation), input),
    apiUrls: options.apiUrls,
    publish: (key, event) => {
      live.publish({ type: 'live', ...key, event });
    },
    repeat: (key, event) => {
      live.publish({ type: 'so_far', ...key, event });
    },
    onJoin: (key, listener) => live.onJoin(key, listener),
    ports: workerPorts(opened),
    triggers: workerTriggers({ client, agents, catalog, taskQueue }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(documents === undefined ? {} : { keepDefinition: definitionKeeper(documents, { logger }) }),
    ...(options.audit === undefined || options.audit === 'off' ? {} : { audit: options.audit }),
    isOrphanedRun: createIsOrphanedRun(log),
    chunks: new TranscriptChunks({ blobs, log, logger }),
    fetchTranscript: async (run, query) =>
      slices.take(run, query) ?? (await fetchTranscript(client, run, query)),
    fetchStates: (run) => fetchStates(client, run),
    ...(options.transcriptCacheBytes === undefined
      ? {}
      : { transcriptCacheBytes: options.transcriptCacheBytes }),
    watched: (key) => live.watched(key)?.live === true,
  });
}
