/** Public shapes of requests about single calls: targets, options, outcomes. */
import type { BatchResult, BatchVerdict } from '../../protocol/calls/batches.js';
import type { ClaimVerdict } from '../../protocol/calls/claims.js';
import type { ExtendVerdict } from '../../protocol/calls/extensions.js';
import type { Resolution, Verdict } from '../../protocol/calls/resolutions.js';
import type { Actor, StampedActor } from '../../protocol/values/actors.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { CallRef, ToolCallId } from '../../protocol/values/ids.js';
import type { Json, JsonOf } from '../../protocol/values/json.js';
import type { FinalOptions } from './types.js';

/** A call: its opaque ref, its parts, or the pending call of a snapshot or result. */
export type ResolveTarget = string | CallParts | PendingTarget<unknown>;

type CallParts = Omit<CallRef, 'tenant'> & { readonly tenant?: string };

/** A pending call, with the type of its answer where `isPendingOf` has narrowed it to the tools of an agent. */
export interface PendingTarget<Answer> {
  readonly ref: string;
  /** For the compiler; never present at run time. */
  readonly '~answer'?: Answer;
}

/** A resolution whose answer or result has the type that the call's tool declares. */
export type ResolutionOf<Answer> =
  | Exclude<Resolution, { readonly type: 'answer' | 'result' }>
  | (Omit<Extract<Resolution, { readonly type: 'answer' }>, 'value'> & { readonly value: Answer })
  | (Omit<Extract<Resolution, { readonly type: 'result' }>, 'value'> & { readonly value: Answer });

/** A call with the name of its tool, such as a pending call. The name is for the compiler, and is not compared. */
export interface NamedCall<Name extends string> {
  readonly toolCallId: ToolCallId;
  readonly name: Name;
}

/**
 * The JSON that answers a call: the output that the tool of the name declares, where its calls are answered from
 * outside; any JSON where the tool is not known.
 */
export type AnswerOfTool<Tools, Name extends string> = string extends Name
  ? Json
  : [Extract<Tools, Named<Name>>] extends [AnsweredOutside<infer Output>]
    ? JsonOf<Output>
    : Json;

interface Named<Name extends string> {
  readonly name: Name;
}

interface AnsweredOutside<Output> {
  readonly executor: 'human' | 'client' | 'external';
  readonly '~types'?: { readonly output: Output };
}

/** The result of a client call as a value, in place of its JSON text. */
export type StepResult<Name extends string, Answer> = NamedCall<Name> &
  Omit<BatchResult, 'errorMessage' | 'resultJson' | 'toolCallId'> & { readonly result: Answer };

/** A result of each tool of an agent by its name; any JSON where the tools are not known. */
export type StepResultOf<Tools> = Tools extends {
  readonly name: infer Name extends string;
  readonly executor: 'client';
}
  ? StepResult<Name, AnswerOfTool<Tools, Name>>
  : unknown extends Tools
    ? StepResult<string, Json>
    : never;

export interface ResolveOptions {
  readonly actor?: Actor | StampedActor | undefined;
  /** Names the answer: repeats with the same id return `duplicate` with the first verdict. Created when absent. */
  readonly requestId?: string | undefined;
  /** Refuses the answer if the arguments have changed since they were shown. */
  readonly argsDigest?: string | undefined;
  /** The claim under which the call was run, of a result. Needed while the call is claimed. */
  readonly claimId?: string | undefined;
  /** ISO 8601; when the answer arrived, if that was before this call. The workflow judges lateness by it. */
  readonly receivedAt?: string | undefined;
}

/** The verdict, and its HTTP status. */
export type ResolveOutcome = Verdict & {
  readonly httpStatus: number;
  readonly requestId: string;
  /** Why an answer is queued, and the next command. Absent for other verdicts. */
  readonly warning?: string;
  /**
   * The verdict on a queued answer, and on one with `checked: false`, once a worker has checked it: `invalid` if it was
   * reverted. Any other verdict is final already. The same verdict as before when the time is up.
   */
  final(options?: FinalOptions): Promise<Verdict>;
};

/** The verdict on the results of a whole step, and its HTTP status. */
export type BatchOutcome = BatchVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};

/** Exactly one of `by` and `until`. */
export interface ExtendOptions {
  /** Added to the present deadline. */
  readonly by?: Duration | undefined;
  /** The new deadline; a text is ISO 8601 with its offset. */
  readonly until?: Date | string | undefined;
  /** Names the extension: repeats with the same id move nothing. Created when absent. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
}

export interface ClaimOptions {
  /**
   * How long the claim lasts unless it is renewed: 1 second to 1 hour. @defaultValue '5 minutes'; for a renewal, the
   * previous length
   */
  readonly lease?: Duration | undefined;
  /** Id of the claim to renew. Absent: a new claim. */
  readonly claimId?: string | undefined;
  /**
   * With a `claimId`: a claim that is over is refused with `stale`, `not_holder`, instead of made anew.
   * @defaultValue false
   */
  readonly renewOnly?: boolean | undefined;
  /** Names the claim: repeats with the same id are one claim. Created when absent. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
  /** ISO 8601; when the claim arrived, if that was before this call. */
  readonly receivedAt?: string | undefined;
}

/** The verdict, and its HTTP status. */
export type ClaimOutcome = ClaimVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};

export interface ProgressOptions {
  /** Id of the claim under which the call runs. */
  readonly claimId: string;
  readonly actor?: Actor | StampedActor | undefined;
}

export type ProgressVerdict =
  | Extract<Verdict, { verdict: 'unknown' | 'invalid' }>
  | {
      readonly verdict: 'stale';
      readonly why: 'not_waiting' | 'not_holder';
      readonly by?: string;
      readonly at?: string;
    }
  | { readonly verdict: 'accepted'; readonly toolCallId: ToolCallId; readonly leaseUntil: string };

export type ProgressOutcome = ProgressVerdict & { readonly httpStatus: number };

/** The verdict, and its HTTP status. */
export type ExtendOutcome = ExtendVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};
