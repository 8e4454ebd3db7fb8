/** What the HTTP app is made of. Everything that has a lifetime is given; the app opens and closes nothing. */
import type { Request } from 'express';
import type { Logger } from 'pino';
import type { ConversationClient } from '../../client/conversation-client.js';
import type { PayloadCodec } from '../../client/payloads/codec-json.js';
import type { ConversationPage, ConversationReader, ListedBy } from '../../client/ports/reader.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';

/** The part of the event log that lists conversations, and says whether it can be written. */
export interface ConversationLister {
  /** @throws {RangeError} when the cursor is not one of an earlier page. */
  list(options: ListedBy): Promise<ConversationPage>;
  /** Writes. Rejects with the reason when it cannot. */
  checkWritable(): Promise<void>;
}

/** One thing that the API needs in order to serve. Rejects with the reason when it is not there. */
export type HealthCheck = () => Promise<void>;

/** The codec endpoint for Temporal's UI and command line (`/codec/decode`, `/codec/encode`). */
export interface CodecEndpoint {
  /** As the workers and clients have them, in their order. */
  readonly codecs: readonly PayloadCodec[];
  /** Origins whose pages may ask (CORS), such as `http://localhost:8233`. */
  readonly origins: readonly string[];
}

export interface AppDeps {
  readonly client: ConversationClient;
  readonly reader: ConversationReader;
  readonly conversations: ConversationLister;
  /**
   * Tenants whose conversations whoever sent the request may list, read, begin, answer and delete; the first is meant where the query
   * (`?tenant=`) names none. Those of others are not there: 404, and 403 where none is named. For applications that know who asks, such
   * as by a middleware before the app. @defaultValue the client's tenant alone: nobody checked who asks
   */
  readonly tenantsOf?: (request: Request) => readonly string[];
  /**
   * Names under which the API is reached, besides those of this machine: of a reverse proxy that passes `Host` on, of a container. Without
   * scheme and port. Requests to any other are refused (421), unless `tenantsOf` says that the application knows who asks. Their pages may
   * use the API, and so may origins that CORS headers allow by name, set before the app; those of all others are refused (403).
   * @defaultValue none
   */
  readonly allowedHosts?: readonly string[];
  /** @defaultValue the client's own */
  readonly agents?: () => Promise<readonly AgentManifest[]>;
  /** One line for each request. Absent = silent. */
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** More checks of `/readyz`, by name; `temporal`, `store` and `same_store` are always there and may be replaced. */
  readonly health?: Readonly<Record<string, HealthCheck>>;
  /** Absent = no codec endpoint. */
  readonly codec?: CodecEndpoint;
  /** Silence on an event stream before a comment is sent, in milliseconds. @defaultValue 15000 */
  readonly heartbeatMs?: number;
}
