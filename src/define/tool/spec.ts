/**
 * The complete field list of `defineTool`, in one place. Fields that make no sense for an executor are left out of its
 * type, so that the compiler names the field. Fields of later work are typed now and refused at definition with "not
 * yet supported" (see `tool-rules/fields.ts`). Types only.
 */

import type { Effects, LateResult, Risk, ToolMode } from '../../protocol/calls/executors.js';
import type { Provenance } from '../../protocol/calls/results.js';
import type { Retention } from '../../protocol/conversation/context.js';
import type { ProviderTool } from '../../protocol/model/model.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { Json } from '../../protocol/values/json.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { GivenTo, ParsedOf, Schema } from '../schemas/schema.js';
import type { CallContext, ToolContext, ToolError } from './context.js';
import type { ToolFiles } from './files.js';
import type { ApprovalPolicy, ApprovalRequest } from './policy.js';

/** Time-outs of one call, each with its own text when it runs out. */
export interface ToolTimeouts {
  /** Time for an approval. @defaultValue 24 hours */
  readonly approval?: Duration;
  /** Time for the answer. @defaultValue 24 hours for people, 2 minutes for clients, 30 seconds for other backends */
  readonly answer?: Duration;
  /**
   * Time for a client or backend to claim the call: after it the call counts as having no client to run it, and the
   * model gets that result at once. At most `answer`. For a gated call it begins with its client phase. @defaultValue
   * 15 seconds for clients whose call is awaited, or `answer` where that is less; else none
   */
  readonly claim?: Duration;
  /** Time for one attempt of `run`, or of a client tool's `preflight`. @defaultValue 1 minute */
  readonly run?: Duration;
  /** Time for all waits and the run together, from when the model asked. Extensions never move a deadline past it. */
  readonly total?: Duration;
  /**
   * Time without a heartbeat after which the worker that runs the code counts as lost: 2 seconds to 1 hour; the engine
   * sends heartbeats from a timer. Must exceed any time for which the code blocks its process, and should not exceed an
   * acceptable wait for the next attempt. On a foreign `taskQueue` it declares that the workers there send heartbeats.
   * @defaultValue 10 seconds; on a foreign `taskQueue` none
   */
  readonly heartbeat?: Duration;
}

/**
 * Whether a person must approve the call before it runs. A function decides once per call; its decision is recorded,
 * and it fails closed: when it throws, takes more than 10 s or returns something else, the call does not run.
 */
export type Approval<Services, Input> =
  | 'auto'
  | 'required'
  | ApprovalRequest
  | ApprovalPolicy<Services, Input>;

/** A tool's report of what a lost run did. `result`: the value that `run` would have returned. */
export type Reconciled<Result> =
  | { readonly happened: true; readonly result: Result }
  | { readonly happened: false }
  | 'unknown';

/**
 * The result when no answer comes in time: an error that the model reads, or a default answer, which is checked against
 * the output schema when the tool is defined. An approval never has a default.
 */
export type OnExpire<Output> = 'error' | { readonly default: Output };

/** Data about a tool that the engine does not interpret, such as `{visible: true}`. */
export type ToolMetadata = Readonly<Record<string, Json>>;

/** Fields that people who decide about a call are shown. Pinned with each call; nothing is decided by them. */
export interface LabelFields {
  /** A name for people, on one line of 1 to 120 characters. @defaultValue none: the tool's name is shown */
  readonly title?: string;
  /** How much harm a call can do. Lists of waiting calls show it and filter by it. @defaultValue none */
  readonly risk?: Risk;
}

interface SharedFields extends LabelFields {
  /** Words of letters, digits and "-", joined by single "_" or "."; up to 64 characters with "." counted twice. */
  readonly name: string;
  /** Description of what the tool does; the model reads it with the tool. */
  readonly description: string;
  /** How to use the tool; part of the system prompt. @defaultValue the description */
  readonly usage?: string;
  /**
   * How long the model sees the tool's results: `{turns: 6}`, `{last: 3}` or `'never_evict'`. After that they are
   * stubs. @defaultValue the agent's `context.retention`, by which they become stubs near the context's budget only
   */
  readonly retention?: Retention;
  /** Follows from the executor; a declaration that disagrees is refused. */
  readonly executesFully?: boolean;
  /**
   * Data for plugins, front ends and other readers of the definition: a JSON object of at most 4 KiB. The engine shows
   * it in the agent's manifest, or, for a tool that is made at run time, in the plan of each call, and never reads it.
   * The model does not get it.
   */
  readonly metadata?: ToolMetadata;
}

interface CommonFields<Input extends Schema> extends SharedFields {
  /** An object: zod, or JSON Schema through `jsonSchema()`. The model sees its input side, the tool its output side. */
  readonly input: Input;
  /**
   * Whether the model is held to the input's strict form. `false`: never, for servers or models that do it badly, or
   * slowly; `true`: a tool whose input has no such form is refused. @defaultValue true where the input has such a form
   */
  readonly strict?: boolean;
  /**
   * Change this when code behind the input schema (a table, an imported function) reads arguments differently and the
   * schema does not show it. Calls that were planned before are then parsed anew before they run. 1 to 64 characters.
   */
  readonly version?: string;
}

