/**
 * The complete field list of `defineTool`, and the one place where it stands. Fields that make no sense for an executor are
 * left out of its type: the compiler then names the field. Fields of later work are typed now and refused at definition with
 * "not yet supported" (see `legal.ts`). Types only.
 */

import type { Effects, LateResult, ToolMode } from '../../protocol/calls/executors.js';
import type { Provenance } from '../../protocol/calls/results.js';
import type { Retention } from '../../protocol/conversation/context.js';
import type { ProviderTool } from '../../protocol/model/model.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { Duration } from '../checks/durations.js';
import type { GivenTo, ParsedOf, Schema } from '../schemas/schema.js';
import type { CallContext, ToolContext, ToolError } from './context.js';
import type { ToolFiles } from './files.js';
import type { ApprovalPolicy, ApprovalRequest } from './policy.js';

/** Clocks of one call, each with its own text when it runs out. */
export interface ToolTimeouts {
  /** How long an approval may take. @defaultValue 24 hours */
  readonly approval?: Duration;
  /** How long the answer may take. @defaultValue 24 hours for people, 2 minutes for clients, 30 seconds for other backends */
  readonly answer?: Duration;
  /**
   * How long the call may wait without being claimed: after that nobody is there to run it, and the model is told so at once.
   * At most `answer`. A gated call's begins when its client phase opens. @defaultValue 15 seconds for clients whose call is
   * awaited, or `answer` where that is less; else none
   */
  readonly claim?: Duration;
  /** One attempt of `run`, or of a client tool's `preflight`. @defaultValue 1 minute */
  readonly run?: Duration;
  /** All waits and the run together, from when the model asked. Extensions never move past it. */
  readonly total?: Duration;
  /**
   * How soon the loss of the worker that runs the code is noticed: 2 seconds to 1 hour without a heartbeat, which the engine sends from a
   * timer. Longer than any time for which the code holds up its process; not longer than somebody would wait for the next attempt. On a
   * `taskQueue` elsewhere it says that the workers there heartbeat. @defaultValue 10 seconds; on a `taskQueue` elsewhere none
   */
  readonly heartbeat?: Duration;
}

/**
 * Whether a person must agree before the call runs. A function decides it once per call; its decision is recorded, and it fails
 * closed: when it throws, takes more than 10 s or returns something else, the call does not run.
 */
export type Approval<Services, Input> =
  | 'auto'
  | 'required'
  | ApprovalRequest
  | ApprovalPolicy<Services, Input>;

/** What a tool says of a run that was lost. `result` is what `run` would have returned. */
export type Reconciled<Result> =
  | { readonly happened: true; readonly result: Result }
  | { readonly happened: false }
  | 'unknown';

/**
 * What happens when nobody answers in time: an error that the model reads, or an answer that is taken for granted. It is
 * judged by the output schema when the tool is defined. An approval never has a default.
 */
export type OnExpire<Output> = 'error' | { readonly default: Output };

interface SharedFields {
  /** Words of letters, digits and "-", joined by single "_" or "."; up to 64 characters with "." counted twice. */
  readonly name: string;
  /** What the tool does; the model reads it with the tool. */
  readonly description: string;
  /** How to use it; stands in the system prompt. @defaultValue the description */
  readonly usage?: string;
  /** Whether the call shows in a space as a message. Not yet supported. */
  readonly visible?: boolean;
  /**
   * How long the model keeps seeing the tool's results: `{turns: 6}`, `{last: 3}` or `'never_evict'`. After that they are shown as
   * stubs as soon as the context comes near its budget. @defaultValue the agent's `context.retention`
   */
  readonly retention?: Retention;
  /** A declaration of what follows from the executor anyway; one that disagrees is a fault. */
  readonly executesFully?: boolean;
}

interface CommonFields<Input extends Schema> extends SharedFields {
  /** An object: zod, or JSON Schema through `jsonSchema()`. The model sees its input side, the tool its output side. */
  readonly input: Input;
  /**
   * Whether the model is kept to the input's strict form. `false`: it never is, for servers or models that do it badly, or slowly;
   * `true`: a tool whose input has no such form is a fault. @defaultValue where the input has such a form
   */
  readonly strict?: boolean;
  /**
   * To be changed where code behind the input schema reads arguments in another way and the schema does not show it: a table, an
   * imported function. Calls that were planned before are then parsed anew before they run. 1 to 64 characters.
   */
  readonly version?: string;
}

