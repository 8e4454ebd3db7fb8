/** The answers and calls of scripted models. Runs in tests and demos. */
import type { Usage } from '../../protocol/conversation/turns.js';
import type { ModelRequest } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import type { ModelFailureCode } from '../shared/failure.js';

/** One call that a scripted answer requests. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Json;
  /** @defaultValue `call_1`, `call_2` and so on over the whole transcript */
  readonly id?: string;
  /** The provider will run it, and asks for approval before: `name` is that of a provider tool. */
  readonly hosted?: true;
}

/** One call that the provider has run itself. @defaultValue output null */
export interface ScriptedProviderCall {
  readonly name: string;
  readonly input: Json;
  readonly output?: Json;
  /** In place of an output. */
  readonly error?: string;
  /** @defaultValue `hosted_1`, `hosted_2` and so on over the whole transcript */
  readonly id?: string;
}

/** One answer of a script; made by the builders of `scripted.ts`, or written directly for rarer cases. */
export type ScriptedAnswer =
  | {
      readonly type: 'answer';
      readonly reasoning?: string;
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      /** Calls that the provider ran before the text. */
      readonly providerCalls?: readonly ScriptedProviderCall[];
      /** @defaultValue 'tool_calls' with calls, else 'stop' */
      readonly finishReason?: string;
      /** @defaultValue 10 tokens in, 5 out */
      readonly usage?: Usage;
    }
  | {
      readonly type: 'failure';
      readonly code: ModelFailureCode;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
    }
  | { readonly type: 'hang' }
  | { readonly type: 'computed'; readonly answer: (request: ModelRequest) => ScriptedAnswer };

/** A scripted answer that is not computed, hanging or failing. */
export type GivenAnswer = Extract<ScriptedAnswer, { type: 'answer' }>;
