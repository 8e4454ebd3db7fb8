/** The options of a tool worker, and what its tools get. Types only. */
import type { ToolOffer } from '../protocol/calls/claims.js';
import type { FieldProblem } from '../protocol/values/field-problem.js';
import type { Json, JsonOf } from '../protocol/values/json.js';

/** The types of one tool's input and output. */
export interface ToolContract {
  readonly input: unknown;
  readonly output: unknown;
}

/** By name of the tool. */
export type ToolContracts = Readonly<Record<string, ToolContract>>;

/** Any JSON comes in and goes out. */
export type UntypedContracts = Readonly<
  Record<string, { readonly input: Json; readonly output: unknown }>
>;

interface DefinedTool {
  readonly name: string;
  readonly '~types'?: { readonly prompt: unknown; readonly output: unknown };
}

/**
 * The contracts of tools, where the worker and the agent share the definitions.
 * @example createToolWorker<ToolContractsOf<typeof agent.tools>>({ url, tools: { 'video.render': render } })
 */
export type ToolContractsOf<Tools extends readonly unknown[]> = {
  readonly [Tool in Tools[number] as Tool extends DefinedTool ? Tool['name'] : never]: {
    readonly input: Tool extends DefinedTool ? JsonOf<NonNullable<Tool['~types']>['prompt']> : Json;
    readonly output: Tool extends DefinedTool
      ? JsonOf<NonNullable<Tool['~types']>['output']>
      : unknown;
  };
};

export interface ToolCallContext
  extends Pick<
    ToolOffer,
    'agent' | 'attempt' | 'conversationId' | 'deadline' | 'ref' | 'tool' | 'toolCallId' | 'turnId'
  > {
  /** The claim under which the call runs. */
  readonly claimId: string;
  /** The same for every run of the call, in any worker: for systems that refuse to do the same twice. */
  readonly idempotencyKey: string;
  /**
   * Aborts when another worker may run the call, when the call has ended, or when the worker stops without a drain. The
   * reason is an `Error` that says so.
   */
  readonly signal: AbortSignal;
  /**
   * Shows progress to subscribers of the conversation, and renews the lease. The tool needs `streaming: true`. False
   * when it was not shown: it is not sent again.
   */
  progress(payload: Json): Promise<boolean>;
}

/** An error that it throws is the result of the call; the model reads its message. */
export type ToolHandler<Contract extends ToolContract> = (
  input: Contract['input'],
  ctx: ToolCallContext,
) => Contract['output'] | Promise<Contract['output']>;

/**
 * `handler`: a tool threw, and its error is the result. `invalid_output`: the API judged that the output breaks the
 * tool's schema (`problems`), or it is not JSON; an error is the result. `result_refused`: the call has ended, or
 * another worker holds it. `claim_refused`: this worker may not run the call. `stream`: the API refuses the stream of
 * offers, such as for a wrong token, or cannot be reached; the worker goes on trying.
 */
export type ToolWorkerFailureKind =
  | 'claim_refused'
  | 'handler'
  | 'invalid_output'
  | 'result_refused'
  | 'stream';

export interface ToolWorkerOptions<Contracts extends ToolContracts> {
  /** Address of the API, such as `https://agents.example`; several, of API processes with the same store. */
  readonly url: string | readonly string[];
  /** Sent as `Authorization: Bearer`. A function is called for each request, so a token may be renewed. */
  readonly token?: string | (() => string | Promise<string>);
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For callers that may use several tenants. @defaultValue the first of the caller's */
  readonly tenant?: string;
  readonly tools: { readonly [Name in keyof Contracts]: ToolHandler<Contracts[Name]> };
  /** Calls that run at the same time: 1 to 1,000. @defaultValue 1 */
  readonly concurrency?: number;
  /**
   * Milliseconds that a claim outlives this worker; it is renewed three times as often. 1,000 to 3,600,000.
   * @defaultValue 60000
   */
  readonly leaseMs?: number;
  /** The executors of the calls to run. @defaultValue `['external']` */
  readonly executors?: readonly ToolOffer['executor'][];
  /** Only calls of this agent. */
  readonly agent?: string;
  /** The actor of claims and results, where the API takes it from requests instead of the token. */
  readonly actor?: { readonly id: string; readonly roles?: readonly string[] };
  /** Stops the worker without a drain. */
  readonly signal?: AbortSignal;
  /** Hears of every failure; it must not throw. @defaultValue writes to `console.error` */
  readonly onError?: (failure: ToolWorkerFailure) => void;
  /** @defaultValue the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** A failure that the worker has dealt with, for logs and alarms. */
export interface ToolWorkerFailure extends Error {
  readonly kind: ToolWorkerFailureKind;
  readonly call?: ToolOffer;
  readonly problems?: readonly FieldProblem[];
}

export interface ToolWorker {
  /** Calls that are claimed or run, and results that are not sent yet. */
  readonly running: number;
  /**
   * Claims no further call. With `drain`, running calls end and their results are sent first, as long as that takes, or
   * for `timeoutMs`. Without, and after that time, `ctx.signal` aborts, and the claims end within a second: then other
   * workers are offered the calls. Safe to repeat; a later stop may be harder.
   * @defaultValue a drain without a time limit
   */
  stop(options?: { readonly drain?: boolean; readonly timeoutMs?: number }): Promise<void>;
  /** Resolves once the worker has stopped. */
  readonly stopped: Promise<void>;
}
