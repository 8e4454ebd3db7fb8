/** The dependencies that a worker's composition root passes to the activities. */
import type { RecordedTurn } from '../../core/what-if/recorded.js';
import type { Agent, AgentCatalog } from '../../define/define-agent.js';
import type { TenantServices } from '../../define/services/per-tenant.js';
import type { Logger } from '../../define/tool/context.js';
import type { PortValues } from '../../define/tool/ports.js';
import type { BlobStore } from '../../projection/index.js';
import type { TranscriptChunks } from '../../projection/reading/transcript-chunks.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { EarlierResult } from '../../protocol/calls/results.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { ChildEndedInput, ParentRef } from '../../protocol/conversation/children.js';
import type { SendMessageInput } from '../../protocol/conversation/conversation.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { KeepDefinition } from '../../protocol/model/definitions.js';
import type {
  DeliverTriggerInput,
  TriggerDelivery,
  Triggers,
} from '../../protocol/triggers/triggers.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type {
  CallModelInput,
  FlushLogResult,
  RestoreStateInput,
} from '../../protocol/workflow/activities.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import type { WhatIfInput } from '../../protocol/workflow/what-if.js';
import type { McpServers } from '../../tools/mcp/servers.js';
import type { AgentRegistry } from '../../tools/registry.js';
import type { CallScope } from '../../tools/scope/call-scope.js';
import type { Scopes } from '../../tools/scope/scopes.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import type { MadeTools } from './made-tools.js';
import type { FetchStates, RememberedStates } from './plugin-states.js';
import type { FetchTranscript, Transcripts } from './transcripts.js';

/**
 * `records`: one log line for each request to a model: the caller, the model, the duration and the usage. `full`: in
 * addition, request and answer go into the blob store, under the conversation, and are deleted with it.
 */
export type AuditLevel = 'records' | 'full';

/** The conversations of sub-agents, and the one that has started this one. Every operation is safe to repeat. */
export interface ChildConversations {
  /** Starts a conversation with its first message; does nothing where it has been started. */
  start(request: {
    readonly key: ConversationKey;
    readonly manifest: AgentManifest;
    readonly input: SendMessageInput;
    readonly parent: ParentRef;
  }): Promise<void>;
  /** Closes a conversation, which then reports its end. False where it does not run any more. */
  close(key: ConversationKey): Promise<boolean>;
  /** False where the conversation does not run any more. */
  report(key: ConversationKey, input: ChildEndedInput): Promise<boolean>;
}

/** The triggers of conversations, by a client of Temporal. */
export interface TriggersPort {
  /** The triggers of the conversation that a call is of. */
  readonly ofCall: (call: TriggerMakerCall) => Triggers;
  /** Delivers one event. Safe to repeat. Rejects when it may succeed later. */
  readonly deliver: (input: DeliverTriggerInput) => Promise<TriggerDelivery>;
}

/** The call of a tool that makes triggers. Its key makes the ids of those that name none. */
export interface TriggerMakerCall extends ConversationKey {
  readonly agent: string;
  readonly requester: StampedActor;
  readonly idempotencyKey: string;
}

