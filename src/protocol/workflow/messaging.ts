/**
 * Names of handlers, in recorded histories: never rename one, only add. Payloads of handlers are wire format: never
 * change a field's meaning, only add optional fields.
 */
import type { AcceptedBatch, ResolveBatchInput } from '../calls/batches.js';

import type {
  ClaimedVerdict,
  ClaimToolCallInput,
  LeaseLostInput,
  LeaseLostReply,
} from '../calls/claims.js';
import type { ChangeSuspensionInput, ChangeSuspensionReply } from '../calls/definitions.js';
import type { ExtendedVerdict, ExtendToolCallInput } from '../calls/extensions.js';
import type { StatesNow } from '../calls/plugin-state.js';
import type { AcceptedVerdict, ResolveToolCallInput } from '../calls/resolutions.js';
import type { CallStatus } from '../calls/results.js';
import type { RevokeRuleInput, RevokeRuleReply } from '../calls/rules.js';
import type { PendingCall } from '../calls/suspensions.js';
import type { AgentSettings } from '../conversation/agents.js';
import type { ChildEndedInput, ChildEndedReply, ParentRef } from '../conversation/children.js';
import type {
  CancelTurnInput,
  CancelTurnReply,
  CloseConversationInput,
  CloseConversationReply,
  ConversationSnapshot,
  SendMessageInput,
  SendMessageReply,
} from '../conversation/conversation.js';
import type { InboxEventInput, InboxEventReply } from '../conversation/inbox.js';
import type {
  CarriedMemory,
  OffloadBounds,
  UnacknowledgedOffload,
} from '../conversation/offloaded-messages.js';
import type { ForkOrigin } from '../forks/forks.js';
import type { CanonicalEvent } from '../log/events.js';
import type { Urgency } from '../log/urgency.js';
import type { ConversationKey } from '../values/ids.js';

export const WORKFLOW_TYPE = 'conversation';
/** Workflow type of the runs that the schedules of triggers start. */
export const TRIGGER_WORKFLOW_TYPE = 'trigger';
/** Workflow type of what-ifs. */
export const WHAT_IF_WORKFLOW_TYPE = 'whatIf';
export const DEFAULT_TASK_QUEUE = 'colloquy';

export const UPDATES = {
  sendMessage: 'sendMessage',
  resolveToolCall: 'resolveToolCall',
  resolveBatch: 'resolveBatch',
  extendToolCall: 'extendToolCall',
  claimToolCall: 'claimToolCall',
  /** Sent by the watch of leases. */
  leaseLost: 'leaseLost',
  /** Sent by the watch of definitions. */
  changeSuspension: 'changeSuspension',
  inboxEvent: 'inboxEvent',
  /** Sent by the conversation of a sub-agent. */
  childEnded: 'childEnded',
  revokeRule: 'revokeRule',
  cancelTurn: 'cancelTurn',
  closeConversation: 'closeConversation',
} as const;

export const SIGNALS = {
  sendMessage: 'sendMessage',
  resolveToolCall: 'resolveToolCall',
  cancelTurn: 'cancelTurn',
  inboxEvent: 'inboxEvent',
  /** Sent to the conversation of a sub-agent whose result is no longer needed. */
  closeConversation: 'closeConversation',
  /** Sent by the conversation of a sub-agent. */
  childEnded: 'childEnded',
  /** Requests a roll-over at the next quiet point; for operators and tests. */
  rollOver: 'rollOver',
  /** Sent by `colloquy repair`: the contents of the history of a reset run that the reset discarded. */
  recover: 'recover',
} as const;

export const QUERIES = {
  snapshot: 'snapshot',
  pending: 'pending',
  toolCall: 'toolCall',
  events: 'events',
  transcriptSlice: 'transcriptSlice',
  pluginStates: 'pluginStates',
} as const;

/**
 * Group and function of the sink that hints the projector. Sinks are not in history, but all workers must agree on
 * them.
 */
export const HINT_SINK = 'colloquy';

/** Argument that a workflow handler gets when the data converter could not decode the real one. */
export const UNDECODABLE = '__colloquy_undecodable_payload__';
/**
 * Marks, within the worker, payloads that are never compressed: replies to callers from outside, who may have no codec.
 * The codec removes the mark.
 */
export const PLAIN_METADATA = 'colloquy-plain';

/**
 * Search attributes. Upserted only when suspensions open or the last one closes, since one upsert a turn costs a fifth
 * of throughput.
 */
export const SEARCH_ATTRIBUTES = {
  status: 'ColloquyStatus',
  agent: 'ColloquyAgent',
  tenant: 'ColloquyTenant',
  pendingTools: 'ColloquyPendingTools',
  deadline: 'ColloquyDeadline',
} as const;

