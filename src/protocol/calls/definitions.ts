/**
 * Calls whose tool has changed since they were planned: what workers find out, and what is recorded of it. In recorded histories:
 * only ever extended.
 */
import type { StampedActor } from '../values/actors.js';
import type { Audience } from '../values/audience.js';
import type { ConversationKey, ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Executor } from './executors.js';
import type { ApprovalPlan, McpToolRef, PlannedCall } from './plan.js';
import type { EarlierResult, ToolResultError } from './results.js';

/** What of its plan a call has anew, once its tool's `migrate` has carried it over. */
export interface MigratedCall {
  /** After parsing, defaults and transforms. */
  readonly input: Json;
  readonly raw?: Json;
  readonly argsDigest: string;
  readonly definition: string;
  /** What the policies say of the new input. */
  readonly approval: ApprovalPlan;
  readonly answerAudience?: Audience;
}

/** How a run ended that did not begin: the tool is another than the call was planned for, and reads its arguments in another way. */
export interface ToolChanged {
  readonly changed: {
    /** Digest of the definition that the worker has. */
    readonly definition: string;
  };
}

/** A call that is about to run, or to be offered, to be judged by the definition of its tool that workers have now. */
export interface CheckDefinitionInput extends ConversationKey {
  readonly agent: string;
  readonly turnId: TurnId;
  readonly step: number;
  readonly call: Pick<PlannedCall, 'toolCallId' | 'name' | 'executor' | 'raw' | 'definition'> & {
    readonly input: Json;
    readonly mcp?: McpToolRef;
  };
  readonly requester: StampedActor;
  /** Of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
  /** The definition that a run has found: a worker that still has the planned one leaves the check to others. */
  readonly found?: string;
}

export type CheckDefinitionResult =
  /** The arguments mean what they meant. */
  | { readonly outcome: 'same' }
  /** `definition`: digest of the present one. */
  | { readonly outcome: 'migrated'; readonly definition: string; readonly call: MigratedCall }
  /** The call ends with this error. `definition` is absent where the tool is gone. */
  | { readonly outcome: 'ended'; readonly definition?: string; readonly error: ToolResultError };

/** How answers of a call are judged by the definition that workers have now. */
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

/** The tool of a call was found to be another than it was planned for, before it had run; what becomes of the call follows. */
export interface DefinitionChanged {
  readonly type: 'definition_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** Digest that the plan had pinned. */
  readonly from: string;
  /** Digest of the definition that workers have now. Absent where the tool is gone. */
  readonly definition?: string;
  /** Who had approved the call. Absent where nobody had to. */
  readonly approver?: StampedActor;
}

/** The tool's `migrate` has carried the call over: this input runs, under this digest; where the call is gated, once it is approved anew. */
export interface InputMigrated extends MigratedCall {
  readonly type: 'input_migrated';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  /** Digest of the definition that it was planned for. */
  readonly from: string;
  /** The tool shapes the request anew. */
  readonly preflight?: true;
  readonly detached?: true;
}

/** A question is asked in another form than before: by the definition that workers have now. It is the same call, under a new digest. */
export interface SuspensionChanged {
  readonly type: 'suspension_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** In place of the one of before: answers that name that are refused. */
  readonly argsDigest: string;
  /** Of a tool that waits for its answer. */
  readonly offer?: AnswerOffer;
  /** Of a question that the code of a tool asks: its form now. */
  readonly form?: JsonSchema;
  /** The form has patterns and the like, which a worker checks. */
  readonly recheck?: true;
  /** The form has checks that the tool runs when it takes the answer. */
  readonly byCode?: true;
}
