/**
 * `openaiModel`: a model behind OpenAI's Responses or Chat Completions, or any server that speaks one of them. One
 * streaming request per call and no retries. Runs in the worker.
 */
import type OpenAI from 'openai';
import type {
  Model,
  ModelCaller,
  ModelCallOptions,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  ProviderTool,
} from '../../protocol/model/model.js';
import { inputTokensOf } from '../shared/count-tokens.js';
import { ModelFailure, toModelFailure } from '../shared/failure.js';
import { type LoadedFiles, loadFiles } from '../shared/files.js';
import type { ToolChoice } from '../shared/options.js';
import { checkOptions, must, type OptionRules, oneOf } from '../shared/options.js';
import { throwIfAborted, Watch } from '../shared/stream-watch.js';
import { BackgroundResponse } from './background.js';
import { toChatRequest } from './chat.js';
import { ChatAnswer } from './chat-chunks.js';
import {
  type ConnectionOptions,
  createClient,
  isOpenAI,
  readKey,
  readStream,
} from './connection.js';
import { ResponsesAnswer } from './response-events.js';
import { toResponsesRequest } from './responses.js';
import type { ReasoningSettings, RequestSettings } from './settings.js';

/** The API of OpenAI through which a model is called. */
export type OpenAIApi = 'responses' | 'chat';

export interface OpenAIModelOptions extends ConnectionOptions {
  /**
   * `responses` keeps a model's reasoning between steps and runs tools of the provider; `chat` is the API of compatible
   * servers.
   * @defaultValue `responses` for OpenAI itself, `chat` for another base URL
   */
  readonly api?: OpenAIApi;
  readonly temperature?: number;
  /** Includes reasoning tokens. Sent as `max_output_tokens`, or `max_completion_tokens` to Chat Completions. */
  readonly maxOutputTokens?: number;
  /** Whether the model has to call a tool, at every step. @defaultValue the model decides */
  readonly toolChoice?: ToolChoice;
  /**
   * Makes answers in the background, which stores them at the provider (`store: true`; OpenAI keeps them 30 days):
   * after a cut stream or a lost worker the same response continues instead of a second one being paid for, and tools
   * of the provider run once. `responses` only. @defaultValue false
   */
  readonly background?: boolean;
  /** Milliseconds between two polls of a background response that the provider does not stream. @defaultValue 2,000 */
  readonly pollMs?: number;
  /** For models that reason. @defaultValue the provider's */
  readonly reasoning?: ReasoningSettings;
  /** Input tokens that one request may have at most. @defaultValue known for OpenAI's own models, else unknown */
  readonly contextTokens?: number;
  /**
   * The provider's prices; needed for `budgets.cost`, and used for the cost of calls. The engine has no price lists.
   */
  readonly prices?: ModelPrices;
}

/**
 * A language model by its provider's name.
 * `generate` rejects with a `ModelFailure`, or, once its signal has fired, with the signal's reason.
 * @throws {TypeError} that names every option that breaks its rule; `defineAgent` checks the prices
 */
export function openaiModel(name: string, options: OpenAIModelOptions = {}): Model {
  const given: unknown = name;
  if (typeof given !== 'string')
    throw new TypeError(
      `openaiModel: the name of the model must be a text, got ${given === null ? 'null' : typeof given}`,
    );
  if (name === '') throw new TypeError('openaiModel: the name of the model is empty');
  checkOptions('openaiModel', options, OPTIONS);
  if (options.background === true && options.api === 'chat')
    throw new TypeError(`openaiModel: ${BACKGROUND_NEEDS_RESPONSES}`);
  return new OpenAIModel(name, options);
}

const OPTIONS: OptionRules<OpenAIModelOptions> = {
  api: oneOf('responses', 'chat'),
  baseURL: must.beText,
  apiKey: (value) => (typeof value === 'function' ? undefined : aKey(value)),
  organization: must.beText,
  requestTimeoutMs: must.beMilliseconds,
  temperature: must.beNumber,
  maxOutputTokens: must.beCount,
  toolChoice: must.beToolChoice,
  background: must.beBoolean,
  pollMs: must.beMilliseconds,
  reasoning: must.beObject,
  contextTokens: must.beCount,
  prices: must.stand,
};

