/** The types of tools: what the engine knows of one, and what its definition tells the compiler. Types only. */

import type { Effects, Executor, LateResult, ToolMode } from '../../protocol/calls/executors.js';
import type {
  ApprovalPlan,
  CallTimeouts,
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
import type { ToolSpec } from './spec.js';

/** The answer of a person or client, as it is judged. */
export interface AnswerRule {
  /** What an answerer has to write, without what only a worker checks. Absent: any JSON. */
  readonly schema?: JsonSchema;
  readonly recheck: boolean;
  /** What that check can do at most; absent = anything. */
  readonly recheckOnly?: 'unknown_keys';
}

/**
 * A tool as the engine knows it; made by `defineTool` only. `Services` is what `run` asks of `ctx.services`; `Input` and
 * `Output` are for inference and stand for nothing at run time.
 */
export interface Tool<
  Services = UntypedServices,
  Input = unknown,
  Output = unknown,
  Traits extends ToolTraits = ToolTraits,
> {
  readonly kind: 'tool';
  readonly name: Traits['name'];
  readonly description: string;
  readonly usage: string;
  readonly executor: Traits['executor'];
  readonly input: Schema;
  /** As the model gets it. */
  readonly inputSchema: JsonSchema;
  /** The same in the form of strict mode, where it can have that; see `strict-schema.ts`. */
  readonly strictInput?: JsonSchema;
  /** What keeps it from that, in words. */
  readonly notStrict?: string;
  readonly output?: Schema;
  /** The gate, unless `policy` decides for each call. */
  readonly approval: ApprovalPlan;
  readonly policy?: (input: unknown, ctx: PolicyContext<Services>) => unknown;
  readonly effects: Effects;
  /** Whether the definition says its effects itself. */
  readonly declaresEffects: boolean;
  readonly maxAttempts: number;
  readonly inline: boolean;
  /** Of its result, as the model sees it; absent = `MAX_TOOL_RESULT_BYTES`. */
  readonly maxResultBytes?: number;
  readonly taskQueue?: string;
  /** Where its agent says nothing of clocks. */
  readonly timeouts: CallTimeouts;
  /** Those that the definition sets itself. */
  readonly declaredTimeouts: Partial<CallTimeouts>;
  readonly mode: ToolMode;
  readonly lateResult: LateResult;
  readonly warnBeforeMs?: number;
  /** Given instead of an error when nobody answers in time. */
  readonly onExpireDefault?: ExpireDefault;
  readonly streaming: boolean;
  /** How long the model keeps seeing its results; absent: as its agent says. */
  readonly retention?: Retention;
  readonly executesFully: boolean;
  /** Present for tools whose result comes from outside. */
  readonly answer?: AnswerRule;
  /** Who may give it. */
  readonly audience?: Audience;
  /** Present for server tools, but for those that are a request. Takes the input as it was validated when the call was made; it is not parsed again. */
  readonly run?: (input: unknown, ctx: ToolContext<Services>) => unknown;
  /** Present for server tools that are an HTTP request. */
  readonly http?: HttpPlan;
  /** Present for tools that can say what a lost run did. */
  readonly reconcile?: (input: unknown, ctx: CallContext<Services>) => unknown;
  /** Present for client tools that shape their request. */
  readonly preflight?: (input: unknown, ctx: CallContext<Services>) => unknown;
  /** The author's word for another reading of arguments that the schema does not show. */
  readonly version?: string;
  /** Present for tools that can carry over calls that were planned by another definition. */
  readonly migrate?: (raw: unknown, fromDigest: string) => unknown;
  readonly onOutcomeUnknown: 'tell' | 'hold';
  /** Present for server tools whose results come from outside all the same. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
  /** Present for tools that the model's provider runs. */
  readonly provider?: ProviderTool;
  /** Present for tools that an MCP server has listed. */
  readonly mcp?: McpOrigin;
  readonly '~types'?: {
    readonly input: Input;
    readonly output: Output;
    readonly prompt: Traits['prompt'];
  };
}

/** Where a listed tool comes from, and what its server says of it. */
export interface McpOrigin {
  readonly ref: McpToolRef;
  readonly annotations: ToolAnnotations;
  /** Its server cannot be asked for it now: nothing is known but what the call's plan says. */
  readonly unlisted?: true;
}

/** What the type of a tool remembers of its definition, for `Pending`. */
export interface ToolTraits {
  readonly name: string;
  readonly executor: Executor;
  /** What is shown to whoever resolves a call. */
  readonly prompt: unknown;
}

/** In place of what a preflight returns, where there is none. */
export interface Unshaped {
  readonly '~unshaped': never;
}

interface Named {
  readonly name: string;
  readonly executor: Executor;
  readonly shaped: unknown;
}

/** A definition whose name and executor are taken to the letter. */
export type NamedSpec<
  Services,
  Input extends Schema,
  Output extends Schema,
  As extends Named,
> = ToolSpec<Services, Input, Output, As['shaped']> & {
  readonly name: As['name'];
  readonly executor?: As['executor'];
};

/** A definition that says nothing runs in a worker; where its types were given by hand, nothing was inferred. */
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

/** Any tool, whatever services it asks for: to look at, not to run. */
export type AnyTool = Tool<never>;

/** Given as the result when nobody answers in time. */
export interface ExpireDefault {
  readonly value: Json;
}
