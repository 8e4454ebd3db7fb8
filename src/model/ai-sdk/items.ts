/**
 * The content that a provider behind the AI SDK needs back, as `provider_item`s of the transcript: written when an
 * answer has come, read when it is sent back. Pure. The forms are in recorded conversations, so they are only ever
 * extended.
 */
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { ProviderPart } from '../../protocol/conversation/messages.js';
import type { ModelFiles } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import { isRecord } from '../../protocol/values/json.js';
import { keptItem, type LoadedFiles, wholeItem } from '../shared/files.js';

export type Metadata = SharedV4ProviderMetadata;

/**
 * | `type` | stands for |
 * |---|---|
 * | `text`, `reasoning` without `text` | the marks of the part before it |
 * | `text`, `reasoning` with `text` | an empty part with marks: reasoning that the provider hides |
 * | `tool-call` with `index` | the place, and the marks, of the engine's call of that number in its message |
 * | `tool-call` with `toolCallId`, `tool-result` | a call that the provider ran, and its outcome |
 * | `file`, `reasoning-file`, `custom` | such a part, unchanged |
 */
export type AiSdkItem =
  | {
      readonly type: 'text' | 'reasoning';
      readonly text?: string;
      readonly providerMetadata?: Metadata;
    }
  | {
      readonly type: 'tool-call';
      readonly index: number;
      readonly providerMetadata?: Metadata;
    }
  | {
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      /** JSON text. */
      readonly input: string;
      readonly providerMetadata?: Metadata;
    }
  | {
      readonly type: 'tool-result';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: Json;
      readonly isError?: boolean;
      readonly providerMetadata?: Metadata;
    }
  | {
      readonly type: 'file' | 'reasoning-file';
      readonly mediaType: string;
      /** A data URL if the provider sent bytes; many bytes are in a blob. */
      readonly url: string;
      readonly providerMetadata?: Metadata;
    }
  | {
      readonly type: 'custom';
      readonly kind: `${string}.${string}`;
      readonly providerMetadata?: Metadata;
    };

/**
 * `provider`: as the language model names it, such as `anthropic.messages`. Items of one provider are never sent to
 * another. Undefined when the content cannot be stored: then it is not kept.
 */
export async function toItem(
  provider: string,
  item: AiSdkItem,
  files: ModelFiles | undefined,
): Promise<ProviderPart | undefined> {
  const kept = await keptItem(item, files);
  if (kept === undefined) return undefined;
  return { type: 'provider_item', provider: ownerOf(provider), item: kept };
}

/**
 * The item of a part that belongs to this provider. Undefined when it does not, has none of these forms, or its stored
 * content is lost.
 */
export function itemOf(
  provider: string,
  part: ProviderPart,
  loaded: LoadedFiles,
): AiSdkItem | undefined {
  if (part.provider !== ownerOf(provider)) return undefined;
  const item = wholeItem(part.item, loaded);
  return isItem(item) ? item : undefined;
}

function isItem(item: unknown): item is AiSdkItem {
  if (!isRecord(item)) return false;
  const { type, text, index, kind, providerMetadata } = item;
  if (providerMetadata !== undefined && !isRecord(providerMetadata)) return false;
  const has = (...fields: readonly string[]): boolean =>
    fields.every((field) => typeof item[field] === 'string');
  switch (type) {
    case 'text':
    case 'reasoning':
      return text === undefined || typeof text === 'string';
    case 'tool-call':
      return typeof index === 'number' || has('toolCallId', 'toolName', 'input');
    case 'tool-result':
      return has('toolCallId', 'toolName') && item['result'] !== undefined;
    case 'file':
    case 'reasoning-file':
      return has('mediaType', 'url');
    case 'custom':
      return typeof kind === 'string' && kind.includes('.');
    default:
      return false;
  }
}

/** Items of `openaiModel` have another form, even for the same provider. */
function ownerOf(provider: string): string {
  return `ai-sdk.${provider}`;
}

/** The field for existing metadata, else no field. */
export function markedBy(providerMetadata: Metadata | undefined): {
  readonly providerMetadata?: Metadata;
} {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
