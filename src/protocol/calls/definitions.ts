/**
 * Calls whose tool has changed since they were planned: the findings of workers and their records. In recorded
 * histories: only ever extended.
 */
import type { StampedActor } from '../values/actors.js';
import type { Audience } from '../values/audience.js';
import type { ConversationKey, ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Executor } from './executors.js';
import type { ApprovalPlan, MadeTool, McpToolRef, PlannedCall } from './plan.js';
import type { StatesRef } from './plugin-state.js';
import type { EarlierResult, ToolResultError } from './results.js';

/** The fields of a call's plan that change once its tool's `migrate` has migrated the call. */
export interface MigratedCall {
  /** After parsing, defaults and transforms. */
  readonly input: Json;
  readonly raw?: Json;
  readonly argsDigest: string;
  readonly definition: string;
  /** The decision of the policies on the new input. */
  readonly approval: ApprovalPlan;
  readonly answerAudience?: Audience;
}

/**
 * The end of a run that never began: the tool has another definition than the call was planned for, and reads its
 * arguments differently.
 */
export interface ToolChanged {
  readonly changed: {
    /** Digest of the definition that the worker has. */
    readonly definition: string;
  };
}

/**
 * A call that is about to run, or to be offered, for a check against the definition of its tool that workers have now.
 */
export interface CheckDefinitionInput extends ConversationKey {
  readonly agent: string;
  readonly turnId: TurnId;
  readonly step: number;
  readonly call: Pick<PlannedCall, 'toolCallId' | 'name' | 'executor' | 'raw' | 'definition'> & {
    readonly input: Json;
    readonly mcp?: McpToolRef;
  };
  readonly made?: MadeTool;
  readonly requester: StampedActor;
  /** Results of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
  /**
   * Digest of the definition that a run has found: a worker that still has the planned one leaves the check to others.
   */
  readonly found?: string;
}

export type CheckDefinitionResult =
  /** The arguments have the same meaning under both definitions. */
  | { readonly outcome: 'same' }
  /** `definition`: digest of the present one. */
  | { readonly outcome: 'migrated'; readonly definition: string; readonly call: MigratedCall }
  /** The call ends with this error. `definition` is absent where the tool is gone. */
  | { readonly outcome: 'ended'; readonly definition?: string; readonly error: ToolResultError };

/** The rules by which answers of a call are judged, from the definition that workers have now. */
export interface AnswerOffer {
  /** Digest of the definition of the answer. */
  readonly definition: string;
  /** As `PlannedCall` has them. */
  readonly answerSchema?: JsonSchema;
  readonly recheckAnswer?: true;
  readonly recheckOnly?: 'unknown_keys';
  readonly onExpireDefault?: { readonly value: Json };
}

/** Payload of `changeSuspension`. */
export interface ChangeSuspensionInput {
  readonly toolCallId: ToolCallId;
  readonly offer: AnswerOffer;
}

export interface ChangeSuspensionReply {
  readonly changed: true;
  readonly seq: number;
}

/**
 * The definition of a call's tool changed after the call was planned, and before it had run; an event with the
 * consequence follows.
 */
export interface DefinitionChanged {
  readonly type: 'definition_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** Digest that the plan had pinned. */
  readonly from: string;
  /** Digest of the definition that workers have now. Absent where the tool is gone. */
  readonly definition?: string;
  /** The actor who had approved the call. Absent where no approval was needed. */
  readonly approver?: StampedActor;
}

/**
 * The tool's `migrate` has migrated the call: this input runs, under this digest; a gated call needs a new approval
 * first.
 */
export interface InputMigrated extends MigratedCall {
  readonly type: 'input_migrated';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  /** Digest of the definition that the call was planned for. */
  readonly from: string;
  /** The tool's preflight runs again. */
  readonly preflight?: true;
  readonly detached?: true;
}

/**
 * The form of an open question has changed with the definition of its tool. The call stays the same, under a new
 * digest.
 */
export interface SuspensionChanged {
  readonly type: 'suspension_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Replaces the digest before: answers that name the old one are refused. */
  readonly argsDigest: string;
  /** Present for a tool that waits for its answer. */
  readonly offer?: AnswerOffer;
  /** Present for a question that a tool's code asks: its new form. */
  readonly form?: JsonSchema;
  /** The form has rules (patterns and the like) that only a worker can check. */
  readonly recheck?: true;
  /** The form has checks that the tool's code runs when it takes the answer. */
  readonly byCode?: true;
}
