/**
 * The batch form: all client calls of a step go to a front end as one continuation, and their results come back as one
 * ordered, exact set, accepted as a whole or not at all. Wire format: only ever extended.
 */
import type { Actor, StampedActor } from '../values/actors.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { StepId, ToolCallId, TurnId } from '../values/ids.js';
import type { Json } from '../values/json.js';
import type { AcceptedVerdict, VerdictName } from './resolutions.js';
import type { ToolResult } from './results.js';

/** The step that a client call still waits for before the client may answer it; `client` when the client may. */
export type ClientCallWait = 'preflight' | 'approval' | 'client';

/** One call of a step as a front end gets it. */
export interface StepToolCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /**
   * JSON of the validated input, with defaults and an approver's edit; the model's own text where validation failed.
   */
  readonly argumentsJson: string;
  /** Always true: every call goes through the server. */
  readonly isServerTool: true;
  /** The server's part of the call is done: the whole call, or the preflight of a call that the client finishes. */
  readonly wasExecuted: boolean;
  /** The client's result is still to come. In a sequential step true only for the call whose turn it is. */
  readonly requiresClientExecution: boolean;
  /** The payload that the tool's preflight made for the client. */
  readonly preparedPayload?: Json;
  /** Present while the call requires the client. */
  readonly waitsFor?: ClientCallWait;
  /** Present once the call has a result, with exactly one of `resultJson` and `errorMessage`. */
  readonly status?: ToolResult['status'];
  /** The result that the model reads, as JSON text. */
  readonly resultJson?: string;
  /** Why there is no result; the model reads it. */
  readonly errorMessage?: string;
}

/** The calls of one step, in the model's order. */
export interface StepContinuation {
  readonly conversationId: string;
  readonly turnId: TurnId;
  readonly stepId: StepId;
  /** Sequence number of the newest event that this was read from. */
  readonly seq: number;
  /** True when every call that requires the client waits only for the client: the set may be sent. */
  readonly ready: boolean;
  readonly toolCalls: readonly StepToolCall[];
}

/** Exactly one of `resultJson` and `errorMessage`. */
export interface BatchResult {
  readonly toolCallId: ToolCallId;
  /** The result as JSON text. */
  readonly resultJson?: string;
  /** Why there is no result; the model reads it. */
  readonly errorMessage?: string;
  /** Milliseconds that the run took in the client. */
  readonly executionMs?: number;
  /** The claim under which the call was run. Needed while the call is held. */
  readonly claimId?: string;
}

/** Payload of the update `resolveBatch`. */
export interface ResolveBatchInput {
  readonly stepId: StepId;
  /** One for each client call of the step that is open, in the model's order. */
  readonly results: readonly BatchResult[];
  /** Minted by the client before its first try; repeats answer `duplicate`. */
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
  /** ISO 8601, stamped by the API or client when the results came in. */
  readonly receivedAt?: string;
}

/** Why a batch was refused, at one of its results. `path` is a JSON Pointer into the input. */
export interface BatchFault extends FieldProblem {
  /** The verdict that this result alone would have got. */
  readonly verdict: Extract<VerdictName, 'forbidden' | 'stale' | 'expired' | 'invalid'>;
  readonly toolCallId?: ToolCallId;
}

/**
 * The one synchronous answer to a batch, in order of precedence.
 *
 * | verdict | when | recorded |
 * |---|---|---|
 * | `unknown` | no such conversation or step | nothing |
 * | `duplicate` | this `requestId` was accepted before; carries the first verdict | nothing |
 * | `stale` without faults | no client call of the step is open any more | nothing |
 * | `not_ready` | a client call of the step still waits for its preflight or approval | nothing |
 * | `forbidden`, `stale`, `expired`, `invalid` | the first of these that a result has; `faults` name each | nothing |
 * | `accepted` | the exact set, each result acceptable | one `resolution` a call |
 */
export type BatchVerdict =
  | { readonly verdict: 'unknown'; readonly what: 'conversation' | 'step' }
  | { readonly verdict: 'duplicate'; readonly first: AcceptedBatch }
  | {
      readonly verdict: 'not_ready';
      readonly waiting: readonly {
        readonly toolCallId: ToolCallId;
        readonly name: string;
        readonly waitsFor: Exclude<ClientCallWait, 'client'>;
      }[];
    }
  | { readonly verdict: BatchFault['verdict']; readonly faults: readonly BatchFault[] }
  | AcceptedBatch;

export interface AcceptedBatch {
  readonly verdict: 'accepted';
  readonly stepId: StepId;
  /** Sequence number of the last recorded resolution. */
  readonly seq: number;
  /** In the order of the calls. */
  readonly results: readonly AcceptedVerdict[];
}

export const BATCH_HTTP_STATUS: Readonly<Record<BatchVerdict['verdict'], number>> = {
  unknown: 404,
  duplicate: 200,
  not_ready: 409,
  forbidden: 403,
  stale: 409,
  expired: 410,
  invalid: 422,
  accepted: 200,
};
