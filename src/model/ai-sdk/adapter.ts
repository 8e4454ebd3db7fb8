/**
 * Public entry point `colloquy/ai-sdk`: a language model of the Vercel AI SDK (Anthropic, Google, Bedrock, Mistral,
 * local ones) as a `Model`. Only types of the AI SDK are imported, so nothing of it is loaded here: the application
 * brings the provider's package and creates the model. Runs in the worker.
 */
import type {
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import type {
  Model,
  ModelCaller,
  ModelCallOptions,
  ModelOutput,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  ProviderTool,
} from '../../protocol/model/model.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { inputTokensOf } from '../shared/count-tokens.js';
import { ModelFailure } from '../shared/failure.js';
import { type LoadedFiles, loadFiles } from '../shared/files.js';
import type { ToolChoice } from '../shared/options.js';
import { checkOptions, must, type OptionRules } from '../shared/options.js';
import { throwIfAborted, Watch } from '../shared/stream-watch.js';
import { AiSdkAnswer } from './answer.js';
import { toAiSdkFailure } from './failure.js';
import { toAiSdkPrompt, toAiSdkTools } from './prompt.js';

/** A model of a provider package of the AI SDK 6 or 7, such as `anthropic('claude-sonnet-4-5')`. */
export type AiSdkLanguageModel = LanguageModelV3 | LanguageModelV4;

/**
 * Settings that go to the provider with every call, by the names of the AI SDK. A provider ignores settings that it
 * does not know.
 */
export type AiSdkSettings = Pick<
  LanguageModelV4CallOptions,
  | 'temperature'
  | 'maxOutputTokens'
  | 'topP'
  | 'topK'
  | 'stopSequences'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'reasoning'
  | 'providerOptions'
  | 'headers'
>;

type Headers = Readonly<Record<string, string>>;

export interface AiSdkModelOptions {
  /** `providerOptions` among them, such as `{anthropic: {thinking: {type: 'enabled', budgetTokens: 2_000}}}`. */
  readonly settings?: AiSdkSettings;
  /**
   * Resolves headers before every request, in the worker, for the given caller: keys of tenants, keys that are rotated.
   * They override `settings.headers`, and those of the provider's package.
   */
  readonly headers?: (caller: ModelCaller) => Headers | Promise<Headers>;
  /** Whether the model has to call a tool, at every step. @defaultValue the model decides */
  readonly toolChoice?: ToolChoice;
  /** Input tokens that one request may have at most. @defaultValue unknown, except for OpenAI's own models */
  readonly contextTokens?: number;
  /**
   * Marks the stable beginning of a request for the prompt cache of a provider that needs marks (Anthropic). Does
   * nothing when `providerOptions` have their own `cacheControl`. @defaultValue true
   */
  readonly promptCache?: boolean;
  /** Longest silence of the provider: before the first piece and between pieces. @defaultValue 300,000 (5 minutes) */
  readonly requestTimeoutMs?: number;
  /** The provider's prices; needed for `budgets.cost`, and used for the cost of calls. */
  readonly prices?: ModelPrices;
  /**
   * Called with each warning of the provider, such as a setting that the model does not support. @defaultValue warnings
   * are dropped
   */
  readonly onWarning?: (text: string) => void;
}

/**
 * A language model of the AI SDK. One streaming request per call, no retries: the engine retries. `generate` rejects
 * with a `ModelFailure`, or, once its signal has fired, with the signal's reason.
 *
 * Marks of the provider (signatures of reasoning, ids of items) are kept beside their text, and go back with it to the
 * same provider. Another provider gets the plain text.
 *
 * @throws TypeError for a value that is not a model, or a model of an unknown version; names every option that breaks
 * its rule
 */
export function aiSdkModel(
  languageModel: AiSdkLanguageModel,
  options: AiSdkModelOptions = {},
): Model {
  const problem = languageModelProblem(languageModel);
  if (problem !== undefined) throw new TypeError(`aiSdkModel: ${problem}`);
  checkOptions('aiSdkModel', options, OPTIONS);
  return new AiSdkModel(languageModel, options);
}

const OPTIONS: OptionRules<AiSdkModelOptions> = {
  settings: must.beObject,
  headers: must.beFunction,
  toolChoice: must.beToolChoice,
  contextTokens: must.beCount,
  promptCache: must.beBoolean,
  requestTimeoutMs: must.beMilliseconds,
  prices: must.stand,
  onWarning: must.beFunction,
};

function languageModelProblem(value: unknown): string | undefined {
  if (typeof value === 'string')
    return `"${value}" is a name; give the model object, such as anthropic('${value}')`;
  if (typeof value !== 'object' || value === null || !('doStream' in value))
    return 'the language model must be one of an AI SDK provider package, such as anthropic(...)';
  const version = 'specificationVersion' in value ? value.specificationVersion : undefined;
  if (version === 'v3' || version === 'v4') return undefined;
  return `the language model has specification version ${JSON.stringify(version)}; v3 and v4 are known (AI SDK 6 and 7)`;
}

class AiSdkModel implements Model {
  readonly name: string;
  readonly prices?: ModelPrices;
  readonly contextTokens?: number;
  readonly #languageModel: AiSdkLanguageModel;
  readonly #options: AiSdkModelOptions;

  constructor(languageModel: AiSdkLanguageModel, options: AiSdkModelOptions) {
    this.name = languageModel.modelId;
    this.#languageModel = languageModel;
    this.#options = options;
    if (options.prices !== undefined) this.prices = options.prices;
    const contextTokens = options.contextTokens ?? inputTokensOf(this.name);
    if (contextTokens !== undefined) this.contextTokens = contextTokens;
  }

  providerToolProblem({ type }: ProviderTool): string | undefined {
    if (/^[^.]+\..+$/.test(type)) return undefined;
    return `the AI SDK names tools of providers "<provider>.<tool>", such as "anthropic.web_search_20250305", not "${type}"`;
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const { signal, files, onEvent, onReport, caller = {} } = options;
    throwIfAborted(signal);
    const headers = await this.#headers(caller);
    const secrets = secretsIn(this.#options.settings?.headers, headers);
    const loaded = await loadFiles(request.messages, files);
    const watch = new Watch(signal, this.#options.requestTimeoutMs);
    const { provider } = this.#languageModel;
    const answer = new AiSdkAnswer({ provider, request, onEvent, onReport, secrets });
    try {
      for await (const part of partsOf(
        this.#open(request, { loaded, headers, abortSignal: watch.signal }),
        watch.signal,
      )) {
        watch.throwIfOver();
        // The adapter reports this once the request is accepted, before any output of the provider.
        if (part.type === 'stream-start') {
          onReport?.({ type: 'accepted' });
          this.#warn(part.warnings);
        } else watch.heard();
        answer.add(part);
      }
      watch.throwIfOver();
      return await answer.finish(this.name, files);
    } catch (error) {
      watch.throwIfOver();
      throw toAiSdkFailure(error, secrets);
    } finally {
      watch.stop();
    }
  }

  async #open(
    request: ModelRequest,
    { loaded, headers, abortSignal }: Opening,
  ): Promise<LanguageModelV4StreamResult> {
    const { settings, toolChoice } = this.#options;
    const { provider, specificationVersion } = this.#languageModel;
    const { tools, output } = request;
    const marksCache = this.#marksCache();
    const options: LanguageModelV4CallOptions = {
      ...settings,
      ...(headers === undefined ? {} : { headers: { ...settings?.headers, ...headers } }),
      prompt: toAiSdkPrompt(request, { provider, specificationVersion, loaded, marksCache }),
      ...(tools.length === 0
        ? {}
        : { tools: toAiSdkTools(tools), toolChoice: toChoice(toolChoice) }),
      ...(output === undefined ? {} : { responseFormat: toFormat(output) }),
      abortSignal,
    };
    // Version 3 differs only in files, and those are already in the form of its version.
    return await (this.#languageModel as LanguageModelV4).doStream(options);
  }

  #marksCache(): boolean {
    const { promptCache = true, settings } = this.#options;
    const { provider, modelId } = this.#languageModel;
    const isAnthropic =
      /(^|\.)anthropic(\.|$)/.test(provider) ||
      (provider === 'gateway' && modelId.startsWith('anthropic/'));
    return (
      isAnthropic &&
      promptCache &&
      settings?.providerOptions?.['anthropic']?.['cacheControl'] === undefined
    );
  }

  /** @throws ModelFailure `model_unauthorized`, retried */
  async #headers(caller: ModelCaller): Promise<Headers | undefined> {
    try {
      return await this.#options.headers?.(caller);
    } catch {
      // The text of the error may hold secrets.
      throw new ModelFailure('model_unauthorized', 'The headers of the model could not be read', {
        retryable: true,
      });
    }
  }

  #warn(warnings: readonly Warning[]): void {
    for (const warning of warnings) this.#options.onWarning?.(warningText(warning));
  }
}