/** The argument of the workflow. A new field must be optional. `carried` is opaque to all folders but `core`. */
export interface ConversationInput extends ConversationKey {
  readonly agent: string;
  readonly settings: AgentSettings;
  /** Name of the agent's model when the conversation began; only for summaries in the Temporal UI. */
  readonly model?: string;
  /** The call of another conversation that this one runs. Absent: no other has started it. */
  readonly parent?: ParentRef;
  /** State carried over a roll-over. */
  readonly carried?: CarriedState;
  /** The run continues a closed conversation: it restores the state from the log before it judges any input. */
  readonly reopen?: ReopenInput;
  /** The run begins a fork: it makes the state from the log of the origin before it judges any input. */
  readonly fork?: ForkOrigin;
  /** False where the server has no search attributes registered. */
  readonly searchAttributes?: boolean;
  /** Bounds from which old messages are offloaded. Absent: they never are. */
  readonly offload?: OffloadBounds;
  /** Bounds of one run, beside the server's own suggestion; each optional. */
  readonly rollOver?: RollOverBounds;
}

export interface ReopenInput {
  /** The newest run before this one, whose last events the store may lack. Absent: Temporal has no such run. */
  readonly closedRunId?: string;
}

/** A run ends at the next quiet point once it has outgrown one of these, each a number from 1. */
export interface RollOverBounds {
  /** Events of the run's history, if more than 20. Absent: as many as the server takes. */
  readonly events?: number;
  /** Bytes of the run's history. The default and maximum is `ROLL_OVER_HISTORY_BYTES`. */
  readonly bytes?: number;
  /** Updates that the run has accepted. Absent: `ROLL_OVER_UPDATE_COUNT`. */
  readonly updates?: number;
  /** Signals that the run has received. Absent: `ROLL_OVER_SIGNAL_COUNT`. */
  readonly signals?: number;
}

export interface CarriedState extends CarriedMemory {
  /** Ids of chunks without a reference that may still exist. Absent when there are none. */
  readonly unusedChunks?: readonly string[];
  /**
   * Orders to offload without an answer, whose chunks may exist under ids that the run does not know. Absent when there
   * are none.
   */
  readonly unacknowledged?: readonly UnacknowledgedOffload[];
  /** Events that the store has not confirmed yet. */
  readonly events: readonly CanonicalEvent[];
  /** Number of the oldest messages that a reopened conversation left behind. Absent when there are none. */
  readonly droppedMessages?: number;
}

/** Detail of a refused update that waited for a conversation to be reopened. */
export interface NotReopened {
  readonly message: string;
  /** `later`: another try may succeed. */
  readonly reopened: 'later' | 'never';
}

export interface EventsQuery {
  /** Returns events with a greater `seq`. */
  readonly after: number;
  readonly maxBytes?: number;
}

export interface EventsPage {
  readonly events: readonly CanonicalEvent[];
  readonly lastSeq: number;
  /** The oldest event that this run still has; older ones are in the store. */
  readonly firstSeq: number;
  readonly more: boolean;
}

export interface ToolCallView {
  readonly toolCallId: string;
  readonly name: string;
  readonly status: CallStatus;
  readonly turnId: string;
}

export interface Hint extends ConversationKey {
  readonly seq: number;
  readonly runId: string;
  readonly urgency: Urgency;
  /** The events behind the hint, with their workflow task; absent when they are too many to be sent along. */
  readonly pushed?: PushedTaskEvents;
  /**
   * Present when there is nothing new, but the run was replayed, or refused an input, so that readers may see less than
   * this. Checked at once where the store has less: the events of a replay come with it, all others are queried.
   */
  readonly doubt?: true;
}

/** Events sent along with a hint. They count only once the history shows that exactly this task was completed. */
export interface PushedTaskEvents {
  /** Id of the history event with which the task was started; the next event shows whether it was completed. */
  readonly task: number;
  /** Milliseconds since 1970 of that event; distinguishes attempts, since those after the first share its id. */
  readonly startedAt: number;
  /**
   * The lowest seq of the events that this instance of the workflow decided while it ran, not while it replayed; of
   * events of a replay, the lowest seq that it replayed.
   */
  readonly liveFrom: number;
  readonly events: readonly CanonicalEvent[];
}

/** Types of the handlers, for clients: payload and reply of each name above. */
export interface UpdateTypes {
  sendMessage: { input: SendMessageInput; reply: SendMessageReply };
  resolveToolCall: { input: ResolveToolCallInput; reply: AcceptedVerdict };
  resolveBatch: { input: ResolveBatchInput; reply: AcceptedBatch };
  revokeRule: { input: RevokeRuleInput; reply: RevokeRuleReply };
  extendToolCall: { input: ExtendToolCallInput; reply: ExtendedVerdict };
  claimToolCall: { input: ClaimToolCallInput; reply: ClaimedVerdict };
  leaseLost: { input: LeaseLostInput; reply: LeaseLostReply };
  changeSuspension: { input: ChangeSuspensionInput; reply: ChangeSuspensionReply };
  inboxEvent: { input: InboxEventInput; reply: InboxEventReply };
  childEnded: { input: ChildEndedInput; reply: ChildEndedReply };
  cancelTurn: { input: CancelTurnInput; reply: CancelTurnReply };
  closeConversation: { input: CloseConversationInput; reply: CloseConversationReply };
}

export interface QueryTypes {
  snapshot: { input: undefined; reply: ConversationSnapshot };
  pending: { input: undefined; reply: readonly PendingCall[] };
  toolCall: { input: { readonly toolCallId: string }; reply: ToolCallView | null };
  events: { input: EventsQuery; reply: EventsPage };
  pluginStates: { input: undefined; reply: StatesNow };
}
