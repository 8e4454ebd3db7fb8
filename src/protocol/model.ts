/** The `Model` port: one call to a language model. Adapters live in `src/model`; agents hold a value of this type. */
import type { Usage } from './events.js';
import type { JsonSchema } from './json.js';
import type { AssistantPart, Message } from './messages.js';

export interface ModelTool {
  /** The tool's own name; the adapter encodes it for its provider and decodes what comes back. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
}

export interface RequestedCall {
  /** The provider's id; may be empty or repeated, the engine copes. */
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
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
    };

export interface ModelResponse {
  /** Text, reasoning and provider items, in order; tool calls come apart. */
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly RequestedCall[];
  readonly finishReason: string;
  readonly usage: Usage;
  /** The model as its provider names it. */
  readonly model: string;
}

export interface ModelCallOptions {
  /** Aborts the request; the adapter closes its connection and throws. */
  readonly signal: AbortSignalLike;
  readonly onEvent: (event: ModelStreamEvent) => void;
}

/** The part of AbortSignal that the protocol needs; the sandbox has no DOM types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * One language model. `generate` makes exactly one request and never retries: retries belong to Temporal.
 * It throws a `ModelFailure` (see `src/model/failure.ts`) for everything that goes wrong, with the code of the failure table.
 */
export interface Model {
  readonly name: string;
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
}