interface Opening {
  readonly loaded: LoadedFiles;
  readonly headers: Headers | undefined;
  readonly abortSignal: AbortSignal;
}

/** Values of all headers, and the part of each behind a scheme such as `Bearer`. */
function secretsIn(...sets: readonly AiSdkSettings['headers'][]): readonly string[] {
  return sets
    .flatMap((headers) => Object.values(headers ?? {}))
    .flatMap((value) => (value === undefined ? [] : [value, ...value.split(/\s+/).slice(1)]));
}

type Warning = Extract<LanguageModelV4StreamPart, { type: 'stream-start' }>['warnings'][number];

function warningText(warning: Warning): string {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility': {
      const { type, feature, details } = warning;
      return `${type}: ${feature}${details === undefined ? '' : ` (${details})`}`;
    }
    case 'deprecated':
      return `deprecated: ${warning.setting} (${warning.message})`;
    case 'other':
      return warning.message;
  }
}

function toChoice(choice: ToolChoice = 'auto'): LanguageModelV4ToolChoice {
  if (typeof choice === 'string') return { type: choice };
  return { type: 'tool', toolName: toWireName(choice.name) };
}

function toFormat({
  name,
  schema,
}: ModelOutput): NonNullable<LanguageModelV4CallOptions['responseFormat']> {
  return { type: 'json', name, schema };
}

/** The parts as they arrive. Ends at once when the signal fires, even if the provider's package ignores it. */
async function* partsOf(
  opening: Promise<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV4StreamPart, void> {
  const stopped = abortOf(signal);
  // A stream that opens after the stop has no reader.
  opening.then(({ stream }) => (signal.aborted ? stream.cancel() : undefined)).catch(ignore);
  const { stream } = await Promise.race([opening, stopped]);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), stopped]);
      if (done) return;
      yield value;
    }
  } finally {
    // Closes the connection; does nothing for a stream that has ended.
    reader.cancel().catch(ignore);
  }
}

function abortOf(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_, reject) => {
    const fail = (): void => {
      reject(new DOMException('The model call was aborted', 'AbortError'));
    };
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
  aborted.catch(ignore);
  return aborted;
}

const ignore = (): void => undefined;
