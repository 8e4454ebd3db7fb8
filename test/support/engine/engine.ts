/**
 * A whole engine in the process of a test: a worker on the bundle from source, clients with and without the event
 * log, and a reader of Temporal's histories. Each test makes its own, with a task queue, a log file and conversation
 * ids of its own.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client,
  Connection,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  type WorkflowHandle,
} from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { inject, onTestFinished } from 'vitest';
import type {
  AgentSource,
  Conversation,
  ConversationReader,
  SendOptions,
  Turn,
} from '../../../src/client/index.js';
import { CompressionCodec, ConversationClient } from '../../../src/client/index.js';
import type { TemporalSettings } from '../../../src/client/temporal/connection.js';
import { retryQuery } from '../../../src/client/temporal/query-retry.js';
import { type Agent, type AgentCatalog, manifestOf } from '../../../src/define/define-agent.js';
import type { TenantServices } from '../../../src/define/services/per-tenant.js';
import type { SecretResolver } from '../../../src/define/services/secrets.js';
import type { Logger } from '../../../src/define/tool/context.js';
import { createDeletions } from '../../../src/projection/duties/deletions.js';
import { knownAgents } from '../../../src/projection/duties/known-agents.js';
import { createLeases } from '../../../src/projection/duties/leases.js';
import type { EventLogChoice, OpenLog } from '../../../src/projection/index.js';
import { createStoreReader, openEventLog } from '../../../src/projection/index.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import type {
  ConversationSnapshot,
  TurnResult,
} from '../../../src/protocol/conversation/conversation.js';
import type { ConversationStatus } from '../../../src/protocol/conversation/statuses.js';
import { SWEEP_INTERVAL_MS } from '../../../src/protocol/limits/service-limits.js';
import type { CanonicalEvent, EventType } from '../../../src/protocol/log/events.js';
import { workflowIdFor } from '../../../src/protocol/values/ids.js';
import type { LogHead } from '../../../src/store/ports/log-head.js';
import { type ColloquyWorker, createColloquyWorker } from '../../../src/worker/index.js';
import { EngineHistory } from './history.js';
import './quiet.js';
import '../typescript-hooks.mjs';
import { PATIENCE, patientClient, patientOptions } from '../patience.js';
import { until } from '../until.js';
import '../workflow-threads.js';

export interface EngineOptions<Services> {
  readonly agents: readonly Agent<Services>[];
  /** The worker's. The client then knows the agents of the event log, and no others. */
  readonly catalog?: AgentCatalog<Services>;
  readonly services?: Services | TenantServices<Services>;
  readonly secrets?: SecretResolver;
  /** @defaultValue the dev server of the project of tests */
  readonly address?: string;
  /** @defaultValue a sqlite file of its own */
  readonly eventLog?: EventLogChoice;
  /** The log that the worker alone writes to and reads from; for stores that are down. @defaultValue `eventLog` */
  readonly workerLog?: EventLogChoice;
  readonly taskQueue?: string;
  readonly tuning?: Partial<WorkerOptions>;
  /** The worker's cache. @defaultValue the engine's own */
  readonly transcriptCacheBytes?: number;
  /** Connection of the worker's own client. */
  readonly connection?: TemporalSettings['options'];
  /** Start without a worker; `startWorker` brings one. */
  readonly workerless?: boolean;
  readonly searchAttributes?: boolean;
  /** The option of worker and client. */
  readonly pageUrl?: string;
  /** Compression of worker and client. @defaultValue the engine's own */
  readonly compression?: boolean;
  /** The worker's logger. */
  readonly logger?: Logger;
  readonly audit?: 'records' | 'full';
  /** The worker's grace. @defaultValue half a second */
  readonly shutdownGraceMs?: number;
}

export const CONVERTER = fileURLToPath(
  new URL('../../../src/workflows/sandbox/payload-converter.ts', import.meta.url),
);

interface EngineParts {
  readonly address: string;
  readonly temporal: Client;
  readonly opened: OpenLog;
  readonly closesLog: boolean;
  readonly taskQueue: string;
  readonly agents: readonly AgentManifest[];
  /** @defaultValue `agents` */
  readonly known: AgentSource;
  readonly searchAttributes: boolean;
  readonly pageUrl: string | undefined;
  readonly makeWorker: (tuning?: Partial<WorkerOptions>) => Promise<ColloquyWorker>;
}

/** Longer than the gRPC client pauses between two attempts. */
const GRPC_PAUSES_MS = 15_000;
const QUERY_TRIES = 4;
const QUERY_PATIENCE_MS = 5_000;
/**
 * A page of a history ends with a transaction; everything that came while a task ran is one transaction of any size.
 */
const WHOLE_PAGES = { 'grpc.max_receive_message_length': 64 * 1024 * 1024 };
/** Neutral, because recorded histories contain it. */
const IDENTITY = 'colloquy-test';

