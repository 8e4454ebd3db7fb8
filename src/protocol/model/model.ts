/** The `Model` port: one call to a language model. Adapters live in `src/model`; agents hold a value of this type. */

import type { AssistantPart, Message } from '../conversation/messages.js';
import type { Usage } from '../conversation/turns.js';
import type { StampedActor } from '../values/actors.js';
import type { BlobRef } from '../values/blobs.js';
import type { Json, JsonSchema } from '../values/json.js';

/** A tool as its provider's API takes it: `type`, and whatever else that API wants to know. Passed on as it is. */
export interface ProviderTool {
  readonly type: string;
  readonly [field: string]: Json | undefined;
}

/** What the model may call: a function, which the engine runs, or a tool that its provider runs inside the model call. */
export type ModelTool = FunctionTool | HostedTool;

export interface FunctionTool {
  /** The tool's own name; the adapter encodes it for its provider and decodes what comes back. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The schema is fit for a provider's strict mode, which keeps the model to it. Absent: it may not be. */
  readonly strict?: boolean;
}

export interface HostedTool {
  /** Ours for it; the provider goes by `provider.type`. */
  readonly name: string;
  readonly provider: ProviderTool;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  /** The answer shall be JSON of this form; calls may come before it. Absent: text. */
  readonly output?: ModelOutput;
  /**
   * With so many of the messages, from the first, the next request of the conversation begins, too, unless its context is made smaller:
   * for providers that cache a prompt up to a mark. Absent: nobody knows.
   */
  readonly stableMessages?: number;
  /** The same for all requests that begin alike: opaque, at most 64 characters. Absent: nobody knows. */
  readonly cacheKey?: string;
}

/** What a model's final answer has to be: one JSON text. Adapters pass it on and check nothing. */
export interface ModelOutput {
  /** As providers take it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly schema: JsonSchema;
  /** The schema is fit for a provider's strict mode. */
  readonly strict: boolean;
}

export interface RequestedCall {
  /** The provider's id; may be empty or repeated, the engine copes. */
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  /**
   * The provider runs it by itself, in a later model call, once somebody has approved it: `name` is that of a hosted tool. The
   * engine asks for the approval and runs nothing; the adapter finds the decision in the result, `ok` for yes.
   */
  readonly hosted?: true;
}

/** A call that the provider has run inside the model call. It is shown, and nobody waits for it or answers it. */
export interface ProviderCall {
  /** The provider's id; may be empty or repeated, the engine copes. */
  readonly id: string;
  /** The name of the tool of that `provider.type`; the type itself where the agent has none. */
  readonly name: string;
  readonly input: Json;
  /** `error`: a text. */
  readonly outcome: { readonly output: Json } | { readonly error: string };
}

/** Pieces of an answer as they arrive; for the live plane only. */
export type ModelStreamEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool_arguments';
      readonly index: number;
      readonly name?: string;
      readonly text: string;
    }
  /** The provider has begun to run a tool of its own. */
  | { readonly type: 'provider_call'; readonly id: string; readonly name: string }
  /** It goes on with it. */
  | {
      readonly type: 'provider_call_progress';
      readonly id: string;
      readonly name: string;
      /** The provider's word for it, such as `searching`, `interpreting` or `completed`. */
      readonly status: string;
      /** A piece of what it runs: of a program's code, of a call's arguments. */
      readonly text?: string;
    };

/** What a request takes while it is answered: for whoever counts, should its end not come. */
export type ModelReport =
  /** The provider has taken the request and works on it: from here on it may charge. */
  | { readonly type: 'accepted' }
  /** What the provider says that the request has taken so far; its last word counts. Where it says nothing, the engine estimates. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** It goes on at the provider though nobody listens, under this id: the next attempt may resume it. */
  | { readonly type: 'open'; readonly id: string }
  /** It has ended there, or is no longer known: it cannot be resumed. */
  | { readonly type: 'closed' };

