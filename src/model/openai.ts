/**
 * `openaiModel`: a model behind OpenAI's Chat Completions or any server that speaks them. One streaming request a call and
 * no retries. The client is loaded with the first call, so that defining an agent costs nothing. Runs in the worker.
 */
import type OpenAI from 'openai';
import type {
  AbortSignalLike,
  Model,
  ModelCallOptions,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  ProviderTool,
} from '../protocol/model.js';
import { throwIfAborted } from './abort.js';
import { inputTokensOf } from './context-windows.js';
import { ModelFailure, streamBroken, toModelFailure, unavailable } from './failure.js';
import { type ChatSettings, toChatRequest } from './openai-chat.js';
import { ChatAnswer } from './openai-chunks.js';

/** Reasoning models are silent for minutes; Node's own fetch gives up after as long. */
const DEFAULT_REQUEST_TIMEOUT_MS = 300_000;

export interface OpenAIModelOptions {
  /** Of any server that speaks Chat Completions, with its `/v1`. @defaultValue env OPENAI_BASE_URL, else OpenAI's own */
  readonly baseURL?: string;
  /**
   * Read before every call, so that a rotated key is taken up without a restart. Servers other than OpenAI's are called
   * without a key when there is none. @defaultValue env OPENAI_API_KEY
   */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** @defaultValue env OPENAI_ORG_ID */
  readonly organization?: string;
  readonly temperature?: number;
  /** Sent as `max_completion_tokens`: reasoning counts. */
  readonly maxOutputTokens?: number;
  /** Input tokens that one request may have at most. @defaultValue of OpenAI's own models as known here, else not known */
  readonly contextTokens?: number;
  /** Longest silence of the server: before the first chunk and between chunks. More than the default has no effect. @defaultValue 300,000 (5 minutes) */
  readonly requestTimeoutMs?: number;
  /** What the provider charges; needed for `budgets.cost`, and shown as the cost of calls. The engine knows no price lists. */
  readonly prices?: ModelPrices;
}

/**
 * A language model by its provider's name for it.
 * `generate` rejects with a `ModelFailure`, or, once its signal has fired, with the signal's reason.
 */
export function openaiModel(name: string, options: OpenAIModelOptions = {}): Model {
  if (name === '') throw new TypeError('openaiModel: the name of the model is empty');
  return new OpenAIChatModel(name, options);
}

class OpenAIChatModel implements Model {
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

  providerToolProblem({ type }: ProviderTool): string {
    return `openaiModel speaks Chat Completions, which knows functions only; it does not run "${type}"`;
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    throwIfAborted(options.signal);
    const apiKey = await readKey(this.#options);
    const watch = new Watch(options.signal, this.#options.requestTimeoutMs);
    try {
      const client = await createClient(apiKey, this.#options);
      const answer = new ChatAnswer(request.tools, options.onEvent);
      const body = toChatRequest(request, this.#settings());
      const stream = await client.chat.completions.create(body, { signal: watch.signal });
      watch.heard();
      for await (const chunk of stream) {
        // Between the abort and the end of the stream there may be chunks that had come already.
        watch.throwIfOver();
        watch.heard();
        answer.add(chunk);
      }
      // The client ends an aborted stream as if it were whole.
      watch.throwIfOver();
      return answer.finish(this.name);
    } catch (error) {
      watch.throwIfOver();
      throw toModelFailure(error, apiKey);
    } finally {
      watch.stop();
    }
  }

  #settings(): ChatSettings {
    const { temperature, maxOutputTokens } = this.#options;
    return { model: this.name, temperature, maxOutputTokens };
  }
}

/** Ends a request when its caller wants no more, or when its server is silent for too long. */
class Watch {
  readonly #stop = new AbortController();
  readonly #caller: AbortSignalLike;
  readonly #silenceMs: number;
  readonly #timer: NodeJS.Timeout;
  #isSilent = false;
  #hasHeard = false;

  constructor(caller: AbortSignalLike, silenceMs = DEFAULT_REQUEST_TIMEOUT_MS) {
    this.#caller = caller;
    this.#silenceMs = silenceMs;
    this.#timer = setTimeout(() => {
      this.#isSilent = true;
      this.#stop.abort();
    }, silenceMs);
    caller.addEventListener('abort', this.#onAbort);
    if (caller.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The server said something: the clock starts again. */
  heard(): void {
    this.#hasHeard = true;
    this.#timer.refresh();
  }

  throwIfOver(): void {
    throwIfAborted(this.#caller);
    if (!this.#isSilent) return;
    const text = `The model was silent for ${this.#silenceMs} ms`;
    throw this.#hasHeard ? streamBroken(text) : unavailable(text);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#stop.abort();
  };
}

/** @throws ModelFailure `model_unauthorized`; retried when it was the reading that failed */
async function readKey({ apiKey, baseURL }: OpenAIModelOptions): Promise<string> {
  let key: string | undefined;
  try {
    key = typeof apiKey === 'function' ? await apiKey() : (apiKey ?? process.env['OPENAI_API_KEY']);
  } catch {
    // Not the text of the error: it belongs to a store of secrets.
    throw unauthorized('The API key could not be read', true);
  }
  const trimmed = key?.trim() ?? '';
  // Headers cannot carry it, and the error of the client would quote it.
  if (/[^\x21-\x7e]/.test(trimmed))
    throw unauthorized('The API key holds characters that keys do not have', false);
  if (trimmed !== '') return trimmed;
  if (baseURL === undefined && !process.env['OPENAI_BASE_URL'])
    throw unauthorized('No API key: set OPENAI_API_KEY, or give openaiModel an apiKey', false);
  return '';
}

function unauthorized(message: string, retryable: boolean): ModelFailure {
  return new ModelFailure('model_unauthorized', message, { retryable });
}

async function createClient(apiKey: string, options: OpenAIModelOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const { baseURL, organization } = options;
  return new Client({
    // The client insists on one.
    apiKey: apiKey === '' ? 'none' : apiKey,
    // Retries belong to Temporal, the clock to the watch; and nothing of a conversation belongs on the console.
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(organization === undefined ? {} : { organization }),
  });
}
