/**
 * The options that a conversation's workflow is started with: everything that the Temporal UI shows of it before it has
 * run.
 */
import type { WorkflowStartOptions } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
} from '@temporalio/common';
import type { AgentManifest, AgentSettings } from '../../protocol/conversation/agents.js';
import type { ParentRef } from '../../protocol/conversation/children.js';
import type { SendMessageInput } from '../../protocol/conversation/conversation.js';
import type { InboxEventInput } from '../../protocol/conversation/inbox.js';
import { OFFLOAD_BOUNDS } from '../../protocol/conversation/offloaded-messages.js';
import { openSearchStatus } from '../../protocol/conversation/statuses.js';
import type { ForkOrigin } from '../../protocol/forks/forks.js';
import {
  ROLL_OVER_HISTORY_EVENTS,
  WORKFLOW_TASK_TIMEOUT_MS,
} from '../../protocol/limits/service-limits.js';
import { titleOfText } from '../../protocol/log/title.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import {
  type ConversationInput,
  type ReopenInput,
  SEARCH_ATTRIBUTES,
} from '../../protocol/workflow/messaging.js';
import { CORE_REVISION } from '../../protocol/workflow/revisions.js';
import { shownText } from '../../protocol/workflow/shown-text.js';

/** The server's bound on fairness keys is 64 bytes; tenants are ASCII. */
export const MAX_FAIRNESS_KEY_BYTES = 64;

export type ConversationWorkflow = (input: ConversationInput) => Promise<void>;

/** The part that every start of a conversation has. */
export interface Beginning {
  readonly key: ConversationKey;
  readonly manifest: AgentManifest;
  readonly start: StartPolicy;
  /** The call of another conversation that this one runs. Absent: no other starts it. */
  readonly parent?: ParentRef;
}

/** A start with an input. */
export interface StartRequest extends Beginning {
  readonly input: SendMessageInput | InboxEventInput;
  /** The kind of input that is sent with the start. @defaultValue sendMessage */
  readonly operation?: 'sendMessage' | 'inboxEvent';
  readonly updateId: string;
}

/** A start of a fork, which needs no input. */
export interface ForkStart extends Beginning {
  readonly fork: ForkOrigin;
}

/** The treatment of a closed run of the same id. */
export interface StartPolicy {
  readonly reuse: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' | 'ALLOW_DUPLICATE';
  /** Present when the new run continues the closed conversation. Absent: it begins one. */
  readonly reopen?: ReopenInput;
}

export interface StartDefaults {
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
  /** Address of the web page, without a slash at its end. */
  readonly pageUrl?: string | undefined;
}

export function startOptions(
  request: StartRequest | ForkStart,
  defaults: StartDefaults,
): WorkflowStartOptions<ConversationWorkflow> {
  const { key, manifest, start } = request;
  const { tenant, conversationId } = key;
  const argument: ConversationInput = {
    tenant,
    conversationId,
    agent: manifest.name,
    settings: settingsFor(manifest),
    model: manifest.model,
    ...(start.reopen === undefined ? {} : { reopen: start.reopen }),
    ...('fork' in request ? { fork: request.fork } : {}),
    ...(request.parent === undefined ? {} : { parent: request.parent }),
    ...(defaults.searchAttributes ? {} : { searchAttributes: false }),
    offload: OFFLOAD_BOUNDS,
    rollOver: { events: ROLL_OVER_HISTORY_EVENTS },
  };
  return {
    workflowId: workflowIdFor(key),
    taskQueue: defaults.taskQueue,
    args: [argument],
    workflowIdReusePolicy: start.reuse,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    staticSummary: `${manifest.name}: ${conversationId}`,
    staticDetails: `Agent ${shownText(manifest.name)} (${shownText(manifest.model)}), conversation \`${conversationId}\`, tenant \`${tenant}\`.`,
    memo: {
      ...{ title: titleOfText(subjectOf(request)) ?? '', agent: manifest.name },
      ...('fork' in request ? { fork: request.fork } : {}),
      ...(defaults.pageUrl === undefined
        ? {}
        : { page: `${defaults.pageUrl}/conversations/${conversationId}` }),
    },
    priority: { fairnessKey: tenant.slice(0, MAX_FAIRNESS_KEY_BYTES) },
    ...(defaults.searchAttributes ? { typedSearchAttributes: attributesOf(request) } : {}),
  };
}

/**
 * Lowers the revision of the settings to the newest that this process knows: the first worker of a new version
 * publishes its manifests while others still poll that would not follow the new rules, and clients are replaced last.
 */
function settingsFor({ settings }: AgentManifest): AgentSettings {
  const { coreRevision } = settings;
  return coreRevision <= CORE_REVISION ? settings : { ...settings, coreRevision: CORE_REVISION };
}

/** The attributes that never change, and the first state; the workflow upserts the rest. */
function attributesOf(request: Beginning): SearchAttributePair[] {
  const active = openSearchStatus(0);
  const keyword = (name: string, value: string): SearchAttributePair => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  });
  return [
    keyword(SEARCH_ATTRIBUTES.status, active),
    keyword(SEARCH_ATTRIBUTES.agent, request.manifest.name),
    keyword(SEARCH_ATTRIBUTES.tenant, request.key.tenant),
  ];
}

function subjectOf(request: StartRequest | ForkStart): string {
  if ('fork' in request) return `Fork of ${request.fork.conversationId} at ${request.fork.seq}`;
  const { input } = request;
  return 'text' in input ? input.text : input.kind;
}
