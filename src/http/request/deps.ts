/** Dependencies of the HTTP app. The caller opens and closes everything that has a lifetime. */
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { ConversationClient } from '../../client/conversation-client.js';
import type { PayloadCodec } from '../../client/payloads/codec-json.js';
import type { ConversationPage, ConversationReader, ListedBy } from '../../client/ports/reader.js';
import type { Operations } from '../../projection/operations/operations.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { WorkerKilled } from '../../protocol/log/operations.js';
import type { FieldsOf } from '../../protocol/values/field-problem.js';
import type { Spaces } from '../../spaces/service.js';
import type { LogCounts } from '../../store/ports/service/counts.js';
import type { WebhookStore } from '../../store/ports/webhooks.js';
import type { Identify, Identity } from '../identity/identity.js';
import type { ProviderFiles } from '../identity/provider-files.js';
import type { TokenSigner } from '../identity/tokens.js';
import type { CallerLimits } from '../limits/options.js';
import type { ApiMetrics } from '../metrics/api-metrics.js';
import type { CorsOptions } from './cors.js';

/** The part of the event log that lists conversations, and checks that it can be written. */
export interface ConversationLister {
  /** @throws {RangeError} when the cursor is not one of an earlier page. */
  list(options: ListedBy): Promise<ConversationPage>;
  /** Writes to the log. Rejects with the reason when it cannot. */
  checkWritable(): Promise<void>;
  /** Numbers of waiting calls and of conversations in trouble, for metrics. @defaultValue they are not known */
  counts?(): Promise<LogCounts>;
}

/** Checks one dependency that the API needs in order to serve. Rejects with the reason when it is not available. */
export type HealthCheck = () => Promise<void>;

/** The codec endpoint for Temporal's UI and command line (`/codec/decode`, `/codec/encode`). */
export interface CodecEndpoint {
  /** The codecs of the workers and clients, in the same order. */
  readonly codecs: readonly PayloadCodec[];
  /**
   * Serve requests without an identity, because Temporal's UI of a development server cannot send one. Only for codecs
   * that keep no secrets, such as compression. @defaultValue false
   */
  readonly open?: boolean;
  /** Origins whose pages may send requests (CORS), such as `http://localhost:8233`. */
  readonly origins: readonly string[];
}

/** The argument of `routes`. */
export interface RoutesContext {
  /**
   * The sender of a request by all schemes of the API, its tokens and sessions too; undefined where it is unknown. Its
   * rights, tenants and the one conversation that it may be bound to are for the route to judge.
   */
  readonly identify: (request: Request) => Promise<Identity | undefined>;
  /** Aborts when the server that stops ends its streams: those of these routes have to end as well. */
  readonly signal: AbortSignal;
}

export interface AppDeps {
  readonly client: ConversationClient;
  readonly reader: ConversationReader;
  readonly conversations: ConversationLister;
  /**
   * The only source of tenants, actor and rights of a request. Conversations of other tenants are answered as if they
   * did not exist: 404, and 403 where the request names no conversation. `developmentIdentity` makes one for this
   * machine.
   */
  readonly identify: Identify;
  /**
   * Knows the owners of files at the provider of the models, so that callers may name them (`fileId`).
   * @defaultValue none: an id is refused (422), except from a development actor
   */
  readonly providerFiles?: ProviderFiles;
  /** Signs and verifies tokens and sessions. @defaultValue none: the API has neither */
  readonly tokens?: TokenSigner;
  /**
   * Names under which the API is reached, besides those of this machine: the name of a reverse proxy that passes `Host`
   * on, or of a container. Without scheme and port. With a development identity, requests to any other name are
   * refused (421). Pages of these names may use the API, and so may origins that CORS headers, set before the app,
   * allow by name; pages of all others are refused (403).
   * @defaultValue none
   */
  readonly allowedHosts?: readonly string[];
  /** Pages of other origins that may use the API (CORS). @defaultValue none */
  readonly cors?: CorsOptions;
  /** @defaultValue the client's own */
  readonly agents?: (asked: { readonly tenant: string }) => Promise<readonly AgentManifest[]>;
  /** The web page for people, under `/ui`. @defaultValue "on" */
  readonly ui?: 'on' | 'off';
  /**
   * Address of a Temporal UI, such as `http://localhost:8233`: `GET /v1/conversations/{id}/run` names the run in it.
   * @defaultValue none
   */
  readonly temporalUi?: string;
  /** Receives one line for each request. Absent = silent. */
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Endpoints of webhooks and their deliveries. @defaultValue the API manages none */
  readonly webhooks?: WebhookStore | undefined;
  /** Rooms of people and agents. @defaultValue the API has none */
  readonly spaces?: Spaces | undefined;
  /** The view of operators. @defaultValue the API has none */
  readonly operations?: Operations;
  /**
   * Kills the worker, which another replaces: for a development stack alone, to show that nothing is lost.
   * @defaultValue none: the route answers 404
   */
  readonly killWorker?: () => Promise<WorkerKilled>;
  /** Further checks of `/readyz`, by name; `temporal`, `store` and `same_store` always exist and may be replaced. */
  readonly health?: Readonly<Record<string, HealthCheck>>;
  /** Limits of each caller; `{}` has the defaults. @defaultValue none */
  readonly limits?: CallerLimits | undefined;
  /** Counts the requests of this app, and of no other; `new ApiMetrics()`. @defaultValue none are counted */
  readonly metrics?: ApiMetrics;
  /**
   * Makes routes of the application, such as an Express router. They come before those of the API, with its headers, its
   * log lines and its checks of host and origin (CORS); they identify callers and limit rates themselves. A request that
   * they pass on goes to the API. @defaultValue none
   */
  readonly routes?: ((context: RoutesContext) => RequestHandler) | undefined;
  /** Absent = no codec endpoint. */
  readonly codec?: CodecEndpoint;
  /** Milliseconds of silence on an event stream before a comment is sent. @defaultValue 15000 */
  readonly heartbeatMs?: number;
}

export const APP_FIELDS: FieldsOf<AppDeps> = {
  ...{ client: true, reader: true, conversations: true, identify: true, providerFiles: true },
  ...{ tokens: true, allowedHosts: true, cors: true, agents: true, ui: true, temporalUi: true },
  ...{ log: true, webhooks: true, spaces: true, operations: true, killWorker: true },
  ...{ health: true, limits: true, metrics: true, routes: true, codec: true, heartbeatMs: true },
};