interface MigratingFields<Input extends Schema> {
  /**
   * Carries over calls that were planned before the input schema was changed, and wait: called with the arguments as the model or
   * an approver wrote them, and the digest of the definition that they were written for, where the schema of now does not make of
   * them what it made then. What it returns is validated like a model's arguments, put to the policies, and, where the call is
   * gated, approved anew. Undefined: this call cannot be carried over, and ends with `definition_changed`. Must have no effects;
   * has 10 s. Never called once a run of the call has begun. @defaultValue none can
   */
  readonly migrate?: (
    raw: unknown,
    fromDigest: string,
  ) => GivenTo<Input> | undefined | Promise<GivenTo<Input> | undefined>;
}

interface WaitingFields {
  /**
   * `'detach'`: the model reads `{status: 'pending', pendingToolCallId}` at once and goes on; what comes of the call is new
   * input for it, once. Clocks then default to 7 days. @defaultValue 'await'
   */
  readonly mode?: ToolMode;
  /** Announces the end of a wait this long before, as an event. */
  readonly warnBefore?: Duration;
  /**
   * What becomes of the first valid result after the deadline: refused, or taken as new input. Late approvals are never taken.
   * @defaultValue 'inbox' for other backends and for detached calls that are answered from outside, else 'reject'
   */
  readonly lateResult?: LateResult;
}

/** What a tool's code may return: its result, with files if it shows any; or an error for the model to read. */
type ToolReturn<Output extends Schema> = GivenTo<Output> | ToolFiles<GivenTo<Output>> | ToolError;

/** Code of yours that runs in a worker. */
export interface ServerToolSpec<Services, Input extends Schema, Output extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor?: 'server';
  /** Shape of what `run` returns; checked after every run. Absent: any value, normalised to JSON. */
  readonly output?: Output;
  /** @defaultValue 'auto' */
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  /**
   * What a second run would do. `'once'` is never run again on suspicion: after a lost worker see `reconcile` and
   * `onOutcomeUnknown`.
   * @defaultValue 'idempotent'
   */
  readonly effects?: Effects;
  /**
   * How often one call may be run, counting lost workers and `ToolRetry`: 1 to 100. With effects `'once'` it is run again only after
   * `reconcile` has said that the lost run had no effect; without `reconcile` it is 1.
   * @defaultValue 3; 1 for effects `'once'` without `reconcile`
   */
  readonly maxAttempts?: number;
  /**
   * For short reads, with effects `'none'` only: where nothing stands against it, the call runs inside the model call that asked
   * for it, and its result comes back with the answer: no activity of its own, and no workflow task. All reads of an answer have
   * 500 ms together, 50 ms where another of its tools waits for them to begin. One that takes longer (its `signal` fires), asks,
   * throws a `ToolRetry` or returns what has to be stored is run again as a normal activity, from attempt 1.
   * @defaultValue false
   */
  readonly inline?: boolean;
  /**
   * How much of a result the model is shown, in bytes of its JSON: 1,024 to 204,800. Of a larger one it sees the beginning, and
   * all of it is stored: it is read by `ctx.storedResults`, over HTTP, and by the model itself where the agent has `readResults`.
   * @defaultValue 204,800
   */
  readonly maxResultBytes?: number;
  /**
   * Task queue of the workers that run it, when it is not the conversation's own: those of another
   * `createColloquyWorker({taskQueue, agents, services})` with the same agents. They heartbeat only where
   * `timeouts.heartbeat` says so; otherwise a lost one is noticed
   * when the run's time is over, and a cancel does not reach the code; without any, the call ends as not run after 5 minutes.
   */
  readonly taskQueue?: string;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'answer' | 'run' | 'total' | 'heartbeat'>;
  /** Of the approval, which never has a default. */
  readonly onExpire?: 'error';
  /** Whether `ctx.progress` reaches watchers. */
  readonly streaming?: boolean;
  /**
   * Does the work. A thrown error is a result that the model reads, never a failure; it is run again only when its worker
   * was lost (see `effects`), or when it throws a `ToolRetry`.
   */
  readonly run: (
    input: ParsedOf<Input>,
    ctx: ToolContext<Services>,
  ) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
  /**
   * Finds out what a lost run of a `'once'` tool did, by its idempotency key. Called after the run's worker was lost or its
   * time was over, so on a network that was cut in two the run may still be going on: answer `happened: false` only where it
   * cannot take effect any more. The call is then run again, while `maxAttempts` allows it. Must have no effects; when it throws it is asked again, up
   * to five times in all, and then, as with any other answer, the outcome counts as unknown.
   */
  readonly reconcile?: (
    input: ParsedOf<Input>,
    ctx: CallContext<Services>,
  ) => Reconciled<GivenTo<Output>> | Promise<Reconciled<GivenTo<Output>>>;
  /**
   * What follows when nobody knows what a lost run of a `'once'` tool did. `'tell'`: the model reads so. `'hold'`: the call
   * waits as a suspension of kind `outcome`, at most `timeouts.answer`, for somebody who finds out and resolves it by
   * `{type: 'outcome', value | error}`; give it an `audience`. @defaultValue 'tell'
   */
  readonly onOutcomeUnknown?: 'tell' | 'hold';
  /**
   * `'untrusted'`: what the tool returns is under somebody else's control, such as a page that it reads. Results are marked so in the
   * log, and for policies (`ctx.results`). @defaultValue 'trusted', but 'untrusted' for HTTP tools
   */
  readonly provenance?: Provenance;
  /** Who may say what became of a held call, and answer what `ctx.ask` asks; an approval has an audience of its own. @defaultValue anybody */
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
  /** Who may answer. @defaultValue anybody */
  readonly audience?: AudienceSpec;
}

