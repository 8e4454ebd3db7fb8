/** Converts stream parts of an AI SDK language model to the engine's types. Pure. */
import type {
  LanguageModelV4Citation,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { TextSource } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import { MAX_SOURCE_CHARS } from '../../protocol/limits/limits.js';
import { MAX_TEXT_SOURCES } from '../../protocol/limits/service-limits.js';
import { isRecord } from '../../protocol/values/json.js';
import { ModelFailure, streamBroken } from '../shared/failure.js';

/** Finish reasons of Anthropic, and of OpenAI beside a refusal, that the packages map to `content-filter`. */
const DECLINED = ['refusal', 'stop'];

export type StreamPart<Type extends LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { type: Type }
>;

/**
 * The finish reason of an answer, in the engine's terms if there is one.
 * @throws ModelFailure `model_stream_broken` when it did not end; `model_content_filtered`
 */
export function finishReasonOf(finish: StreamPart<'finish'> | undefined, hasText: boolean): string {
  if (finish === undefined) throw streamBroken("The model's stream ended before its answer did");
  const { unified, raw } = finish.finishReason;
  switch (unified) {
    case 'content-filter':
      // The packages treat a refusal as a filter; its text is an answer.
      if (hasText && DECLINED.includes(raw ?? '')) return 'refusal';
      throw new ModelFailure(
        'model_content_filtered',
        "The provider's content filter stopped the answer",
        { retryable: false },
      );
    case 'error':
    case 'interrupted':
      throw streamBroken('The provider broke off its answer');
    case 'tool-calls':
      return 'tool_calls';
    case 'stop':
    case 'length':
      return unified;
    case 'other':
      return raw ?? unified;
  }
}

/** Counts that a provider does not report are 0. */
export function usageOf(usage: LanguageModelV4Usage | undefined): Usage {
  const { inputTokens: input, outputTokens: output } = usage ?? {};
  return {
    inputTokens: input?.total ?? 0,
    outputTokens: output?.total ?? 0,
    ...(input?.cacheRead === undefined ? {} : { cachedInputTokens: input.cacheRead }),
    ...(output?.reasoning === undefined ? {} : { reasoningTokens: output.reasoning }),
  };
}

/** The URL of a file that the model made: bytes as a data URL; for either version of the specification. */
export function fileUrl({ data, mediaType }: StreamPart<'file' | 'reasoning-file'>): string {
  // Version 3 has the bytes or their text without a wrapper.
  const wrapped: unknown = data;
  const given =
    isRecord(wrapped) && 'type' in wrapped ? (wrapped['url'] ?? wrapped['data']) : wrapped;
  if (given instanceof URL) return given.href;
  const base64 =
    given instanceof Uint8Array ? Buffer.from(given).toString('base64') : String(given);
  return `data:${mediaType};base64,${base64}`;
}

/** The sources of a text; documents are left out, because only the provider can resolve them. */
export function sourcesOf(citations: readonly LanguageModelV4Citation[]): readonly TextSource[] {
  return citations
    .flatMap(({ source, startIndex, endIndex }): TextSource[] => {
      if (source.sourceType !== 'url' || source.url.length > MAX_SOURCE_CHARS) return [];
      const { url, title } = source;
      return [
        {
          type: 'url',
          url,
          ...(title === undefined ? {} : { title: title.slice(0, MAX_SOURCE_CHARS) }),
          ...(startIndex === undefined ? {} : { startIndex }),
          ...(endIndex === undefined ? {} : { endIndex }),
        },
      ];
    })
    .slice(0, MAX_TEXT_SOURCES);
}
