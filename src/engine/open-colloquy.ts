/**
 * Opens Temporal and the event log of an application, and makes from them what its processes need: a client, workers and
 * the HTTP API, all on the same store, task queue and tenant. `colloquy/client`, `colloquy/worker`, `colloquy/http` and
 * `colloquy/log` have the parts for applications that wire them by hand.
 */
import type { Express } from 'express';
import { ConversationClient } from '../client/conversation-client.js';
import { CompressionCodec } from '../client/payloads/payload-codec.js';
import {
  connectClient,
  TEMPORAL_FIELDS,
  type TemporalSettings,
  temporalSettings,
  wholeAddress,
} from '../client/temporal/connection.js';
import { ownIdentity } from '../client/workers/identity.js';
import { SILENT_LOGGER } from '../define/tool/context.js';
import { clientOptionsFrom } from '../projection/client-options.js';
import { StoreWatch } from '../projection/duties/store-watch.js';
import { createOperations } from '../projection/operations/operations.js';
import { type OpenLog, openEventLog } from '../projection/source/open-log.js';
import { requireKnown } from '../protocol/values/field-problem.js';
import { SpaceClient } from '../spaces/client.js';
import { MemoryClient } from '../spaces/memories.js';
import { type Spaces, spacesFrom } from '../spaces/service.js';
import type { ColloquyWorker } from '../worker/create-worker.js';
import { APP_FIELDS, OPEN_FIELDS, SERVED_FIELDS } from './known-options.js';
import type { AppOptions, OpenedColloquy, OpenOptions } from './options.js';

/**
 * Opens an application. Two processes of one application call this with the same options.
 * @throws {TypeError} when `store` is missing, or naming an option that is not known
 * @throws {TemporalSettingsInvalid} naming a variable of the environment that is wrong
 * @throws {TemporalUnreachable} naming the address that was tried
 * @throws {NamespaceUnknown} when the server does not have the namespace
 * @throws {StoreUnavailable} naming the file or database that cannot be opened
 * @example
 * const colloquy = await openColloquy({ store: 'postgres://…', actor: { id: 'nightly-job' } });
 * const turn = await colloquy.client.conversation('order-42', { agent: 'support' }).send('Where is it?');
 */
export async function openColloquy(options: OpenOptions): Promise<OpenedColloquy> {
  checkKnown(options);
  const { store, blobs, compression = true, logger = SILENT_LOGGER, retryForMs = 0 } = options;
  const { actor, channel, pageUrl, patience, searchAttributes, taskQueue, tenant } = options;
  const settings = settingsOf(options.temporal);
  const codecs = [new CompressionCodec({ writes: compression })];
  checkStore(store);
  const opened = await openEventLog(store, { blobs, logger, retryForMs });
  const { log } = opened;
  const closers = [() => opened.close()];
  try {
    const storeId = await log.storeId();
    const policy = { retryForMs, logger, identity: ownIdentity(storeId) };
    const temporal = await connectClient(settings, policy, codecs);
    closers.unshift(() => temporal.connection.close());
    const fromLog = clientOptionsFrom(opened, temporal, logger);
    // The agents are known from here on, even if the store becomes unavailable.
    await fromLog.agents();
    const client = new ConversationClient({
      ...fromLog,
      ...{ actor, channel, pageUrl, patience, searchAttributes, taskQueue, tenant },
    });
    const spaces = spacesFrom(opened, { agents: fromLog.agents, logger });
    const stores = new StoreWatch({ storeId, check: () => client.workersElsewhere(), logger });
    stores.start();
    const shared = {
      eventLog: opened,
      taskQueue,
      searchAttributes,
      pageUrl,
      compression,
      temporal: settings,
    };
    const unstarted = new Set<ColloquyWorker>();
    let closing: Promise<void> | undefined;
    const colloquy: OpenedColloquy = {
      ...{ client, temporal, log, reader: fromLog.reader },
      ...besideLog(opened, spaces, { actor, tenant }),
      worker: async (given) => {
        requireKnown('colloquy.worker', given, SERVED_FIELDS);
        const { createColloquyWorker } = await import('../worker/create-worker.js');
        const made = await createColloquyWorker({ retryForMs, logger, ...given, ...shared });
        return untilItRuns(made, unstarted);
      },
      app: (options) => appOf({ colloquy, opened, spaces, codecs, taskQueue }, options),
      close: () =>
        (closing ??= closeAll([() => endAll(unstarted), () => stores.stop(), ...closers])),
    };
    return colloquy;
  } catch (error) {
    // The reason of the failure is the one that counts.
    await closeAll(closers).catch(() => undefined);
    throw error;
  }
}

