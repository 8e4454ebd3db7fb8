/** The settings of a request to OpenAI that do not come from the conversation. */
import type { ModelRequest } from '../../protocol/model/model.js';
import type { ToolChoice } from '../shared/options.js';

/** Reasoning settings. @see OpenAI API reference, `reasoning` */
export interface ReasoningSettings {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Requests summaries of the reasoning, which are shown while they stream. Responses only. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
}

export interface RequestSettings {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly reasoning?: ReasoningSettings | undefined;
  /** Whether the server supports `prompt_cache_key`: OpenAI's own does, others may reject a request with it. */
  readonly cacheKeys?: boolean | undefined;
  /** Responses only. */
  readonly background?: boolean | undefined;
}

/** The key by which the provider routes the request to a machine with its beginning in the cache. */
export function cacheKeyOf(
  { cacheKey }: ModelRequest,
  { cacheKeys }: RequestSettings,
): { readonly prompt_cache_key?: string } {
  return cacheKeys === true && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {};
}
