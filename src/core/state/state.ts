/**
 * State of a conversation: `apply` folds events into it, `decide` reads it. The state is plain JSON, so that a
 * roll-over can carry it as it is. Only core reads it; all other code sees snapshots.
 */

import type {
  FinalCallStatus,
  ToolErrorCode,
  ToolResultError,
} from '../../protocol/calls/results.js';
import type { Rule } from '../../protocol/calls/rules.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { AgentSettings } from '../../protocol/conversation/agents.js';
import type { ParentRef } from '../../protocol/conversation/children.js';
import type { ContextMark, ModelContext } from '../../protocol/conversation/context.js';
import type { UserPart } from '../../protocol/conversation/messages.js';
import type { SpentCalls, TurnLimit, Usage } from '../../protocol/conversation/turns.js';
import type { ForkOrigin } from '../../protocol/forks/forks.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { MessageId, ToolCallId, TurnId } from '../../protocol/values/ids.js';
import type { Json, JsonSchema } from '../../protocol/values/json.js';
import type { CallState } from './calls.js';
import type { ChildRecord, LastTurn } from './children.js';
import type { DuePatch, PluginMemory } from './plugins.js';
import type { RequestRow } from './requests.js';
import type { TranscriptItem } from './transcript.js';

export interface QueuedMessage {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly parts: readonly UserPart[];
  readonly actor: StampedActor;
  /** Form of the final answer of its turn. */
  readonly output?: JsonSchema | false;
  /** The sender allows that the message waits for the current turn. */
  readonly mayWait?: true;
}

/** The part of a turn that every phase has, or may have. */
interface TurnRecord {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly requester: StampedActor;
  readonly startedAt: string;
  /** Counts from 1. */
  readonly step: number;
  /** Step of the newest completed model call, at least 1; shown to readers. */
  readonly shownStep: number;
  readonly lastText: string;
  /** Form of the final answer; absent: as the agent's settings say. */
  readonly outputSchema?: JsonSchema | false;
  readonly usage: Usage;
  /** A cancel was requested; the model call in flight is being aborted. */
  readonly cancel?: { readonly actor: StampedActor };
  /** A limit was reached; the model call in flight is being aborted. */
  readonly stop?: TurnLimit;
  /** The tool failure that ends the turn, where the agent's settings ask for that. */
  readonly failure?: TurnFailure;
  /** Kept only where a limit needs the counts. */
  readonly spent?: SpentCalls;
  /** Calls of its sub-agents that have ended; absent where they are not counted. */
  readonly spentByChildren?: number;
  /** The step in which the conversation was passed on to another agent, the newest. */
  readonly handedOverIn?: number;
  /** Messages that joined the turn and wait for its next model call. */
  readonly steering?: readonly QueuedMessage[];
  /** Ids of further actors whose messages joined the turn: audiences treat them as requesters, too. */
  readonly joined?: readonly string[];
}

export interface TurnFailure {
  /** Name of the tool. */
  readonly name: string;
  readonly error: ToolResultError;
}

/** A model call is due or in flight, or is being aborted. */
export interface ModelTurn extends TurnRecord {
  readonly phase: 'model';
  readonly callIds: readonly [];
  readonly output?: never;
}

/** Calls of the step are open. */
export interface ToolsTurn extends TurnRecord {
  readonly phase: 'tools';
  /** Calls of the step, in the model's order. */
  readonly callIds: readonly ToolCallId[];
  readonly output?: never;
}

/** Nothing is left to do. */
export interface EndingTurn extends TurnRecord {
  readonly phase: 'ending';
  readonly callIds: readonly [];
  /** The answer in the requested form, where it has that form. */
  readonly output?: Json;
}

export type TurnState = ModelTurn | ToolsTurn | EndingTurn;

/** Whether a cancel or a limit is about to end the turn, so that it makes no more model calls. */
export function isStopping({ cancel, stop }: TurnState): boolean {
  return cancel !== undefined || stop !== undefined;
}

/** The remains of an ended call: enough to answer `stale` and `expired` from then on. Every roll-over carries it. */
export interface Tombstone {
  /** Fingerprint of the call's id, which is only looked up; see `callKey`. */
  readonly key: string;
  readonly name: string;
  readonly turnId: TurnId;
  readonly status: FinalCallStatus;
  readonly at: string;
  readonly by?: string;
  readonly deadline?: string;
  /** The error that ended the call, which verdicts for later answers name. Absent when an answer ended it. */
  readonly code?: ToolErrorCode;
}

/** Input without a user, kept until a model call reads it. */
export interface InboxEntry {
  readonly eventId: string;
  readonly text: string;
  readonly requester: StampedActor;
}

/** The basis of the next model call, and the part that readers are shown. */
export type ContextState = ModelContext & Pick<ContextMark, 'inputTokens'>;