export interface ActivityDeps<Services> {
  readonly agents: readonly Agent<Services>[];
  /** Finds the agents that these are not. Absent: there are no others. */
  readonly catalog?: AgentCatalog<Services> | undefined;
  /** Handed to tools as `ctx.services`; never goes into history. */
  readonly services: Services | TenantServices<Services>;
  /** The services by tenant, secrets and connections; the caller closes them. Absent: the services alone. */
  readonly scopes?: Scopes;
  /** Ensures that the store has the log up to a sequence number; throws when it cannot. */
  readonly flush: (key: ConversationKey, throughSeq: number) => Promise<FlushLogResult>;
  /** Restores the state of a closed conversation from its log; throws when it cannot, or is given up. */
  readonly restoreState: (input: RestoreStateInput, signal: AbortSignal) => Promise<CarriedState>;
  /** The turn of a what-if, from the log; undefined when it is gone. Absent: what-ifs wait for another worker. */
  readonly recordedTurn?: (input: WhatIfInput) => Promise<RecordedTurn | undefined>;
  /** Absent: agents have no sub-agents. */
  readonly children?: ChildConversations;
  /** Publishes to watchers. May drop events; its errors are logged and ignored. */
  readonly publish: (key: ConversationKey, event: LiveEvent) => void;
  /**
   * Repeats the output streamed so far, for watchers who joined later; otherwise like `publish`. Absent: they see only
   * later output.
   */
  readonly repeat?: (key: ConversationKey, event: LiveEvent) => void;
  /** Calls back when a watcher joins; returns a function that unsubscribes. Absent: no callbacks. */
  readonly onJoin?: (key: ConversationKey, listener: () => void) => () => void;
  /** Whether the conversation has a watcher: without one no live event is made. @defaultValue always true */
  readonly watched?: (key: ConversationKey) => boolean;
  /** Queries a run for messages that this worker does not remember. Absent: the workflow has to send everything. */
  readonly fetchTranscript?: FetchTranscript;
  /** Queries a run for states of plugins that this worker does not remember. Absent: tools that need them fail. */
  readonly fetchStates?: FetchStates;
  /** Bytes of transcripts to remember; 0 = none. @defaultValue 64 MiB */
  readonly transcriptCacheBytes?: number;
  /** Where large results are stored. Absent: they are cut. */
  readonly blobs?: Pick<BlobStore, 'put' | 'get'> & Partial<Pick<BlobStore, 'delete'>>;
  /**
   * Whether a run belongs to a deleted conversation whose id is not in use again. @defaultValue
   * always false
   */
  readonly isOrphanedRun?: (key: ConversationKey, runId: string) => Promise<boolean>;
  /** Messages that were stored so that roll-overs need not carry them. Absent: none can be stored or read. */
  readonly chunks?: Pick<TranscriptChunks, 'put' | 'get' | 'remove'>;
  /** The connections to MCP servers; the caller closes them. Absent: the activities create their own. */
  readonly mcp?: McpServers;
  /** The schedules of triggers. Absent: tools that need them fail, and events of triggers wait for another worker. */
  readonly triggers?: TriggersPort;
  /** Given to tools and plugins by `ctx.port`. Absent: none. */
  readonly ports?: PortValues;
  /** How much is kept of model calls. Absent: nothing. */
  readonly audit?: AuditLevel;
  /** Keeps the definitions of agents by which models were called. Absent: none is kept. */
  readonly keepDefinition?: KeepDefinition;
  /** Takes the time of each request to a model. Absent: none is measured. */
  readonly measure?: MeasureRequest;
  /** Addresses of the API of this installation, which HTTP tools never reach. Absent: none is known. */
  readonly apiUrls?: readonly string[] | undefined;
  readonly logger: Logger;
}

/** Takes the duration of one request to a model, in seconds, and how it ended. */
export type MeasureRequest = (
  model: string,
  outcome: 'answered' | 'failed' | 'aborted',
  seconds: number,
) => void;

/** The same for the single activities: indexed, and without the type of the services. */
export interface ActivityTools extends Omit<ActivityDeps<never>, 'agents' | 'services'> {
  readonly scopes: Scopes;
  readonly registry: AgentRegistry;
  /** The agents in code: the registry of an activity may have one of the catalog besides. */
  readonly inCode: AgentRegistry;
  readonly transcripts: Transcripts;
  readonly states: RememberedStates;
  readonly made: MadeTools;
  readonly mcp: McpServers;
}

/** The same in the scope of one call: services of its tenant, and outputs without secrets. */
export interface ScopedTools extends ActivityTools {
  readonly services: never;
  readonly scope: CallScope;
}

/** The input of a step's policies: requester, states of plugins and the worker's services. */
export function policyDeps(
  tools: ScopedTools,
  step: Pick<
    CallModelInput,
    'agent' | 'tenant' | 'conversationId' | 'turnId' | 'step' | 'requester'
  > & { readonly results?: readonly EarlierResult[] },
  states: PluginStates,
): PolicyDeps {
  const { agent, tenant, conversationId, turnId, requester, results = [] } = step;
  const { services } = tools;
  const logger = withFields(tools.logger, { tenant, conversationId, turnId });
  const about = { agent, tenant, conversationId, turnId, step: step.step };
  return { ...about, requester, results, states, services, logger };
}

/** Publishes one live event to all watchers. Never throws: nothing may depend on a live event. */
export function publishLive(tools: ActivityTools, key: ConversationKey, event: LiveEvent): void {
  toWatchers(tools, key, (about) => {
    tools.publish(about, event);
  });
}

/** Publishes only to watchers who joined after the event was published. */
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
