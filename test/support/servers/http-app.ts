/** The HTTP app on a real loopback port, over a scripted Temporal client and logs in memory. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import type { AgentSource } from '../../../src/client/ports/agents.js';
import type { BlobsPort } from '../../../src/client/ports/blobs.js';
import type { LeasesPort } from '../../../src/client/ports/leases.js';
import type { ConversationReader } from '../../../src/client/ports/reader.js';
import { createApp } from '../../../src/http/app.js';
import { type HttpServer, serve } from '../../../src/http/listen.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { FakeReader } from '../fakes/fake-reader.js';
import { type FakeCall, fakeTemporal, type Script } from '../fakes/fake-temporal.js';
import { requireDescribed } from '../networks/described.js';
import { identifyAll } from '../networks/test-identity.js';
import { SUPPORT } from '../samples/sample-log.js';

export interface HttpApp {
  readonly server: HttpServer;
  readonly reader: FakeReader;
  readonly calls: readonly FakeCall[];
  readonly logged: readonly object[];
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** POSTs JSON. */
  readonly post: (
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
}

/** The server's answer for every conversation that a test does not name. */
function noSuchConversation({ workflowId }: FakeCall): never {
  throw new WorkflowNotFoundError('not found', workflowId, undefined);
}

export async function startHttpApp(
  script: Script = {},
  deps: Partial<AppDeps> = {},
  clientOptions: {
    /** The client's reader. @defaultValue the reader of the app */
    readonly reader?: ConversationReader;
    readonly agents?: AgentSource;
    readonly leases?: LeasesPort;
    readonly blobs?: BlobsPort;
    readonly storeId?: () => Promise<string>;
    /** The server's description of the task queue. */
    readonly pollers?: readonly object[];
    readonly drainMs?: number;
  } = {},
): Promise<HttpApp> {
  const reader = new FakeReader();
  const { pollers = [], drainMs = 0, ...ofClient } = clientOptions;
  const temporal = fakeTemporal({ describe: noSuchConversation, ...script }, pollers);
  const client = new ConversationClient({
    temporal: temporal.client,
    agents: [SUPPORT, { ...SUPPORT, name: 'sales' }],
    reader,
    channel: 'api',
    ...ofClient,
  });
  const logged: object[] = [];
  const keep = (line: object): void => {
    logged.push(line);
  };
  const app = createApp({
    client,
    reader,
    conversations: {
      list: () => Promise.resolve({ conversations: [] }),
      checkWritable: () => Promise.resolve(),
    },
    log: { info: keep, warn: keep, error: keep },
    identify: identifyAll,
    ...deps,
  });
  const server = await serve(app, { port: 0, graceMs: 500, drainMs });
  onTestFinished(() => server.close());
  const request = async (path: string, init?: RequestInit): Promise<Response> => {
    const response = await fetch(server.url + path, init);
    await requireDescribed(init?.method ?? 'GET', path, response);
    return response;
  };
  return {
    server,
    reader,
    calls: temporal.calls,
    logged,
    request,
    post: (path, body, headers = {}) =>
      request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
}
