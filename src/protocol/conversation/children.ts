/** Conversations of sub-agents: each runs a call of its parent, and reports its end to it. Runs anywhere. */
import type { ChildBudgets } from '../calls/plan.js';
import type { ConversationId, ToolCallId, TurnId } from '../values/ids.js';
import { fingerprint, type Json } from '../values/json.js';
import type { TurnError, Usage } from './turns.js';

/** One call of a conversation that a sub-agent runs. */
export interface ChildStep {
  readonly conversationId: ConversationId;
  readonly toolCallId: ToolCallId;
  /** Name of the tool. */
  readonly name: string;
}

/** The place of a sub-agent's conversation. */
export interface ParentRef {
  /** The conversation that no other one has started. */
  readonly root: ConversationId;
  /** The calls from the root down to the call that this conversation runs, which is the last. */
  readonly path: readonly [ChildStep, ...ChildStep[]];
}

/** The call that the conversation runs. */
export function ownStep({ path }: ParentRef): ChildStep {
  return path.at(-1) ?? path[0];
}

/** The end of a sub-agent's work: its last turn, and the spending of its whole conversation. */
export interface ChildEnd {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly text: string;
  /** The answer in the requested schema. Absent where none was requested, and where the turn did not complete. */
  readonly output?: Json;
  readonly error?: TurnError;
  /** The usage of its own sub-agents is included. */
  readonly usage: Usage;
  /** Tool calls in all; present where their number is bounded. */
  readonly calls?: number;
}

/** The argument of `childEnded`. Sent by the child's last run. */
export interface ChildEndedInput {
  readonly toolCallId: ToolCallId;
  readonly childId: ConversationId;
  readonly end: ChildEnd;
}

export interface ChildEndedReply {
  readonly childId: ConversationId;
  readonly seq: number;
}

/**
 * The conversation of a sub-agent begins, has begun, is being closed because its result is no longer wanted, or has
 * ended. `starting` comes with the suspension of its call; the result of the call follows `ended` where the call still
 * waits.
 */
export interface ChildChanged {
  readonly type: 'child_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Name of the tool. */
  readonly name: string;
  /** The sub-agent. */
  readonly agent: string;
  readonly childId: ConversationId;
  readonly status: 'starting' | 'started' | 'stopping' | 'ended';
  /** With `starting`: the most that it may spend; reserved in the turn of its parent until it has ended. */
  readonly granted?: ChildBudgets;
  /** With `starting`: the conversation outlives its parent. */
  readonly outlives?: true;
  /** With `ended`: the end, where the conversation has reported one. Its spending counts for the parent as well. */
  readonly end?: Pick<ChildEnd, 'status' | 'usage' | 'calls'>;
}

/**
 * The id of the conversation that runs a call. Turn ids are unique over all conversations but forks, so a repeat of the
 * start finds the conversation, and a turn that is decided again after a reset begins another. A turn that goes on in a
 * fork has the id that it has in the origin and in other forks: `fork` keeps their sub-agents apart.
 */
export function childIdFor(call: {
  readonly turnId: TurnId;
  readonly step: number;
  readonly toolCallId: ToolCallId;
  /** The conversation of the call, where it is a fork. */
  readonly fork?: ConversationId | undefined;
}): ConversationId {
  const { turnId, step, toolCallId, fork } = call;
  const text = JSON.stringify([turnId, step, toolCallId, ...(fork === undefined ? [] : [fork])]);
  return `sub-${fingerprint(text)}${fingerprint(`2${text}`)}`;
}
