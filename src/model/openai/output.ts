/**
 * Converts the finished items of one response to an answer of the model port: texts, reasoning, calls, and items for
 * the provider.
 */
import type OpenAI from 'openai';
import type { ReasoningPart, TextPart } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type {
  ModelFiles,
  ModelResponse,
  ModelTool,
  ProviderCall,
  RequestedCall,
} from '../../protocol/model/model.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { fromWireName } from '../../protocol/values/tool-names.js';
import { keptItem } from '../shared/files.js';
import { argumentsAsked, argumentsText } from '../shared/wire-calls.js';
import { hostedCall, hostedInput, hostedName, isHostedCall } from './hosted-tools.js';
import { isKept, listOf, type OutputItem, RESPONSES, strippedItem } from './items.js';
import { sourcesOf } from './sources.js';

type Part = ModelResponse['parts'][number];

export interface OutputOfResponse {
  readonly items: readonly OutputItem[];
  readonly tools: readonly ModelTool[];
  readonly files: ModelFiles | undefined;
  /** Why the response is incomplete. */
  readonly incomplete: string | undefined;
  readonly usage: OpenAI.Responses.ResponseUsage | undefined;
  readonly model: string;
}

/** Stores the files of the answer. @throws errors of `files.write` */
export async function answerOf(output: OutputOfResponse): Promise<ModelResponse> {
  const { items, tools, files, incomplete, model } = output;
  const parts: Part[] = [];
  const calls: RequestedCall[] = [];
  const hosted: ProviderCall[] = [];
  const keptItems = await keptOf(items, files);
  for (const [index, item] of items.entries()) {
    const kept = keptItems[index];
    const texts = textsOf(item);
    if (hasText(texts) && hasText(parts)) parts.push({ type: 'text', text: BETWEEN_TEXTS });
    if (kept !== undefined) parts.push({ type: 'provider_item', provider: RESPONSES, item: kept });
    parts.push(...texts);
    const call = callOf(item, tools, incomplete !== undefined);
    if (call !== undefined) calls.push(call);
    if (!isHostedCall(item.type)) continue;
    const shown = isRecord(kept) ? kept : { ...item, result: null };
    hosted.push(hostedCall(shown, hostedName(shown, tools)));
  }
  const refused = items.some(
    (item) =>
      item.type === 'message' && listOf(item.content).some(({ type }) => type === 'refusal'),
  );
  return {
    parts,
    calls,
    ...(hosted.length === 0 ? {} : { providerCalls: hosted }),
    finishReason: finishReasonOf({ incomplete, refused, calls }),
    usage: usageOf(output.usage),
    model,
  };
}

/** Separates two messages of one answer, and two summaries of reasoning: they are shown as one text. */
export const BETWEEN_TEXTS = '\n\n';

function hasText(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === 'text' && part.text !== '');
}

/**
 * Each item in its kept form; undefined when it cannot be kept. Reasoning is dropped with the item that followed it,
 * because the provider would reject it alone.
 */
async function keptOf(
  items: readonly OutputItem[],
  files: ModelFiles | undefined,
): Promise<readonly (Json | undefined)[]> {
  const kept: (Json | undefined)[] = [];
  for (const [index, item] of items.entries()) {
    kept.push(isKept(item) ? await keptItem(strippedItem(item), files) : undefined);
    if (kept[index] !== undefined || item.type === 'reasoning') continue;
    for (let before = index - 1; items[before]?.type === 'reasoning'; before -= 1)
      kept[before] = undefined;
  }
  return kept;
}

function textsOf(item: OutputItem): readonly (TextPart | ReasoningPart)[] {
  switch (item.type) {
    case 'message':
      return listOf(item.content).map((content) => {
        if (content.type === 'refusal') return { type: 'text', text: textFrom(content.refusal) };
        const sources = sourcesOf(content.annotations);
        return {
          type: 'text',
          text: textFrom(content.text),
          ...(sources.length === 0 ? {} : { sources }),
        };
      });
    case 'reasoning':
      return [...listOf(item.summary), ...listOf(item.content)].map(({ text }) => ({
        type: 'reasoning',
        text: textFrom(text),
      }));
    default:
      return [];
  }
}

/** Some servers send null. */
function textFrom(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function callOf(
  item: OutputItem,
  tools: readonly ModelTool[],
  isCut: boolean,
): RequestedCall | undefined {
  switch (item.type) {
    case 'function_call':
      return {
        id: item.call_id,
        name: fromWireName(item.name),
        argumentsJson: argumentsAsked(argumentsText(item.arguments), isCut),
      };
    case 'mcp_approval_request':
      return {
        id: item.id,
        name: hostedName({ ...item }, tools),
        argumentsJson: JSON.stringify(hostedInput({ ...item })),
        hosted: true,
      };
    default:
      return undefined;
  }
}

function finishReasonOf(answer: {
  readonly incomplete: string | undefined;
  readonly refused: boolean;
  readonly calls: readonly RequestedCall[];
}): string {
  const { incomplete, refused, calls } = answer;
  if (incomplete !== undefined) return incomplete === 'max_output_tokens' ? 'length' : incomplete;
  if (calls.length > 0) return 'tool_calls';
  return refused ? 'refusal' : 'stop';
}

/** Some servers leave out fields, or the whole usage. */
export function usageOf(usage: OpenAI.Responses.ResponseUsage | undefined): Usage {
  const given = usage as Partial<OpenAI.Responses.ResponseUsage> | undefined;
  const cached = given?.input_tokens_details?.cached_tokens;
  const reasoning = given?.output_tokens_details?.reasoning_tokens;
  return {
    inputTokens: given?.input_tokens ?? 0,
    outputTokens: given?.output_tokens ?? 0,
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}