/** The worker, which leaves the set when it runs. */
function untilItRuns(worker: ColloquyWorker, unstarted: Set<ColloquyWorker>): ColloquyWorker {
  unstarted.add(worker);
  return {
    ...worker,
    run: async () => {
      unstarted.delete(worker);
      await worker.run();
    },
  };
}

/** Ends workers that never ran: their connections would keep the process alive, deaf to SIGTERM. */
async function endAll(unstarted: ReadonlySet<ColloquyWorker>): Promise<void> {
  for (const worker of unstarted) worker.shutdown();
  await Promise.all([...unstarted].map((worker) => worker.run()));
}

interface AppParts {
  readonly colloquy: OpenedColloquy;
  readonly opened: OpenLog;
  readonly spaces: Spaces | undefined;
  readonly codecs: readonly CompressionCodec[];
  readonly taskQueue: string | undefined;
}

async function appOf(parts: AppParts, options: AppOptions): Promise<Express> {
  requireKnown('colloquy.app', options, APP_FIELDS);
  const { codecOrigins, routes, ...given } = options;
  const { colloquy, opened, spaces, codecs, taskQueue } = parts;
  const { client, temporal, log, reader } = colloquy;
  const { createApp } = await import('../http/app.js');
  const { isForDevelopment } = await import('../http/identity/identity.js');
  const operations = createOperations({ temporal, taskQueue, opened });
  return createApp({
    ...given,
    ...{ client, conversations: log, operations, reader, spaces, webhooks: opened.webhooks },
    routes: routes && ((own) => routes({ ...own, colloquy })),
    ...(codecOrigins === undefined
      ? {}
      : { codec: { codecs, origins: codecOrigins, open: isForDevelopment(given.identify) } }),
  });
}

/** The parts that adapters of the application may lack. */
function besideLog(
  { documents }: OpenLog,
  spaces: Spaces | undefined,
  own: Pick<OpenOptions, 'actor' | 'tenant'>,
): Pick<OpenedColloquy, 'documents' | 'memories' | 'spaces'> {
  return {
    ...(documents === undefined ? {} : { documents, memories: new MemoryClient(documents, own) }),
    ...(spaces === undefined ? {} : { spaces: new SpaceClient(spaces, own) }),
  };
}

/** The environment is not read where nothing is absent: a wrong variable of it does not count then. */
function settingsOf(given: Partial<TemporalSettings> = {}): TemporalSettings {
  const { address, namespace, options } = given;
  if (address !== undefined && namespace !== undefined && options !== undefined)
    return { address: wholeAddress(address, 'temporal.address'), namespace, options };
  const settings = temporalSettings(given);
  return options === undefined ? settings : { ...settings, options };
}

/** Closes in order, each one even if another fails. @throws the first failure, once all have been closed */
async function closeAll(closers: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers)
    await close().catch((error: unknown) => {
      failures.push(error);
    });
  if (failures.length > 0) throw failures[0];
}

function checkKnown(options: OpenOptions): void {
  requireKnown('openColloquy', options, OPEN_FIELDS);
  const { temporal } = options;
  if (temporal !== undefined) requireKnown('openColloquy: temporal', temporal, TEMPORAL_FIELDS);
}

function checkStore(store: unknown): void {
  if ((typeof store === 'string' && store !== '') || (typeof store === 'object' && store !== null))
    return;
  throw new TypeError(
    'openColloquy: store must be a sqlite file, a postgres:// address, or adapters, got ' +
      String(store),
  );
}
