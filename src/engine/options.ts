/** The options of `openColloquy`, and what it returns. */
import type { Client } from '@temporalio/client';
import type { Express, RequestHandler } from 'express';
import type { ConversationClientOptions } from '../client/api/types.js';
import type { ConversationClient } from '../client/conversation-client.js';
import type { ConversationReader } from '../client/ports/reader.js';
import type { TemporalSettings } from '../client/temporal/connection.js';
import type { Documents } from '../define/plugin/documents.js';
import type { Logger } from '../define/tool/context.js';
import type { AppDeps, RoutesContext } from '../http/request/deps.js';
import type { BlobChoice, EventLogChoice } from '../projection/source/open-log.js';
import type { SpaceClient } from '../spaces/client.js';
import type { MemoryClient } from '../spaces/memories.js';
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
   * until `worker.run()` has resolved. A worker that never runs keeps the process alive until `close`.
   * @throws what `createColloquyWorker` throws
   */
  worker<Services>(options: ServedAgents<Services>): Promise<ColloquyWorker>;
  /** Builds the HTTP API, which `serve` of `colloquy/http` listens with. */
  app(options: AppOptions): Promise<Express>;
  /** Closes the connection, the event log, and workers that never ran. Safe to repeat. */
  close(): Promise<void>;
}