function aKey(value: unknown): string | undefined {
  return must.beText(value) === undefined
    ? undefined
    : 'must be a text or a function that returns one';
}

/** Tools of the Responses API that the caller of the model has to run; the engine's own tools are functions. */
const RUN_BY_CALLER =
  /^(function|custom|namespace|tool_search|programmatic_tool_calling|computer.*|local_shell|shell|apply_patch)$/;

const BACKGROUND_NEEDS_RESPONSES = '`background` needs the Responses API (`api: "responses"`)';
/** Nothing waits for the cancellation. */
const CANCEL_TIMEOUT_MS = 10_000;

interface Sending {
  readonly client: OpenAI;
  readonly loaded: LoadedFiles;
  readonly watch: Watch;
}

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
      return `Chat Completions supports functions only; it does not run "${type}" (openaiModel, \`api: 'chat'\`)`;
    return RUN_BY_CALLER.test(type)
      ? `"${type}" is not run by the provider; declare it as a tool of your own`
      : undefined;
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const { signal, files, caller } = options;
    throwIfAborted(signal);
    this.#refuseBackgroundChat();
    const apiKey = await readKey(this.#options, caller);
    const loaded = await loadFiles(request.messages, files);
    const watch = new Watch(signal, this.#options.requestTimeoutMs);
    try {
      const client = await createClient(apiKey, this.#options);
      const sending = { client, loaded, watch };
      return this.#api() === 'chat'
        ? await this.#chat(request, options, sending)
        : await this.#respond(request, options, sending);
    } catch (error) {
      watch.throwIfOver();
      throw toModelFailure(error, apiKey);
    } finally {
      watch.stop();
    }
  }

  /** Ends a response of background mode. @throws ModelFailure */
  async cancel(id: string, caller?: ModelCaller): Promise<void> {
    const apiKey = await readKey(this.#options, caller);
    try {
      const client = await createClient(apiKey, this.#options);
      await client.responses.cancel(id, { timeout: CANCEL_TIMEOUT_MS });
    } catch (error) {
      throw toModelFailure(error, apiKey);
    }
  }

  async #chat(
    request: ModelRequest,
    options: ModelCallOptions,
    { client, loaded, watch }: Sending,
  ): Promise<ModelResponse> {
    const answer = new ChatAnswer(request.tools, options);
    const body = toChatRequest(request, this.#settings(), loaded);
    const stream = await client.chat.completions.create(body, { signal: watch.signal });
    options.onReport?.({ type: 'accepted' });
    await readStream(stream, answer, watch);
    return answer.finish(this.name);
  }

  async #respond(
    request: ModelRequest,
    options: ModelCallOptions,
    { client, loaded, watch }: Sending,
  ): Promise<ModelResponse> {
    const answer = new ResponsesAnswer(request.tools, options);
    const body = toResponsesRequest(request, this.#settings(), loaded);
    if (this.#options.background === true) {
      const { pollMs } = this.#options;
      await new BackgroundResponse({ client, body, answer, watch, pollMs }, options).read();
    } else {
      const stream = await client.responses.create(body, { signal: watch.signal });
      options.onReport?.({ type: 'accepted' });
      await readStream(stream, answer, watch);
    }
    return await answer.finish(this.name, options.files);
  }

  #refuseBackgroundChat(): void {
    if (this.#options.background === true && this.#api() === 'chat')
      throw new ModelFailure('model_bad_request', BACKGROUND_NEEDS_RESPONSES, { retryable: false });
  }

  /** Decided at each call: by the environment of the worker, not of the process that defined the agent. */
  #api(): OpenAIApi {
    return this.#options.api ?? (isOpenAI(this.#options) ? 'responses' : 'chat');
  }

  #settings(): RequestSettings {
    const { temperature, maxOutputTokens, toolChoice, reasoning, background } = this.#options;
    const own = { temperature, maxOutputTokens, toolChoice, reasoning, background };
    return { model: this.name, ...own, cacheKeys: isOpenAI(this.#options) };
  }
}
