/**
 * Forks: conversations that begin with the state that another one had at a finished step or turn. Runs anywhere.
 */
import type { FieldProblem } from '../values/field-problem.js';
import type { ConversationId, ToolCallId, TurnId } from '../values/ids.js';

/** The place in the log of another conversation, of the same tenant, from whose state a conversation began. */
export interface ForkOrigin {
  readonly conversationId: ConversationId;
  /** Generation of its log, from 1. */
  readonly generation: number;
  /** The last of its events that the fork has. */
  readonly seq: number;
  /** Calls that waited there and wait anew in the fork, in the order of the request. Absent when there are none. */
  readonly reopenedCalls?: readonly ToolCallId[];
}

/** Why a call cannot wait anew in a fork; each text follows the name of the call. */
export const NOT_REOPENED = {
  unknown: 'is no call of the conversation at this seq',
  ended: 'had its result at this seq',
  effects_once: 'has effects that must not happen twice (effects: once)',
  running: 'was running at this seq, or about to run',
  has_run: 'has begun: its code had run before it asked',
  outcome_unknown: 'may have run: its outcome was unknown at this seq',
  sub_agent: 'is run by a sub-agent, whose conversation is not forked',
  turn_stops: 'belongs to a turn that was being stopped at this seq',
} as const;

export type NotReopenedReason = keyof typeof NOT_REOPENED;

/** A place in the log of a conversation, and the calls that are to wait anew in its fork. */
export interface ForkCut {
  /** Generation of the log, from 1. */
  readonly generation: number;
  readonly atSeq: number;
  readonly reopen: readonly ToolCallId[];
}

/** A turn of a log that is to be played again. Absent: the newest in which a model has answered. */
export interface WhatIfTurn {
  /** Generation of the log, from 1. */
  readonly generation: number;
  readonly turnId?: TurnId | undefined;
}

/** The outcome of a look at such a turn. */
export type WhatIfPoint =
  | {
      readonly turnId: TurnId;
      readonly agent: string;
      /** Start of the conversation, ISO 8601. */
      readonly startedAt: string;
      /** The end of the log. */
      readonly throughSeq: number;
    }
  | { readonly problems: readonly FieldProblem[] };

/** The outcome of a look at such a place: what a fork from there begins with, or why there can be none. */
export type ForkPoint =
  | {
      readonly agent: string;
      /** Calls that are open there and stay with the origin, in the model's order. */
      readonly notCarried: readonly ToolCallId[];
    }
  | { readonly problems: readonly FieldProblem[] };