export class Engine {
  readonly address: string;
  readonly taskQueue: string;
  readonly temporal: Client;
  readonly opened: OpenLog;
  readonly reader: ConversationReader;
  /** Reads the event log. */
  readonly client: ConversationClient;
  /** Queries the workflows themselves. */
  readonly bareClient: ConversationClient;
  readonly history: EngineHistory;
  readonly #parts: EngineParts;
  #worker: { readonly worker: ColloquyWorker; readonly ended: Promise<void> } | undefined;
  #latest: ColloquyWorker | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.address = parts.address;
    this.temporal = parts.temporal;
    this.opened = parts.opened;
    this.taskQueue = parts.taskQueue;
    const isServed = (): boolean => this.#worker !== undefined;
    const common = {
      temporal: parts.temporal,
      taskQueue: this.taskQueue,
      agents: parts.known,
      actor: { id: 'tester' },
      searchAttributes: parts.searchAttributes,
      pageUrl: parts.pageUrl,
    };
    const { log, live, blobs, documents } = parts.opened;
    const source = createWorkflowSource(patientClient(parts.temporal, isServed));
    this.reader = createStoreReader({ log, live, source, blobs, documents });
    const leases = createLeases({ log, live });
    const whole = {
      ...common,
      reader: this.reader,
      leases,
      deletions: createDeletions(parts.opened),
      blobs: parts.opened.blobs,
    };
    this.client = new ConversationClient(patientOptions(whole, isServed));
    this.bareClient = new ConversationClient(patientOptions(common, isServed));
    this.history = new EngineHistory(parts.temporal);
  }

  /** @param tuning On top of the engine's, as of another deploy. */
  async startWorker(tuning?: Partial<WorkerOptions>): Promise<void> {
    const worker = await this.#parts.makeWorker(tuning);
    const ended = worker.run();
    ended.catch(() => undefined);
    this.#worker = { worker, ended };
    this.#latest = worker;
  }

  /** State of the latest worker, also while it stops: of the whole worker, not of a poller. */
  get workerState(): string | undefined {
    return this.#latest?.worker.getState();
  }

  async stopWorker(): Promise<void> {
    const running = this.#worker;
    this.#worker = undefined;
    running?.worker.shutdown();
    await running?.ended;
  }

  /** A conversation of its own, with the first agent. */
  begin(conversationId: string = randomUUID()): Conversation {
    return this.client.conversation(conversationId, { agent: this.#parts.agents[0]?.name ?? '' });
  }

  /** Sends a message to a new conversation and returns when the turn has ended, or waits for input. */
  async ask(text = 'hello'): Promise<{ readonly talk: Conversation; readonly result: TurnResult }> {
    const talk = this.begin();
    return { talk, result: await this.say(talk, text) };
  }

  /** Sends a message that a worker must take. */
  async send(talk: Conversation, text: string, options: SendOptions = {}): Promise<Turn> {
    const turn = await talk.send(text, options);
    if (turn.status === 'queued') throw new Error(`no worker took the message: ${turn.warning}`);
    return turn;
  }

  async say(talk: Conversation, text: string, options: SendOptions = {}): Promise<TurnResult> {
    const turn = await this.send(talk, text, options);
    return await turn.result({ timeout: 20_000 * PATIENCE });
  }

  /**
   * The whole log in the store, once it has every event of the workflow. Throws unless its seqs are dense from 1.
   */
  async log(talk: Conversation): Promise<readonly CanonicalEvent[]> {
    const { seq } = await this.query<ConversationSnapshot>(talk.id, 'snapshot');
    const key = { tenant: 'default', conversationId: talk.id };
    const { log } = this.opened;
    const caughtUp = (head: LogHead | undefined): boolean => (head?.lastSeq ?? 0) >= seq;
    // Events of an imported run are found by the next sweep.
    await until(`the log has seq ${seq}`, () => log.head(key), {
      holds: caughtUp,
      timeoutMs: 2 * SWEEP_INTERVAL_MS,
    });
    const events: CanonicalEvent[] = [];
    for (let more = true; more; ) {
      const read = await log.read(key, { afterSeq: events.at(-1)?.seq ?? 0 });
      events.push(...(read?.events ?? []));
      more = read?.more ?? false;
    }
    for (const [index, event] of events.entries())
      if (event.seq !== index + 1) throw new Error(`seq ${event.seq} at place ${index + 1}`);
    return events;
  }

  /** Types of the whole log. */
  async logTypes(talk: Conversation): Promise<readonly EventType[]> {
    return (await this.log(talk)).map((event) => event.type);
  }

  /** Id of the workflow of a conversation. */
  workflowId(talk: Pick<Conversation, 'id'>): string {
    return workflowIdFor({ tenant: 'default', conversationId: talk.id });
  }

  handle(talk: Pick<Conversation, 'id'>): WorkflowHandle {
    return this.temporal.workflow.getHandle(this.workflowId(talk));
  }

  async signal(talk: Pick<Conversation, 'id'>, name: string, ...args: unknown[]): Promise<void> {
    await this.handle(talk).signal(name, ...args);
  }

  /** Queries again when the answer is lost, or refused: the time-skipping server drops a query now and then. */
  async query<Reply>(id: string, name: string, ...args: unknown[]): Promise<Reply> {
    const ask = (): Promise<Reply> =>
      retryQuery(() => this.handle({ id }).query<Reply, unknown[]>(name, ...args));
    for (let left = QUERY_TRIES; ; left -= 1) {
      try {
        return await this.temporal.withDeadline(Date.now() + QUERY_PATIENCE_MS * PATIENCE, ask);
      } catch (error) {
        // The gRPC client reports a deadline that passes between two attempts as a cancellation.
        const isLost = isGrpcDeadlineError(error) || isGrpcCancelledError(error);
        if (left <= 1 || !isLost) throw error;
      }
    }
  }

  /** An update with any name and payload, as any Temporal client may send it. */
  async update<Reply>(
    talk: Pick<Conversation, 'id'>,
    name: string,
    ...args: [unknown, ...unknown[]]
  ): Promise<Reply> {
    return await this.handle(talk).executeUpdate<Reply, [unknown, ...unknown[]]>(name, { args });
  }

  /** Waits until no turn runs; background calls may wait. */
  async idle(talk: Pick<Conversation, 'id'>): Promise<ConversationSnapshot> {
    const holds = ({ turn, queued, status }: ConversationSnapshot): boolean =>
      turn === undefined && queued.length === 0 && status !== 'closed';
    return await until('no turn runs', () => this.snapshot(talk), { holds });
  }

  async reaches(
    talk: Pick<Conversation, 'id'>,
    status: ConversationStatus,
  ): Promise<ConversationSnapshot> {
    const holds = (seen: ConversationSnapshot): boolean => seen.status === status;
    return await until(`the conversation is ${status}`, () => this.snapshot(talk), {
      holds,
    });
  }

  async snapshot(talk: Pick<Conversation, 'id'>): Promise<ConversationSnapshot> {
    return await this.query<ConversationSnapshot>(talk.id, 'snapshot');
  }

  async close(): Promise<void> {
    await this.stopWorker();
    if (this.#parts.closesLog) await this.opened.close();
    // A call that was given up may still pause before its next attempt, which a closed channel answers with an
    // uncaught error.
    setTimeout(() => {
      void this.temporal.connection.close();
    }, GRPC_PAUSES_MS).unref();
  }
}

/** Starts an engine and closes it when the test ends. */
export async function startEngine<Services>(options: EngineOptions<Services>): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-engine-'));
  const choice = options.eventLog ?? join(folder, 'log.db');
  const address = options.address ?? inject('temporalAddress');
  const taskQueue = options.taskQueue ?? `test-${randomUUID()}`;
  const opened = await openEventLog(choice);
  const agents = options.agents.map((agent) => manifestOf(agent));
  const connection = await Connection.connect({ address, channelArgs: WHOLE_PAGES });
  const engine = new Engine({
    address,
    temporal: new Client({
      connection,
      identity: IDENTITY,
      dataConverter: {
        payloadCodecs: [new CompressionCodec({ writes: options.compression })],
      },
    }),
    opened,
    closesLog: typeof choice === 'string',
    taskQueue,
    agents,
    known: options.catalog === undefined ? agents : knownAgents(opened),
    searchAttributes: options.searchAttributes ?? true,
    pageUrl: options.pageUrl,
    makeWorker: (tuning) =>
      makeWorker(
        { ...options, tuning: { ...options.tuning, ...tuning } },
        { address, taskQueue, choice },
      ),
  });
  onTestFinished(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  if (options.workerless !== true) await engine.startWorker();
  return engine;
}

async function makeWorker<Services>(
  options: EngineOptions<Services>,
  parts: { address: string; taskQueue: string; choice: EventLogChoice },
): Promise<ColloquyWorker> {
  const { agents, services, workerLog, tuning, connection = {}, searchAttributes = true } = options;
  return await createColloquyWorker({
    ...{ agents, catalog: options.catalog },
    services: services as Services,
    secrets: options.secrets,
    eventLog: workerLog ?? parts.choice,
    temporal: { address: parts.address, namespace: 'default', options: connection },
    taskQueue: parts.taskQueue,
    shutdownGraceMs: options.shutdownGraceMs ?? 500,
    transcriptCacheBytes: options.transcriptCacheBytes,
    logger: options.logger,
    audit: options.audit,
    compression: options.compression,
    searchAttributes,
    pageUrl: options.pageUrl,
    tuning: {
      workflowBundle: { codePath: inject('workflowBundlePath') },
      dataConverter: { payloadConverterPath: CONVERTER },
      identity: IDENTITY,
      ...tuning,
    },
  });
}
