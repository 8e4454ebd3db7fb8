/** The types of tools: the engine's form of one, and the types that its definition gives the compiler. Types only. */

import type {
  Effects,
  Executor,
  LateResult,
  ToolLabels,
  ToolMode,
} from '../../protocol/calls/executors.js';
import type {
  ApprovalPlan,
  CallTimeouts,
  ChildBudgets,
  MadeToolRef,
  McpToolRef,
  ToolAnnotations,
} from '../../protocol/calls/plan.js';
import type { Provenance } from '../../protocol/calls/results.js';
import type { Retention } from '../../protocol/conversation/context.js';
import type { ProviderTool } from '../../protocol/model/model.js';
import type { Audience } from '../../protocol/values/audience.js';
import type { Json, JsonSchema } from '../../protocol/values/json.js';
import type { ParsedOf, Schema } from '../schemas/schema.js';
import type { CallContext, ToolContext, UntypedServices } from './context.js';
import type { HttpPlan } from './http-plan.js';
import type { PolicyContext } from './policy.js';
import type { ToolMetadata, ToolSpec } from './spec.js';

/** The rule by which an answer of a person or client is judged. */
export interface AnswerRule {
  /** Schema of the answer, without the checks that only a worker can run. Absent: any JSON. */
  readonly schema?: JsonSchema;
  readonly recheck: boolean;
  /** The only effect that the worker's check can have; absent = any. */
  readonly recheckOnly?: 'unknown_keys';
}

/**
 * A tool as the engine knows it; made by `defineTool` only. `Services` is the type of `ctx.services` that `run` needs;
 * `Input` and `Output` are for inference and have no value at run time.
 */
export interface Tool<
  Services = UntypedServices,
  Input = unknown,
  Output = unknown,
  Traits extends ToolTraits = ToolTraits,
> extends ToolLabels {
  readonly kind: 'tool';
  readonly name: Traits['name'];
  readonly description: string;
  readonly usage: string;
  readonly executor: Traits['executor'];
  readonly input: Schema;
  /** The input schema as the model gets it. */
  readonly inputSchema: JsonSchema;
  /** The same in strict form, where the schema has one; see `schemas/strictness.ts`. */
  readonly strictInput?: JsonSchema;
  /** The reason why the schema has no strict form, in words. */
  readonly notStrict?: string;
  readonly output?: Schema;
  /** The gate, unless `policy` decides for each call. */
  readonly approval: ApprovalPlan;
  readonly policy?: (input: unknown, ctx: PolicyContext<Services>) => unknown;
  readonly effects: Effects;
  /** Whether the definition declares its effects itself. */
  readonly declaresEffects: boolean;
  readonly maxAttempts: number;
  readonly inline: boolean;
  /** Bytes of its result as the model sees it; absent = `MAX_TOOL_RESULT_BYTES`. */
  readonly maxResultBytes?: number;
  readonly taskQueue?: string;
  /** Time-outs where its agent sets none. */
  readonly timeouts: CallTimeouts;
  /** The time-outs that the definition sets itself. */
  readonly declaredTimeouts: Partial<CallTimeouts>;
  readonly mode: ToolMode;
  readonly lateResult: LateResult;
  readonly warnBeforeMs?: number;
  /** The result in place of an error when no answer comes in time. */
  readonly onExpireDefault?: ExpireDefault;
  readonly streaming: boolean;
  /** A step that calls it ends its turn. Absent: the model reads the result. */
  readonly endsTurn?: true;
  /** How long the model sees its results; absent: as the agent sets it. */
  readonly retention?: Retention;
  readonly executesFully: boolean;
  /** Opaque to the engine. */
  readonly metadata?: ToolMetadata;
  /** Present for tools whose result comes from outside. */
  readonly answer?: AnswerRule;
  /** Audience of the answer. */
  readonly audience?: Audience;
  /**
   * Present for server tools that are no HTTP request. Takes the input as it was validated when the call was made; it
   * is not parsed again.
   */
  readonly run?: (input: unknown, ctx: ToolContext<Services>) => unknown;
  /** Present for server tools that are an HTTP request. */
  readonly http?: HttpPlan;
  /** Present for tools that can report what a lost run did. */
  readonly reconcile?: (input: unknown, ctx: CallContext<Services>) => unknown;
  /** Present for client tools with a preflight. */
  readonly preflight?: (input: unknown, ctx: CallContext<Services>) => unknown;
  /** The author's version of how the code reads arguments, for changes that the schema does not show. */
  readonly version?: string;
  /** Present for tools that can migrate calls that were planned by another definition. */
  readonly migrate?: (raw: unknown, fromDigest: string) => unknown;
  readonly onOutcomeUnknown: 'tell' | 'hold';
  /** Present for server tools with results that the server does not control. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
  /** Present for tools whose calls another agent runs. */
  readonly subAgent?: SubAgent;
  /** Present for tools that pass the conversation on. Called once all agents are defined. */
  readonly handoff?: { readonly agent: () => SubAgent['agent'] };
  /** Present for tools that the model's provider runs. */
  readonly provider?: ProviderTool;
  /** Present for tools that an MCP server has listed. */
  readonly mcp?: McpOrigin;
  /** Present for tools that a plugin has made for a model call. */
  readonly made?: MadeToolRef;
  readonly '~types'?: {
    readonly input: Input;
    readonly output: Output;
    readonly prompt: Traits['prompt'];
  };
}

