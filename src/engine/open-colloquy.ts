/**
 * Opens Temporal and the event log of an application, and makes from them what its processes need: a client, workers and
 * the HTTP API, all on the same store, task queue and tenant. `colloquy/client`, `colloquy/worker`, `colloquy/http` and
 * `colloquy/log` have the parts for applications that wire them by hand.
 */
import type { Client } from '@temporalio/client';
import type { Express, RequestHandler } from 'express';
import type { ConversationClientOptions } from '../client/api/types.js';
import { ConversationClient } from '../client/conversation-client.js';
import { CompressionCodec } from '../client/payloads/payload-codec.js';
import type { ConversationReader } from '../client/ports/reader.js';
import {
  connectClient,
  type TemporalSettings,
  temporalSettings,
} from '../client/temporal/connection.js';
import { ownIdentity } from '../client/workers/identity.js';
import type { Documents } from '../define/plugin/documents.js';
import { type Logger, SILENT_LOGGER } from '../define/tool/context.js';
import type { AppDeps, RoutesContext } from '../http/request/deps.js';
import { clientOptionsFrom } from '../projection/client-options.js';
import { StoreWatch } from '../projection/duties/store-watch.js';
import { createOperations } from '../projection/operations/operations.js';
import {
  type BlobChoice,
  type EventLogChoice,
  type OpenLog,
  openEventLog,
} from '../projection/source/open-log.js';
import { SpaceClient } from '../spaces/client.js';
import { MemoryClient } from '../spaces/memories.js';
import { type Spaces, spacesFrom } from '../spaces/service.js';
import type { EventLog } from '../store/ports/log.js';
import type { ColloquyWorker } from '../worker/create-worker.js';
import type { ColloquyWorkerOptions } from '../worker/options.js';

type FromClient = Pick<
  ConversationClientOptions,
  'actor' | 'channel' | 'pageUrl' | 'patience' | 'searchAttributes' | 'taskQueue' | 'tenant'
>;

export interface OpenOptions extends FromClient {
  /** The event log: a sqlite file, the address of a Postgres database, or adapters. Every process uses the same. */
  readonly store: EventLogChoice;
  /** Where values go that are too large for events. @defaultValue 'event-log', beside the events */
  readonly blobs?: BlobChoice | undefined;
  /** How to reach Temporal; what is absent comes from Temporal's own environment. @defaultValue 127.0.0.1:7233 */
  readonly temporal?: Partial<TemporalSettings> | undefined;
  /** Compress payloads of more than 8 KB. Compressed ones are read in any case. @defaultValue true */
  readonly compression?: boolean | undefined;
  /** Milliseconds for which Temporal, and before it Postgres, is tried at the start. @defaultValue 0: one try each */
  readonly retryForMs?: number | undefined;
  /** @defaultValue no log */
  readonly logger?: Logger | undefined;
}

/** Options of a worker besides those that the application has been opened with. */
export type ServedAgents<Services> = Omit<
  ColloquyWorkerOptions<Services>,
  'blobs' | 'compression' | 'eventLog' | 'pageUrl' | 'searchAttributes' | 'taskQueue' | 'temporal'
>;

/** Options of the HTTP API besides those that the application has been opened with. */
export type AppOptions = Omit<
  AppDeps,
  'client' | 'codec' | 'conversations' | 'operations' | 'reader' | 'routes' | 'spaces' | 'webhooks'
> & {
  /** Routes of the application, before those of the API. @defaultValue none */
  readonly routes?: MakeRoutes | undefined;
  /** Origins whose pages may use the codec endpoint, such as `http://localhost:8233`. @defaultValue no endpoint */
  readonly codecOrigins?: readonly string[];
};

/**
 * Makes an Express router, or another handler, that comes before the routes of the API. It has the API's headers, log
 * lines and checks of host and origin; callers and rates are its own to judge. A request that it passes on goes to the
 * API. `colloquy serve --routes <module>` takes it from a module.
 */
export type MakeRoutes = (
  context: RoutesContext & { readonly colloquy: OpenedColloquy },
) => RequestHandler;

