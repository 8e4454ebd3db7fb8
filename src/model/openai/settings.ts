/** What of a request to OpenAI does not come from the conversation. */
import type { ModelRequest } from '../../protocol/model/model.js';
import type { ToolChoice } from '../shared/options.js';

/** How a model that thinks does so. @see OpenAI API reference, `reasoning` */
export interface ReasoningSettings {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Asks for summaries of its thoughts, which are shown while they stream. Responses only. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
}

export interface RequestSettings {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly reasoning?: ReasoningSettings | undefined;
  /** Whether the server knows `prompt_cache_key`: OpenAI's own does, others may refuse a request that has it. */
  readonly cacheKeys?: boolean | undefined;
  /** Responses only. */
  readonly background?: boolean | undefined;
}

/** By it the provider finds the machine that has the beginning of the request in its cache. */
export function cacheKeyOf(
  { cacheKey }: ModelRequest,
  { cacheKeys }: RequestSettings,
): { readonly prompt_cache_key?: string } {
  return cacheKeys === true && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {};
}
