/** What activities are given by the composition root of a worker. */
import type { Agent } from '../../define/define-agent.js';
import type { Logger } from '../../define/tool/context.js';
import type { BlobStore } from '../../projection/index.js';
import type { TranscriptChunks } from '../../projection/reading/transcript-chunks.js';
import type { EarlierResult } from '../../protocol/calls/results.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { CallModelInput, FlushLogResult } from '../../protocol/workflow/activities.js';
import type { McpServers } from '../../tools/mcp/servers.js';
import type { AgentRegistry } from '../../tools/registry.js';
import type { PolicyMeans } from '../../tools/shared/policy.js';
import type { FetchTranscript, Transcripts } from './transcripts.js';

/**
 * `records`: one line of the log for each request to a model: who asked, which model, how long it took, what it used. `full`: besides,
 * request and answer go into the blob store, under the conversation, with which they are deleted.
 */
export type AuditLevel = 'records' | 'full';

export interface ActivityDeps<Services> {
  readonly agents: readonly Agent<Services>[];
  /** Handed to tools as `ctx.services`; never goes into history. */
  readonly services: Services;
  /** Makes sure that the store has the log up to a sequence number; throws when it cannot. */
  readonly flush: (key: ConversationKey, throughSeq: number) => Promise<FlushLogResult>;
  /** Publishes to watchers. May drop; what it throws is logged and forgotten. */
  readonly publish: (key: ConversationKey, event: LiveEvent) => void;
  /** Says again what has been streamed so far, for those who came later; as `publish`. Absent: they see what comes from then on. */
  readonly repeat?: (key: ConversationKey, event: LiveEvent) => void;
  /** Calls back when somebody begins to watch; returns a function that stops. Absent: nobody is told. */
  readonly onJoin?: (key: ConversationKey, listener: () => void) => () => void;
  /** Whether anybody watches: without a watcher no live event is made. @defaultValue everybody is watched */
  readonly watched?: (key: ConversationKey) => boolean;
  /** Asks a run for messages that this worker does not remember. Absent: everything has to be sent. */
  readonly fetchTranscript?: FetchTranscript;
  /** Bytes of transcripts to remember; 0 = none. @defaultValue 64 MiB */
  readonly transcriptCacheBytes?: number;
  /** Where results go that are too large; absent: nowhere, they are cut. */
  readonly blobs?: Pick<BlobStore, 'put' | 'get'> & Partial<Pick<BlobStore, 'delete'>>;
  /** Whether a run is of a conversation that was deleted, and under whose id nothing is stored since. @defaultValue none is */
  readonly isDeletedRun?: (key: ConversationKey, runId: string) => Promise<boolean>;
  /** Messages that were stored so that roll-overs need not carry them; absent: none can be stored or read. */
  readonly chunks?: Pick<TranscriptChunks, 'put' | 'get' | 'remove'>;
  /** The connections to MCP servers, for whoever is to close them. Absent: the activities make their own. */
  readonly mcp?: McpServers;
  /** What is kept of model calls. Absent: nothing. */
  readonly audit?: AuditLevel;
  readonly logger: Logger;
}

/** The same, as the single activities use it: indexed, and without the type of the services. */
export interface ActivityTools extends Omit<ActivityDeps<never>, 'agents'> {
  readonly registry: AgentRegistry;
  readonly transcripts: Transcripts;
  readonly mcp: McpServers;
}

/** What the policies of a step's calls are given: who asks, and the worker's means. */
export function policyMeans(
  tools: ActivityTools,
  step: Pick<
    CallModelInput,
    'agent' | 'tenant' | 'conversationId' | 'turnId' | 'step' | 'requester'
  > & { readonly results?: readonly EarlierResult[] },
): PolicyMeans {
  const { agent, tenant, conversationId, turnId, requester, results = [] } = step;
  const { services } = tools;
  const logger = withFields(tools.logger, { tenant, conversationId, turnId });
  const about = { agent, tenant, conversationId, turnId, step: step.step };
  return { ...about, requester, results, services, logger };
}

/** Publishes one live event to whoever watches. Never throws: nothing may depend on a live event. */
export function publishLive(tools: ActivityTools, key: ConversationKey, event: LiveEvent): void {
  toWatchers(tools, key, (about) => {
    tools.publish(about, event);
  });
}

/** The same for those alone who came after it was published. */
export function repeatLive(tools: ActivityTools, key: ConversationKey, event: LiveEvent): void {
  toWatchers(tools, key, (about) => tools.repeat?.(about, event));
}

function toWatchers(
  tools: ActivityTools,
  { tenant, conversationId }: ConversationKey,
  send: (about: ConversationKey) => void,
): void {
  try {
    const about = { tenant, conversationId };
    if (tools.watched?.(about) !== false) send(about);
  } catch (error) {
    tools.logger.debug('live event lost', { reason: String(error) });
  }
}

/** A logger that adds the same fields to every line. */
export function withFields(logger: Logger, fields: Readonly<Record<string, unknown>>): Logger {
  return {
    debug: (message, more) => {
      logger.debug(message, { ...fields, ...more });
    },
    info: (message, more) => {
      logger.info(message, { ...fields, ...more });
    },
    warn: (message, more) => {
      logger.warn(message, { ...fields, ...more });
    },
    error: (message, more) => {
      logger.error(message, { ...fields, ...more });
    },
  };
}
