/** The `Model` port: one call to a language model. Adapters are in `src/model`; agents hold a value of this type. */

import type { AssistantPart, Message } from '../conversation/messages.js';
import type { Usage } from '../conversation/turns.js';
import type { StampedActor } from '../values/actors.js';
import type { BlobRef } from '../values/blobs.js';
import type { Json, JsonSchema } from '../values/json.js';

/** A tool in the form of its provider's API: `type`, and the other fields of that API. Passed on unchanged. */
export interface ProviderTool {
  readonly type: string;
  readonly [field: string]: Json | undefined;
}

/**
 * A tool that the model may call: a function, which the engine runs, or a tool that its provider runs inside the model
 * call.
 */
export type ModelTool = FunctionTool | HostedTool;

export interface FunctionTool {
  /** The tool's own name; the adapter encodes it for its provider and decodes it in answers. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The schema fits a provider's strict mode, which holds the model to it. Absent: it may not fit. */
  readonly strict?: boolean;
}

export interface HostedTool {
  /** The engine's name for the tool; the provider goes by `provider.type`. */
  readonly name: string;
  readonly provider: ProviderTool;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  /** The answer shall be JSON of this schema; calls may come before it. Absent: text. */
  readonly output?: ModelOutput;
  /**
   * The model reads results of tools alone, and errors as `{error: message}`. Absent: their envelopes. Adapters of your
   * own may use `shownResult`.
   */
  readonly bareResults?: true;
  /**
   * Number of messages, from the first, with which the next request of the conversation begins, too, unless its context
   * is made smaller. For providers that cache a prompt up to a mark. Absent: not known.
   */
  readonly stableMessages?: number;
  /** Equal for all requests that begin alike: opaque, at most 64 characters. Absent: not known. */
  readonly cacheKey?: string;
}

/** Form of a model's final answer: one JSON text. Adapters pass it on and check nothing. */
export interface ModelOutput {
  /** In the providers' alphabet: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly schema: JsonSchema;
  /** The schema fits a provider's strict mode. */
  readonly strict: boolean;
}

export interface RequestedCall {
  /** The provider's id. May be empty or repeated: the engine replaces it then. */
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  /**
   * The provider runs the call by itself, in a later model call, once it is approved: `name` is that of a hosted tool.
   * The engine asks for the approval and runs nothing; the adapter finds the decision in the result, `ok` for yes.
   */
  readonly hosted?: true;
}

/**
 * A call that the provider has run inside the model call. The log shows it; the engine neither waits for it nor answers
 * it.
 */
export interface ProviderCall {
  /** The provider's id. May be empty or repeated: the engine replaces it then. */
  readonly id: string;
  /** The name of the agent's tool of that `provider.type`; the type itself where the agent has none. */
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
      /** The provider's id of the call, once it is known. */
      readonly id?: string;
      readonly text: string;
    }
  /** The provider has begun to run a tool of its own. */
  | { readonly type: 'provider_call'; readonly id: string; readonly name: string }
  /** The provider's tool has advanced. */
  | {
      readonly type: 'provider_call_progress';
      readonly id: string;
      readonly name: string;
      /** The provider's word for it, such as `searching`, `interpreting` or `completed`. */
      readonly status: string;
      /** A piece of the tool's input: of a program's code, of a call's arguments. */
      readonly text?: string;
    };

/** Usage of a request while it is answered, so that it is counted even if its end never comes. */
export type ModelReport =
  /** The provider has taken the request and works on it: from here on it may charge. */
  | { readonly type: 'accepted' }
  /** The provider's count of usage so far; its last report counts. Without any, the engine estimates. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The request keeps running at the provider without a reader, under this id: the next attempt may resume it. */
  | { readonly type: 'open'; readonly id: string }
  /** The request has ended at the provider, or is no longer known there: it cannot be resumed. */
  | { readonly type: 'closed' };

export interface ModelResponse {
  /**
   * Text, reasoning and provider items, in order, without tool calls. An item that the provider wants to have in later
   * requests, its own calls included, is a `provider_item`, kept unchanged.
   */
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly RequestedCall[];
  /** Calls that the provider has run by itself, in its order, as the log shows them. */
  readonly providerCalls?: readonly ProviderCall[];
  /**
   * `stop`, `tool_calls`, `length` (cut by a limit of tokens) or `refusal` (the model declined: the text says why, and
   * is no answer to the request); else the provider's own word.
   */
  readonly finishReason: string;
  readonly usage: Usage;
  /** The model as its provider names it. */
  readonly model: string;
}

/**
 * The caller of a model, by which resolvers choose keys. The engine never sends it to a provider. Fields are absent
 * where a model is called outside of a conversation.
 */
export interface ModelCaller {
  readonly tenant?: string;
  readonly conversationId?: string;
  readonly agent?: string;
  /** `correction`: an answer did not match its schema, and is requested once more. */
  readonly purpose?: 'answer' | 'correction' | 'summary' | 'what_if';
  /** The requester of the turn, or of the what-if. Absent, like the next two, for summaries. */
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
   * Called with the usage of the request. An adapter that never calls it is counted by estimate from its first piece
   * on, where its answer does not come. Absent: usage is not counted.
   */
  readonly onReport?: (report: ModelReport) => void;
  /**
   * Id of the request that the attempt before left open: the adapter takes its answer, from the beginning, and makes no
   * new request. Absent for adapters that report none open.
   */
  readonly resume?: string;
  /** Storage of the files that messages refer to and that answers bring. Absent: there is none. */
  readonly files?: ModelFiles;
}

/** Files of one conversation, beside its log: transcripts hold references only. */
export interface ModelFiles {
  /** Undefined when the file is not there. @throws ModelFailure `model_unavailable` when the store is unavailable */
  read(ref: BlobRef): Promise<Uint8Array | undefined>;
  /** Safe to repeat. Undefined when the file cannot be stored: it is too large, or the store is unavailable. */
  write(content: Uint8Array): Promise<BlobRef | undefined>;
}

/** The part of AbortSignal that the protocol needs; the sandbox has no DOM types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The price of a million tokens, in units of one currency. */
export interface ModelPrices {
  readonly inputPerMTok: number;
  /** Price of input that the provider had in its cache. @defaultValue inputPerMTok */
  readonly cachedInputPerMTok?: number;
  /** Reasoning counts as output. */
  readonly outputPerMTok: number;
  /** Three letters, as in ISO 4217. @defaultValue 'USD' */
  readonly currency?: string;
}

/**
 * One language model. `generate` makes exactly one request and never retries: retries belong to Temporal. It throws a
 * `ModelFailure` (see `src/model/shared/failure.ts`) for every error, with a code of the failure table.
 */
export interface Model {
  readonly name: string;
  /** Absent: the cost of calls is not known. */
  readonly prices?: ModelPrices;
  /** Input tokens that one request may have at most. Absent: not known. */
  readonly contextTokens?: number;
  /**
   * The reason why the provider does not run this tool; undefined when it does. Called when an agent is defined.
   * Absent: the provider runs none.
   */
  providerToolProblem?(tool: ProviderTool): string | undefined;
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
  /**
   * Ends a request that was left open, since its answer is not needed any more. Safe to repeat. @throws ModelFailure
   */
  cancel?(id: string, caller?: ModelCaller): Promise<void>;
}
