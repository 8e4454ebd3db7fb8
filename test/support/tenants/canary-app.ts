/**
 * An API over a store in which the tenant `default` has something at every place: each of its conversations, values,
 * triggers, webhooks and spaces has a canary, which no answer to a caller of another tenant may contain.
 */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import { ConversationError } from '../../../src/client/api/errors.js';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import type { DeletionsPort } from '../../../src/client/ports/deletions.js';
import type { LeasesPort } from '../../../src/client/ports/leases.js';
import { outsideReason } from '../../../src/core/calls/audience.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import { isRecord } from '../../../src/protocol/values/json.js';
import { Spaces } from '../../../src/spaces/service.js';
import { type OpenStores, openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { type FakeCall, fakeTemporal, type Script } from '../fakes/fake-temporal.js';
import { CALL, SUPPORT, TURN } from '../samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../servers/http-app.js';
import { operationsOf, plant, ROLE, RUN, schedulesOf, TENANT } from './canaries.js';

export interface CanaryApp extends HttpApp {
  /** Ids of what the tenant has, by the names of parameters in paths. */
  readonly ids: Readonly<Record<string, string>>;
  /** Everything that the stores have of the tenant, to compare it. */
  readonly kept: () => Promise<string>;
}

export interface Changes {
  readonly script?: Script;
  /** Members of the Temporal client. */
  readonly server?: (client: Client) => object;
  readonly agent?: Partial<AgentManifest>;
  readonly deps?: (stores: OpenStores) => Partial<AppDeps>;
  /** Stores more than the canaries. */
  readonly prepare?: (stores: OpenStores) => Promise<void>;
}

/**
 * `c-1` with a question that waits, and `c-3` with an external call that waits; bound callers may have `c-2`. `changes`:
 * answers of the server, and parts of the app, in place of those of a healthy installation.
 */
export async function startCanaryApp(
  options: Pick<AppDeps, 'identify' | 'tokens'>,
  changes: Changes = {},
): Promise<CanaryApp> {
  const stores = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => stores.log.close());
  const { script, server, agent, deps, prepare } = changes;
  const planted = await plant(stores);
  await prepare?.(stores);
  const { log, blobs, webhooks, spaces } = stores;
  const temporal = fakeTemporal({
    update: answerOf,
    updateWithStart: () => ({
      ...{ turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 },
      ...{ eventId: 'e-1', status: 'admitted' },
    }),
    start: () => undefined,
    signal: (call) => {
      requireOfTenant(call);
    },
    query: (call) => {
      requireOfTenant(call);
      return { states: {}, seq: 5 };
    },
    describe: (call) => {
      requireOfTenant(call);
      const size = { historyLength: 1, historySize: 1, startTime: new Date() };
      return { status: { name: 'RUNNING' }, runId: RUN, raw: {}, ...size };
    },
    ...script,
  });
  Object.assign(temporal.client, { schedule: schedulesOf() }, server?.(temporal.client));
  const reader = createStoreReader({ log, source: 'none' });
  const client = new ConversationClient({
    ...{
      temporal: temporal.client,
      agents: [{ ...AGENT, ...agent }],
      reader,
      blobs,
      channel: 'api',
    },
    ...{ leases: LEASES, deletions: DELETIONS },
  });
  const app = await startHttpApp(
    {},
    {
      ...options,
      ...{ client, reader, conversations: log, webhooks, heartbeatMs: 20 },
      spaces: new Spaces({ store: spaces }),
      operations: operationsOf(),
      killWorker: () => Promise.resolve({ killedPid: 1 }),
      ...deps?.(stores),
    },
  );
  return { ...app, calls: temporal.calls, ids: planted.ids, kept: planted.kept };
}

/** Closes later than the triggers of these tests fire. */
const AGENT = { ...SUPPORT, settings: { ...SUPPORT.settings, idleCloseMs: 864_000_000 } };

/** No claim is stored yet. */
const LEASES: LeasesPort = { renew: () => Promise.resolve(undefined), show: () => undefined };

/** The deletion of a conversation that exists begins, and ends there. */
const DELETIONS: DeletionsPort = {
  isKnown: ({ tenant }) => Promise.resolve(tenant === TENANT),
  isDeleted: () => Promise.resolve(false),
  isDeletedRun: () => Promise.resolve(false),
  begin: () => Promise.reject(new ConversationError('store_unavailable', 'The store is read-only')),
  below: () => Promise.resolve([]),
  extend: () => Promise.resolve(),
  finish: () => Promise.resolve(),
  removeOfTenant: () => Promise.resolve(),
  ofTenant: () => {
    throw new Error('no route deletes a tenant');
  },
};

function requireOfTenant({ workflowId }: FakeCall): void {
  if (!workflowId.startsWith(`conversation:${TENANT}:`))
    throw new WorkflowNotFoundError('not found', workflowId, undefined);
}

const ANSWERS: readonly string[] = [
  ...['resolveToolCall', 'resolveBatch', 'extendToolCall', 'claimToolCall'],
];

/** Judges the actor as the conversation does. */
function answerOf(call: FakeCall): unknown {
  requireOfTenant(call);
  const { actor } = isRecord(call.input) ? call.input : {};
  const reason = outsideReason({ roles: [ROLE] }, actor as never, []);
  const isAnswer = ANSWERS.includes(call.name);
  if (isAnswer && reason !== undefined) return { verdict: 'forbidden', reason };
  return {
    ...{ verdict: 'accepted', toolCallId: CALL, seq: 9, turnId: TURN, calls: [] },
    ...{ cancelled: true, status: 'done', closed: true, revoked: true },
    ...{ messageId: 'm_1', ahead: 0 },
  };
}