interface MigratingFields<Input extends Schema> {
  /**
   * Migrates waiting calls that were planned before the input schema was changed. Called with the arguments as the
   * model or an approver wrote them, and the digest of the definition that they were written for, where the present
   * schema parses them to a different value than before. The return value is validated like a model's arguments, judged
   * by the policies, and, where the call is gated, approved anew. Undefined: this call cannot be migrated, and ends
   * with `definition_changed`. Must have no effects; has 10 s. Never called once a run of the call has begun.
   * @defaultValue no call can be migrated
   */
  readonly migrate?: (
    raw: unknown,
    fromDigest: string,
  ) => GivenTo<Input> | undefined | Promise<GivenTo<Input> | undefined>;
}

interface WaitingFields {
  /**
   * `'detach'`: the model reads `{status: 'pending', pendingToolCallId}` at once and continues; the call's result
   * becomes new input for it, once. Time-outs then default to 7 days. @defaultValue 'await'
   */
  readonly mode?: ToolMode;
  /** Announces the end of a wait by an event, this long before it. */
  readonly warnBefore?: Duration;
  /**
   * Treatment of the first valid result after the deadline: refused, or taken as new input. Late approvals are never
   * taken. @defaultValue 'inbox' for other backends and for detached calls that are answered from outside, else
   * 'reject'
   */
  readonly lateResult?: LateResult;
}

/** Return value of a tool's code: its result, with files if it shows any; or an error for the model to read. */
type ToolReturn<Output extends Schema> = GivenTo<Output> | ToolFiles<GivenTo<Output>> | ToolError;

/** Code of the application that runs in a worker. */
export interface ServerToolSpec<Services, Input extends Schema, Output extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor?: 'server';
  /** Schema of the return value of `run`; checked after every run. Absent: any value, normalised to JSON. */
  readonly output?: Output;
  /** @defaultValue 'auto' */
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  /**
   * The effect of a second run. A `'once'` tool is never run again on suspicion: for a lost worker see `reconcile` and
   * `onOutcomeUnknown`. @defaultValue 'idempotent'
   */
  readonly effects?: Effects;
  /**
   * The most runs of one call, counting lost workers and `ToolRetry`: 1 to 100. With effects `'once'` the call runs
   * again only after `reconcile` has reported that the lost run had no effect; without `reconcile` the value is 1.
   * @defaultValue 3; 1 for effects `'once'` without `reconcile`
   */
  readonly maxAttempts?: number;
  /**
   * For short reads, with effects `'none'` only: where no rule forbids it, the call runs inside the model call that
   * asked for it, and its result comes back with the answer, without an activity or workflow task of its own. All reads
   * of an answer have 500 ms together, 50 ms where another of its tools waits for them to begin. A read that takes
   * longer (its `signal` fires), asks, throws a `ToolRetry` or returns a result that must be stored is run again as a
   * normal activity, from attempt 1.
   * @defaultValue false
   */
  readonly inline?: boolean;
  /**
   * The most bytes of a result's JSON that the model is shown: 1,024 to 204,800. The model sees the beginning of a
   * larger result, and the whole is stored; `ctx.storedResults` reads it, as do clients over HTTP, and the model itself
   * where the agent has `readResults`.
   * @defaultValue 204,800
   */
  readonly maxResultBytes?: number;
  /**
   * Task queue of the workers that run the tool, when it is not the conversation's own: those of another
   * `createColloquyWorker({taskQueue, agents, services})` with the same agents. They send heartbeats only where
   * `timeouts.heartbeat` is set; otherwise a lost worker is noticed when the run times out, and a cancellation does not
   * reach the code. Without a worker on the queue the call ends as not run after 5 minutes.
   */
  readonly taskQueue?: string;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'answer' | 'run' | 'total' | 'heartbeat'>;
  /** Concerns the approval, which never has a default. */
  readonly onExpire?: 'error';
  /** Whether `ctx.progress` reaches watchers. */
  readonly streaming?: boolean;
  /**
   * A step that calls this tool ends the turn once all of its calls have succeeded: no model call reads their results
   * in this turn. Where it is the only call of the step, no later model call reads the step either; the log keeps it.
   * Input that has come meanwhile is answered first. Has no effect in a turn that must answer in a form of its own.
   * @defaultValue false
   */
  readonly endsTurn?: boolean;
  /**
   * Does the work. A thrown error is a result that the model reads, never a failure; the call runs again only when its
   * worker was lost (see `effects`), or when the code throws a `ToolRetry`.
   */
  readonly run: (
    input: ParsedOf<Input>,
    ctx: ToolContext<Services>,
  ) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
  /**
   * Finds out what a lost run of a `'once'` tool did, by its idempotency key. Called after the run's worker was lost or
   * the run timed out, so in a network partition the run may still be in progress: return `happened: false` only where
   * it cannot take effect any more. The call then runs again, while `maxAttempts` allows it. Must have no effects. When
   * it throws it is called again, up to five times in all; after that, and for any other return value, the outcome
   * counts as unknown.
   */
  readonly reconcile?: (
    input: ParsedOf<Input>,
    ctx: CallContext<Services>,
  ) => Reconciled<GivenTo<Output>> | Promise<Reconciled<GivenTo<Output>>>;
  /**
   * Action when the outcome of a lost run of a `'once'` tool stays unknown. `'tell'`: the model gets that as the
   * result. `'hold'`: the call waits as a suspension of kind `outcome`, at most `timeouts.answer`, for an operator who
   * finds out and resolves it by `{type: 'outcome', value | error}`; give it an `audience`. @defaultValue `'tell'`
   */
  readonly onOutcomeUnknown?: 'tell' | 'hold';
  /**
   * `'untrusted'`: the tool's result is under foreign control, such as a page that it reads. Results are marked so in
   * the log, and for policies (`ctx.results`). @defaultValue 'trusted', but 'untrusted' for HTTP tools
   */
  readonly provenance?: Provenance;
  /**
   * Audience of a held call's outcome and of questions asked by `ctx.ask`; an approval has an audience of its own.
   * @defaultValue every actor
   */
  readonly audience?: AudienceSpec;
}