export interface OpenedColloquy {
  /** Starts, continues, answers, reads and deletes conversations. */
  readonly client: ConversationClient;
  readonly temporal: Client;
  /** Reads snapshots, events, turns and offers, as the API does. */
  readonly reader: ConversationReader;
  /** The event log, to list and read conversations with. */
  readonly log: EventLog;
  /** Creates spaces, and reads and writes in them. Absent where adapters of the application have none. */
  readonly spaces?: SpaceClient;
  /** Lists, exports and deletes what agents remember by entity. Absent where adapters keep no documents. */
  readonly memories?: MemoryClient;
  /** Documents beside the event log, such as those of `keptToolDocuments`. Absent where adapters keep none. */
  readonly documents?: Documents;
  /**
   * Creates a worker that serves these agents, on connections of its own. It shares the event log, which must stay open
   * until `worker.run()` has resolved.
   * @throws what `createColloquyWorker` throws
   */
  worker<Services>(options: ServedAgents<Services>): Promise<ColloquyWorker>;
  /** Builds the HTTP API, which `serve` of `colloquy/http` listens with. */
  app(options: AppOptions): Promise<Express>;
  /** Closes the connection and the event log. Safe to repeat. */
  close(): Promise<void>;
}

/**
 * Opens an application. Two processes of one application call this with the same options.
 * @throws {TypeError} when `store` is missing
 * @throws {TemporalSettingsInvalid} naming a variable of the environment that is wrong
 * @throws {TemporalUnreachable} naming the address that was tried
 * @throws {NamespaceUnknown} when the server does not have the namespace
 * @throws {StoreUnavailable} naming the file or database that cannot be opened
 * @example
 * const colloquy = await openColloquy({ store: 'postgres://…', actor: { id: 'nightly-job' } });
 * const turn = await colloquy.client.conversation('order-42', { agent: 'support' }).send('Where is it?');
 */
export async function openColloquy(options: OpenOptions): Promise<OpenedColloquy> {
  const { store, blobs, compression = true, logger = SILENT_LOGGER, retryForMs = 0 } = options;
  const { actor, channel, pageUrl, patience, searchAttributes, taskQueue, tenant } = options;
  const settings = settingsOf(options.temporal);
  const codecs = [new CompressionCodec({ writes: compression })];
  checkStore(store);
  const opened = await openEventLog(store, { blobs, logger, retryForMs });
  const { log, webhooks } = opened;
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
    let closing: Promise<void> | undefined;
    const colloquy: OpenedColloquy = {
      ...{ client, temporal, log, reader: fromLog.reader },
      ...besideLog(opened, spaces, { actor, tenant }),
      worker: async (given) => {
        const { createColloquyWorker } = await import('../worker/create-worker.js');
        return await createColloquyWorker({ retryForMs, logger, ...given, ...shared });
      },
      app: async ({ codecOrigins, routes, ...given }) => {
        const { createApp } = await import('../http/app.js');
        const { isForDevelopment } = await import('../http/identity/identity.js');
        const operations = createOperations({ temporal, taskQueue, opened });
        return createApp({
          ...given,
          ...{ client, conversations: log, operations, reader: fromLog.reader, spaces, webhooks },
          routes: routes && ((own) => routes({ ...own, colloquy })),
          ...(codecOrigins === undefined
            ? {}
            : { codec: { codecs, origins: codecOrigins, open: isForDevelopment(given.identify) } }),
        });
      },
      close: () => (closing ??= closeAll([() => stores.stop(), ...closers])),
    };
    return colloquy;
  } catch (error) {
    // The reason of the failure is the one that counts.
    await closeAll(closers).catch(() => undefined);
    throw error;
  }
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
    return { address, namespace, options };
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

function checkStore(store: unknown): void {
  if ((typeof store === 'string' && store !== '') || (typeof store === 'object' && store !== null))
    return;
  throw new TypeError(
    'openColloquy: store must be a sqlite file, a postgres:// address, or adapters, got ' +
      String(store),
  );
}