/** Code in the user's front end. What it returns is under the user's control. */
export interface ClientToolSpec<
  Services,
  Input extends Schema,
  Output extends Schema,
  Shaped = unknown,
> extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor: 'client';
  /** Shape of what the client returns. Absent: any JSON. */
  readonly output?: Output;
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<
    ToolTimeouts,
    'approval' | 'answer' | 'claim' | 'run' | 'total' | 'heartbeat'
  >;
  readonly onExpire?: OnExpire<GivenTo<Output>>;
  /** Who may claim the call and submit the result. @defaultValue anybody */
  readonly audience?: AudienceSpec;
  /** Whether who holds the call may report progress. */
  readonly streaming?: boolean;
  /**
   * Shapes and authorises the request on the server, before anybody is asked; must have no effects. What it returns, as JSON
   * of at most 64 KiB, is the prompt for the approver and for the client, and what was approved is what the client gets; it
   * never goes to the model, but everybody who may read the conversation's log can see it. An error that it throws is the
   * call's result. The approver cannot edit the input of such a call.
   */
  readonly preflight?: (input: ParsedOf<Input>, ctx: CallContext<Services>) => Shaped;
}

/** Another backend finds the call among those that are pending and submits its result, or an error. */
export interface ExternalToolSpec<Services, Input extends Schema, Output extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input>,
    WaitingFields {
  readonly executor: 'external';
  /** Shape of what the backend submits. Absent: any JSON. */
  readonly output?: Output;
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'answer' | 'claim' | 'total'>;
  readonly onExpire?: OnExpire<GivenTo<Output>>;
  /** Who may claim the call and submit the result. @defaultValue anybody */
  readonly audience?: AudienceSpec;
  /** Whether who holds the call may report progress. */
  readonly streaming?: boolean;
}

/**
 * A tool that the model's provider runs inside the model call: web search, code interpreter, file search. Nothing can be held or
 * bounded there, so it has no gate, clocks or effects; its calls are shown, `untrusted`, and nobody answers them. The agent's
 * model must run such tools. The configuration is never recorded and never shown.
 */
export interface ProviderToolSpec extends Omit<SharedFields, 'description'> {
  readonly executor: 'provider';
  /** As the provider's API takes it, such as `{type: 'web_search'}`; JSON of at most 64 KiB. */
  readonly provider: ProviderTool;
  /** The provider tells its model what the tool is; this stands in the system prompt beside. @defaultValue names the type */
  readonly description?: string;
}

/** Nobody runs it: the arguments are the result. For structured output and for calls whose making is the point. */
export interface InternalToolSpec<Services, Input extends Schema>
  extends CommonFields<Input>,
    MigratingFields<Input> {
  readonly executor: 'internal';
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly timeouts?: Pick<ToolTimeouts, 'approval' | 'total'>;
  /** Of the approval, which never has a default. */
  readonly onExpire?: 'error';
}

/** Everything that `defineTool` takes, by executor. */
export type ToolSpec<Services, Input extends Schema, Output extends Schema, Shaped = unknown> =
  | ServerToolSpec<Services, Input, Output>
  | HumanToolSpec<Input, Output>
  | ClientToolSpec<Services, Input, Output, Shaped>
  | ExternalToolSpec<Services, Input, Output>
  | ProviderToolSpec
  | InternalToolSpec<Services, Input>;
