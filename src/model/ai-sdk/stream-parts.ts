/** Parts of what a language model of the AI SDK streams, in the engine's words. Pure. */
import type {
  LanguageModelV4Citation,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { TextSource } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import { MAX_SOURCE_CHARS, MAX_TEXT_SOURCES } from '../../protocol/limits/limits.js';
import { isRecord } from '../../protocol/values/json.js';
import { ModelFailure, streamBroken } from '../shared/failure.js';

/** Words of Anthropic, and of OpenAI beside a refusal, that the packages show as `content-filter`. */
const DECLINED = ['refusal', 'stop'];

export type StreamPart<Type extends LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { type: Type }
>;

/**
 * Why an answer ended, in the engine's words where it has one.
 * @throws ModelFailure `model_stream_broken` when it did not end; `model_content_filtered`
 */
export function finishReasonOf(finish: StreamPart<'finish'> | undefined, hasText: boolean): string {
  if (finish === undefined) throw streamBroken("The model's stream ended before its answer did");
  const { unified, raw } = finish.finishReason;
  switch (unified) {
    case 'content-filter':
      // The packages take a model that declines for a filter; its words are an answer.
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

/** What a provider does not say counts as nothing. */
export function usageOf(usage: LanguageModelV4Usage | undefined): Usage {
  const { inputTokens: input, outputTokens: output } = usage ?? {};
  return {
    inputTokens: input?.total ?? 0,
    outputTokens: output?.total ?? 0,
    ...(input?.cacheRead === undefined ? {} : { cachedInputTokens: input.cacheRead }),
    ...(output?.reasoning === undefined ? {} : { reasoningTokens: output.reasoning }),
  };
}

/** Where a file is that the model made: bytes as a data URL; either version of the specification. */
export function fileUrl({ data, mediaType }: StreamPart<'file' | 'reasoning-file'>): string {
  // Version 3 gives the bytes or their text without a wrapping.
  const wrapped: unknown = data;
  const given =
    isRecord(wrapped) && 'type' in wrapped ? (wrapped['url'] ?? wrapped['data']) : wrapped;
  if (given instanceof URL) return given.href;
  const base64 =
    given instanceof Uint8Array ? Buffer.from(given).toString('base64') : String(given);
  return `data:${mediaType};base64,${base64}`;
}

/** What a text names as its sources; documents are left out, since only the provider knows where they are. */
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