/** The agent that runs the calls of a tool. */
export interface SubAgent {
  /** From `defineAgent`. */
  readonly agent: { readonly kind: 'agent'; readonly name: string };
  /** The first message of its conversation. */
  readonly message: (input: unknown) => string;
  readonly budgets?: ChildBudgets;
  /** Its conversation goes on when that of its caller closes. */
  readonly outlives?: true;
}

/** The server of a listed tool, and its hints about the tool. */
export interface McpOrigin {
  readonly ref: McpToolRef;
  readonly annotations: ToolAnnotations;
  /** Present when the server cannot list the tool now: only the call's plan is known. */
  readonly unlisted?: true;
}

/** The types of a definition that the type of its tool keeps, for `Pending`. */
export interface ToolTraits {
  readonly name: string;
  readonly executor: Executor;
  /** Type of the value shown to the actor who resolves a call. */
  readonly prompt: unknown;
}

/** Type in place of a preflight's return type, where there is no preflight. */
export interface Unshaped {
  readonly '~unshaped': never;
}

interface Named {
  readonly name: string;
  readonly executor: Executor;
  readonly shaped: unknown;
}

/** A definition whose name and executor are literal types. */
export type NamedSpec<
  Services,
  Input extends Schema,
  Output extends Schema,
  As extends Named,
> = ToolSpec<Services, Input, Output, As['shaped']> & {
  readonly name: As['name'];
  readonly executor?: As['executor'];
};

/**
 * The executor of a definition; `server` where the definition names none, or where its types were given by hand and
 * nothing was inferred.
 */
type ExecutorOf<As extends Named> = Executor extends As['executor']
  ? string extends As['name']
    ? Executor
    : 'server'
  : As['executor'];

/** The tool that such a definition makes. */
export type ToolOf<Services, Input extends Schema, Output extends Schema, As extends Named> = Tool<
  Services,
  ParsedOf<Input>,
  ParsedOf<Output>,
  {
    readonly name: As['name'];
    readonly executor: ExecutorOf<As>;
    readonly prompt: As['shaped'] extends Unshaped ? ParsedOf<Input> : Awaited<As['shaped']>;
  }
>;

/** Any tool, of any services: to be inspected, not run. */
export type AnyTool = Tool<never>;

/** The result when no answer comes in time. */
export interface ExpireDefault {
  readonly value: Json;
}