export interface ModelResponse {
  /**
   * Text, reasoning and provider items, in order; tool calls come apart. What a provider wants to see again in later requests
   * is a `provider_item`, its own calls among them: it is kept as it came.
   */
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly RequestedCall[];
  /** Calls that the provider has run by itself, in its order; what the log shows of them. */
  readonly providerCalls?: readonly ProviderCall[];
  /**
   * `stop`, `tool_calls`, `length` (cut by a limit of tokens) or `refusal` (the model declined: the text says why, and is not what
   * was asked for); else the provider's own word.
   */
  readonly finishReason: string;
  readonly usage: Usage;
  /** The model as its provider names it. */
  readonly model: string;
}

/**
 * For whom a model is asked: what resolvers of keys go by. Never sent to a provider by the engine. Fields are absent where a model
 * is asked outside of a conversation.
 */
export interface ModelCaller {
  readonly tenant?: string;
  readonly conversationId?: string;
  readonly agent?: string;
  /** `correction`: an answer had not its form, and is asked for once more. */
  readonly purpose?: 'answer' | 'correction' | 'summary';
  /** Who asked in the turn. Absent, like the next two, for summaries. */
  readonly requester?: StampedActor;
  readonly turnId?: string;
  readonly step?: number;
  /** From 1, over all activities of the call. */
  readonly attempt?: number;
}

export interface ModelCallOptions {
  /** Aborts the request; the adapter closes its connection and throws. */
  readonly signal: AbortSignalLike;
  readonly onEvent: (event: ModelStreamEvent) => void;
  readonly caller?: ModelCaller;
  /**
   * Told what the request takes. An adapter that never calls it is counted from its first piece on, by estimate, where its answer
   * does not come. Absent: nobody counts.
   */
  readonly onReport?: (report: ModelReport) => void;
  /**
   * The id of the request that the attempt before has left open: its answer is taken, from its beginning, and nothing is asked
   * anew. Adapters that report none open are given none.
   */
  readonly resume?: string;
  /** Where files lie that messages refer to, and where files go that an answer brings. Absent: nowhere. */
  readonly files?: ModelFiles;
}

/** Files of one conversation, beside its log: transcripts hold references only. */
export interface ModelFiles {
  /** Undefined when it is not there. @throws ModelFailure `model_unavailable` when the store is away */
  read(ref: BlobRef): Promise<Uint8Array | undefined>;
  /** Safe to repeat. Undefined when it cannot be stored: it is too large, or the store is away. */
  write(content: Uint8Array): Promise<BlobRef | undefined>;
}

/** The part of AbortSignal that the protocol needs; the sandbox has no DOM types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a provider charges for a million tokens, in units of one currency. */
export interface ModelPrices {
  readonly inputPerMTok: number;
  /** Of input that the provider had in its cache. @defaultValue inputPerMTok */
  readonly cachedInputPerMTok?: number;
  /** Reasoning counts as output. */
  readonly outputPerMTok: number;
  /** Three letters, as in ISO 4217. @defaultValue 'USD' */
  readonly currency?: string;
}

/**
 * One language model. `generate` makes exactly one request and never retries: retries belong to Temporal.
 * It throws a `ModelFailure` (see `src/model/shared/failure.ts`) for everything that goes wrong, with the code of the failure table.
 */
export interface Model {
  readonly name: string;
  /** Absent: what calls cost is not known. */
  readonly prices?: ModelPrices;
  /** Input tokens that one request may have at most. Absent: not known. */
  readonly contextTokens?: number;
  /** Why the provider does not run this tool, or undefined when it does. Absent: it runs none. Asked when an agent is defined. */
  providerToolProblem?(tool: ProviderTool): string | undefined;
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
  /** Ends a request that was left open, since nobody wants its answer. Safe to repeat. @throws ModelFailure */
  cancel?(id: string, caller?: ModelCaller): Promise<void>;
}