/** A question to a person: the answer is the result, so there is nothing to gate and nothing to run. */
export interface HumanToolSpec<Input extends Schema, Output extends Schema>
  extends CommonFields<Input>,
    WaitingFields {
  readonly executor: 'human';
  /** The form. @defaultValue free text */
  readonly output?: Output;
  readonly timeouts?: Pick<ToolTimeouts, 'answer' | 'total'>;
  readonly onExpire?: OnExpire<GivenTo<Output>>;
  /** Audience of the answer. @defaultValue every actor */
  readonly audience?: AudienceSpec;
}

/** Code in the user's front end. Its result is under the user's control. */
export interface ClientToolSpec<
  Services,
  Input extends Schema,
  Output extends Schema,
  Shaped = unknown,
> extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor: 'client';
  /** Schema of the client's result. Absent: any JSON. */
  readonly output?: Output;
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<
    ToolTimeouts,
    'approval' | 'answer' | 'claim' | 'run' | 'total' | 'heartbeat'
  >;
  readonly onExpire?: OnExpire<GivenTo<Output>>;
  /** Audience of claims and results. @defaultValue every actor */
  readonly audience?: AudienceSpec;
  /** Whether the holder of the call may report progress. */
  readonly streaming?: boolean;
  /**
   * Makes and authorises the request on the server, before the call is approved or offered; must have no effects. The
   * return value, as JSON of at most 64 KiB, is the prompt for the approver and for the client, and the client gets
   * exactly the approved one. The model never gets it, but every reader of the conversation's log can see it. An error
   * that it throws is the call's result. The approver cannot edit the input of such a call.
   */
  readonly preflight?: (input: ParsedOf<Input>, ctx: CallContext<Services>) => Shaped;
}

/** Code of another backend, which finds the call in the list of pending calls and submits its result, or an error. */
export interface ExternalToolSpec<Services, Input extends Schema, Output extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor: 'external';
  /** Schema of the backend's result. Absent: any JSON. */
  readonly output?: Output;
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'answer' | 'claim' | 'total'>;
  readonly onExpire?: OnExpire<GivenTo<Output>>;
  /** Audience of claims and results. @defaultValue every actor */
  readonly audience?: AudienceSpec;
  /** Whether the holder of the call may report progress. */
  readonly streaming?: boolean;
}

/**
 * A tool that the model's provider runs inside the model call: web search, code interpreter, file search. Nothing can
 * be held or bounded there, so it has no gate, time-outs or effects; its calls are shown as `untrusted` and cannot be
 * answered. The agent's model must run such tools. The configuration is never recorded and never shown.
 */
export interface ProviderToolSpec extends Omit<SharedFields, 'description'> {
  readonly executor: 'provider';
  /** The tool in the form of the provider's API, such as `{type: 'web_search'}`; JSON of at most 64 KiB. */
  readonly provider: ProviderTool;
  /** Part of the system prompt, beside the provider's own description for its model. @defaultValue names the type */
  readonly description?: string;
}

/** A tool without code: the arguments are the result. For structured output and for calls whose making is the point. */
export interface InternalToolSpec<Services, Input extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input> {
  readonly executor: 'internal';
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'total'>;
  /** Concerns the approval, which never has a default. */
  readonly onExpire?: 'error';
  /**
   * A step that calls this tool ends the turn once all of its calls have succeeded: no model call reads their results
   * in this turn. Where it is the only call of the step, no later model call reads the step either; the log keeps it.
   * Input that has come meanwhile is answered first. Has no effect in a turn that must answer in a form of its own.
   * @defaultValue false
   */
  readonly endsTurn?: boolean;
}

/** All specs that `defineTool` takes, by executor. */
export type ToolSpec<Services, Input extends Schema, Output extends Schema, Shaped = unknown> =
  | ServerToolSpec<Services, Input, Output>
  | HumanToolSpec<Input, Output>
  | ClientToolSpec<Services, Input, Output, Shaped>
  | ExternalToolSpec<Services, Input, Output>
  | ProviderToolSpec
  | InternalToolSpec<Services, Input>;