export interface ConversationState {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  /** The agents that the conversation had before; messages may still name them. Absent: none. */
  readonly formerAgents?: readonly string[];
  readonly chain: string;
  readonly settings: AgentSettings;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly lastSeq: number;
  /** Ordinal of the newest turn of this chain. */
  readonly turnCount: number;
  readonly closed: boolean;
  readonly turn?: TurnState;
  readonly queue: readonly QueuedMessage[];
  /** In order of arrival; absent when no entry waits. */
  readonly inbox?: readonly InboxEntry[];
  /**
   * The entries of the inbox start no turn: they came with a fork, and are read with its first input. Absent: they
   * start one.
   */
  readonly inboxHeld?: true;
  /** Starts of the newest turns that inbox events have started; kept only where a setting bounds them. */
  readonly inboxTurns?: readonly string[];
  /** No inbox event starts a turn until then (ISO 8601). Absent: one may start. */
  readonly inboxPausedUntil?: string;
  readonly calls: Readonly<Record<ToolCallId, CallState>>;
  /**
   * Messages that may still go to a model call: the summary of the oldest turns, if any, and the turns since. The oldest
   * of these may be in the blob store.
   */
  readonly transcript: readonly TranscriptItem[];
  /** Number of messages that have left the transcript at its front; absent when none have. */
  readonly forgotten?: number;
  /** The context of the last completed model call; absent before the first. */
  readonly context?: ContextState;
  /** Bytes of all messages of the transcript as JSON, offloaded or not; kept so that they are not measured again. */
  readonly transcriptBytes: number;
  /** The newest `MAX_TOMBSTONES` ended calls, of this run and of those before it, oldest first. */
  readonly tombstones: readonly Tombstone[];
  /** A roll-over dropped tombstones that were too large to carry. */
  readonly forgetsCalls?: true;
  /** The newest `MAX_REMEMBERED_REQUESTS` accepted requests, of this run and of those before it, oldest first. */
  readonly requests: readonly RequestRow[];
  readonly usage: Usage;
  /** States of plugins; absent before the first patch. */
  readonly plugins?: PluginMemory;
  /** Patches that take effect next, in this order; absent when there are none. */
  readonly duePatches?: readonly DuePatch[];
  /** Conversations of sub-agents that have not ended yet, oldest first; absent when there are none. */
  readonly children?: readonly ChildRecord[];
  /** The call of another conversation that this one runs. */
  readonly parent?: ParentRef;
  /** The place of another conversation from which this one was forked. Absent: it began by itself. */
  readonly origin?: ForkOrigin;
  /** The newest turn that has ended; kept where `parent` is set. */
  readonly lastTurn?: LastTurn;
  /** Calls of all turns that have ended; kept where `parent` is set, and only where a limit needs them. */
  readonly spentCalls?: number;
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** Number of recorded refused answers by call (`memory/refusals.ts`); absent when there were none. */
  readonly refusals?: Readonly<Record<string, number>>;
  /** Number of recorded refused messages since the last start of a turn, by request id; absent when there were none. */
  readonly refusedMessages?: {
    readonly turnCount: number;
    readonly byId: Readonly<Record<string, number>>;
  };
}

/** The open call with this id. Ids come from outside, so names such as `constructor` must not be found. */
export function callOf(
  { calls }: Pick<ConversationState, 'calls'>,
  toolCallId: string,
): CallState | undefined {
  return Object.hasOwn(calls, toolCallId) ? calls[toolCallId] : undefined;
}

/** The agent that made the call: its definitions count for it, also when the conversation was passed on. */
export function agentOf({ agent }: Pick<ConversationState, 'agent'>, call: CallState): string {
  return call.agent ?? agent;
}

/** Whether the calls of a step run one after the other. */
export function isSequential({ settings }: Pick<ConversationState, 'settings'>): boolean {
  return settings.toolExecution === 'sequential';
}

/** The calls of the step in progress, in the model's order. */
export function stepCalls(state: ConversationState): readonly CallState[] {
  const calls: CallState[] = [];
  for (const callId of state.turn?.callIds ?? []) {
    const call = state.calls[callId];
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** The calls of the step in progress in the model's order, then the detached and late ones. */
export function shownCalls(state: ConversationState): readonly CallState[] {
  const inStep = stepCalls(state);
  const beside = Object.values(state.calls).filter(
    (call) => call.background !== undefined && !inStep.includes(call),
  );
  return beside.length === 0 ? inStep : [...inStep, ...beside];
}

/** Suspensions that wait for input from outside, in the model's call order: all but those of sub-agents' calls. */
export function openSuspensions(state: ConversationState): readonly Suspension[] {
  return shownCalls(state).flatMap((call) =>
    call.suspension === undefined || call.suspension.childId !== undefined ? [] : [call.suspension],
  );
}

/** True when the conversation was started under this revision of the core's decisions, or a later one: `docs/revisions.md`. */
export function isSince(
  { settings: { coreRevision } }: Pick<ConversationState, 'settings'>,
  revision: number,
): boolean {
  return typeof coreRevision === 'number' && coreRevision >= revision;
}
