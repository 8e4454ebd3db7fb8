/**
 * `openaiModel`: a model behind OpenAI's Responses or Chat Completions, or any server that speaks one of them. One streaming
 * request a call and no retries. Runs in the worker.
 */
import type { Stream } from 'openai/streaming';
import type {
  Model,
  ModelCallOptions,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  ProviderTool,
} from '../protocol/model.js';
import { throwIfAborted } from './abort.js';
import { inputTokensOf } from './context-windows.js';
import { toModelFailure } from './failure.js';
import { loadFiles } from './files.js';
import { toChatRequest } from './openai-chat.js';
import { ChatAnswer } from './openai-chunks.js';
import {
  type ConnectionOptions,
  createClient,
  isOpenAI,
  readKey,
  Watch,
} from './openai-connection.js';
import { ResponsesAnswer } from './openai-response-events.js';
import { toResponsesRequest } from './openai-responses.js';
import type { ReasoningSettings, RequestSettings, ToolChoice } from './openai-settings.js';

/** Which of OpenAI's two APIs a model is asked through. */
export type OpenAIApi = 'responses' | 'chat';

export interface OpenAIModelOptions extends ConnectionOptions {
  /**
   * `responses` keeps a model's thoughts between steps and runs tools of the provider; `chat` is what compatible servers speak.
   * @defaultValue `responses` at OpenAI itself, `chat` where the base URL is another's
   */
  readonly api?: OpenAIApi;
  readonly temperature?: number;
  /** Reasoning counts. Sent as `max_output_tokens`, or `max_completion_tokens` to Chat Completions. */
  readonly maxOutputTokens?: number;
  /** Whether the model has to call a tool, at every step. @defaultValue the model decides */
  readonly toolChoice?: ToolChoice;
  /** For models that think. @defaultValue the provider's */
  readonly reasoning?: ReasoningSettings;
  /** Input tokens that one request may have at most. @defaultValue of OpenAI's own models as known here, else not known */
  readonly contextTokens?: number;
  /** What the provider charges; needed for `budgets.cost`, and shown as the cost of calls. The engine knows no price lists. */
  readonly prices?: ModelPrices;
}

/**
 * A language model by its provider's name for it.
 * `generate` rejects with a `ModelFailure`, or, once its signal has fired, with the signal's reason.
 * @throws {TypeError} naming the option that breaks its rule
 */
export function openaiModel(name: string, options: OpenAIModelOptions = {}): Model {
  if (name === '') throw new TypeError('openaiModel: the name of the model is empty');
  const { api } = options as { readonly api?: unknown };
  if (api !== undefined && api !== 'responses' && api !== 'chat')
    throw new TypeError('openaiModel: `api` must be "responses" or "chat"');
  return new OpenAIModel(name, options);
}

/** Takes the pieces of one streamed answer. */
interface StreamedAnswer<Piece> {
  /** What breaks now breaks nothing: the provider has said its last word. */
  readonly isWhole?: boolean;
  add(piece: Piece): void;
}

/** Tools of the Responses API that the caller of the model has to run; an engine's own tools are functions. */
const RUN_BY_CALLER =
  /^(function|custom|namespace|tool_search|programmatic_tool_calling|computer.*|local_shell|shell|apply_patch)$/;

class OpenAIModel implements Model {
  readonly name: string;
  readonly prices?: ModelPrices;
  readonly contextTokens?: number;
  readonly #options: OpenAIModelOptions;

  constructor(name: string, options: OpenAIModelOptions) {
    this.name = name;
    this.#options = options;
    if (options.prices !== undefined) this.prices = options.prices;
    const contextTokens = options.contextTokens ?? inputTokensOf(name);
    if (contextTokens !== undefined) this.contextTokens = contextTokens;
  }

  providerToolProblem({ type }: ProviderTool): string | undefined {
    if (this.#api() === 'chat')
      return `Chat Completions knows functions only; it does not run "${type}" (openaiModel, \`api: 'chat'\`)`;
    return RUN_BY_CALLER.test(type)
      ? `"${type}" is not run by the provider; declare it as a tool of your own`
      : undefined;
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const { signal, files } = options;
    throwIfAborted(signal);
    const apiKey = await readKey(this.#options);
    const loaded = await loadFiles(request.messages, files);
    const watch = new Watch(signal, this.#options.requestTimeoutMs);
    try {
      const client = await createClient(apiKey, this.#options);
      if (this.#api() === 'chat') {
        const answer = new ChatAnswer(request.tools, options);
        const body = toChatRequest(request, this.#settings(), loaded);
        const stream = await client.chat.completions.create(body, { signal: watch.signal });
        options.onReport?.({ type: 'accepted' });
        await read(stream, answer, watch);
        return answer.finish(this.name);
      }
      const answer = new ResponsesAnswer(request.tools, options);
      const body = toResponsesRequest(request, this.#settings(), loaded);
      const stream = await client.responses.create(body, { signal: watch.signal });
      options.onReport?.({ type: 'accepted' });
      await read(stream, answer, watch);
      return await answer.finish(this.name, files);
    } catch (error) {
      watch.throwIfOver();
      throw toModelFailure(error, apiKey);
    } finally {
      watch.stop();
    }
  }

  /** Asked anew each time: the environment of the worker decides, not that of whoever defined the agent. */
  #api(): OpenAIApi {
    return this.#options.api ?? (isOpenAI(this.#options) ? 'responses' : 'chat');
  }

  #settings(): RequestSettings {
    const { temperature, maxOutputTokens, toolChoice, reasoning } = this.#options;
    return { model: this.name, temperature, maxOutputTokens, toolChoice, reasoning };
  }
}

/** Reads a stream to its end. @throws what ended it early */
async function read<Piece>(
  stream: Stream<Piece>,
  answer: StreamedAnswer<Piece>,
  watch: Watch,
): Promise<void> {
  watch.heard();
  try {
    for await (const piece of stream) {
      // Between the abort and the end of the stream there may be pieces that had come already.
      watch.throwIfOver();
      watch.heard();
      answer.add(piece);
    }
  } catch (error) {
    if (answer.isWhole !== true) throw error;
  }
  // The client ends an aborted stream as if it were whole.
  if (answer.isWhole !== true) watch.throwIfOver();
}
