/** Converts a transcript to a prompt of the AI SDK's language model specification. Pure. */
import type {
  JSONObject,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../protocol/conversation/messages.js';
import type { ModelRequest, ModelTool } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { isUnreadable, type LoadedFiles, notShown, urlOf } from '../shared/files.js';
import { shownResult } from '../shared/results.js';
import { sendableArguments, sendableName } from '../shared/wire-calls.js';
import { type AiSdkItem, itemOf, type Metadata } from './items.js';

/** The model that receives the prompt. */
export interface PromptTarget {
  readonly provider: string;
  readonly specificationVersion: 'v3' | 'v4';
  readonly loaded: LoadedFiles;
  /** The provider caches a prompt up to marks in it. @defaultValue false */
  readonly marksCache?: boolean;
  /** See `ModelRequest`. */
  readonly bareResults?: true;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type AssistantContentPart = AssistantContent[number];

/** The whole conversation. Marks of other providers are left out, and so is their reasoning. */
export function toAiSdkPrompt(request: ModelRequest, target: PromptTarget): LanguageModelV4Prompt {
  const to = request.bareResults === true ? { ...target, bareResults: true as const } : target;
  const isMarked = target.marksCache === true;
  const marked = isMarked ? markedMessages(request) : [];
  const messages = request.messages.flatMap((message, index) => {
    const converted = toMessages(message, to);
    return marked.includes(index) ? converted.map(withCacheMark) : converted;
  });
  if (request.system === '') return messages;
  // The tools stand before the system prompt, so the same mark covers them.
  const system = { role: 'system', content: request.system } as const;
  return [isMarked ? withCacheMark(system) : system, ...messages];
}

/**
 * Indexes of the messages to mark: the end of the part that the next request begins with, and the end of that of the
 * previous request, because a cache entry more than twenty blocks before a mark is not found. A request may have four
 * marks.
 */
function markedMessages({ messages, stableMessages = 0 }: ModelRequest): readonly number[] {
  const stable = messages.slice(0, stableMessages);
  const isAsked = ({ role }: Message): boolean => role !== 'assistant';
  const last = stable.findLastIndex(isAsked);
  const answer = stable
    .slice(0, Math.max(0, last))
    .findLastIndex(({ role }) => role === 'assistant');
  const before = stable.slice(0, Math.max(0, answer)).findLastIndex(isAsked);
  return [last, before].filter((index) => index >= 0);
}

function withCacheMark<Marked extends LanguageModelV4Message>(message: Marked): Marked {
  return { ...message, providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
}

function toMessages(message: Message, target: PromptTarget): LanguageModelV4Message[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.parts.map((part) => toUserPart(part, target)) }];
    case 'assistant': {
      const content = toAssistantContent(message, target);
      // A stopped turn may leave an empty message, which providers reject.
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool':
      return [{ role: 'tool', content: message.parts.map((part) => toToolResult(part, target)) }];
  }
}

type UserContentPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

/** An unavailable file becomes a text: a rejected request would be rejected at every later turn, too. */
function toUserPart(part: UserPart, target: PromptTarget): UserContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { source } = part;
  const isImage = part.type === 'image';
  const filename = isImage || part.filename === undefined ? {} : { filename: part.filename };
  const mediaType = part.mediaType ?? (isImage ? 'image/*' : 'application/octet-stream');
  if ('fileId' in source) {
    if (target.specificationVersion === 'v3') return { type: 'text', text: notShown(part) };
    const [owner = target.provider] = target.provider.split('.');
    const data = { type: 'reference' as const, reference: { [owner]: source.fileId } };
    return { type: 'file', ...filename, mediaType, data };
  }
  const url = urlOf(part, target.loaded);
  if (url === undefined) return { type: 'text', text: notShown(part) };
  return { type: 'file', ...filename, mediaType, data: fileData(url, target) };
}

/** In the order of the answer: calls with a place go there, the others to the end. */
function toAssistantContent(message: AssistantMessage, target: PromptTarget): AssistantContent {
  const { parts } = message;
  const calls = parts.filter((part) => part.type === 'tool_call');
  const written = new Set<ToolCallPart>();
  const content: AssistantContent = [];
  for (const [at, part] of parts.entries()) {
    if (part.type === 'tool_call') {
      if (!written.has(part)) content.push(toToolCall(part));
      continue;
    }
    if (part.type !== 'provider_item') {
      content.push(...toTextual(part, marksAfter(parts, at, target)));
      continue;
    }
    const item = itemOf(target.provider, part, target.loaded);
    if (item === undefined) continue;
    if (item.type === 'tool-call' && 'index' in item) {
      const call = calls[item.index];
      if (call === undefined) continue;
      written.add(call);
      content.push({ ...toToolCall(call), ...optionsOf(item) });
    } else content.push(...toContentParts(item, target));
  }
  return content;
}

/** The item with the marks of the part at `at`, if it is the next one. */
function marksAfter(
  parts: readonly AssistantPart[],
  at: number,
  { provider, loaded }: PromptTarget,
): AiSdkItem | undefined {
  const [part, next] = [parts[at], parts[at + 1]];
  if (next?.type !== 'provider_item') return undefined;
  const item = itemOf(provider, next, loaded);
  return item !== undefined && item.type === part?.type && isMark(item) ? item : undefined;
}

function isMark(item: AiSdkItem): boolean {
  return (item.type === 'text' || item.type === 'reasoning') && item.text === undefined;
}

/** Reasoning without marks belongs to another provider, or was cut off by a stop: no provider accepts it. */
function toTextual(
  part: Extract<AssistantPart, { type: 'text' | 'reasoning' }>,
  marks: AiSdkItem | undefined,
): AssistantContentPart[] {
  if (part.type === 'reasoning' && marks === undefined) return [];
  const options = marks === undefined ? {} : optionsOf(marks);
  return [{ type: part.type, text: part.text, ...options }];
}

function toContentParts(item: AiSdkItem, target: PromptTarget): AssistantContentPart[] {
  switch (item.type) {
    case 'text':
    case 'reasoning':
      if (item.text === undefined) return [];
      return [{ type: item.type, text: item.text, ...optionsOf(item) }];
    case 'tool-call': {
      if (!('toolCallId' in item)) return [];
      const { type, toolCallId, toolName, input } = item;
      const call = {
        type,
        toolCallId,
        toolName,
        input: JSON.parse(sendableArguments(input)) as unknown,
        providerExecuted: true,
      };
      return [{ ...call, ...optionsOf(item) }];
    }
    case 'tool-result': {
      const { type, toolCallId, toolName, result, isError = false } = item;
      return [
        { type, toolCallId, toolName, output: hostedOutput(result, isError), ...optionsOf(item) },
      ];
    }
    case 'file':
    case 'reasoning-file': {
      const { type, mediaType, url } = item;
      return [{ type, mediaType, data: fileData(url, target), ...optionsOf(item) }];
    }
    case 'custom':
      return [{ type: item.type, kind: item.kind, ...optionsOf(item) }];
  }
}

function hostedOutput(result: Json, isError: boolean): LanguageModelV4ToolResultOutput {
  if (isError) return { type: 'error-json', value: result as JSONObject };
  return typeof result === 'string'
    ? { type: 'text', value: result }
    : { type: 'json', value: result as JSONObject };
}

type FileData =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'url'; readonly url: URL };

/** The bytes of a data URL, or the address. Version 3 takes the bare text or address. */
function fileData(url: string, { specificationVersion }: PromptTarget): FileData {
  const base64 = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (base64 === undefined) {
    const address = new URL(url);
    return specificationVersion === 'v3'
      ? (address as unknown as FileData)
      : { type: 'url', url: address };
  }
  return specificationVersion === 'v3'
    ? (base64 as unknown as FileData)
    : { type: 'data', data: base64 };
}

function toToolCall(call: ToolCallPart): Extract<AssistantContentPart, { type: 'tool-call' }> {
  return {
    type: 'tool-call',
    toolCallId: call.toolCallId,
    toolName: sendableName(call.name),
    input: JSON.parse(sendableArguments(call.argumentsJson)) as unknown,
  };
}

/** The result as every model of the engine gets it; the provider's own error flag is set in addition. */
function toToolResult(
  { toolCallId, name, envelope }: ToolResultPart,
  target: PromptTarget,
): LanguageModelV4ToolResultPart {
  const output = toOutput(envelope, target);
  return { type: 'tool-result', toolCallId, toolName: sendableName(name), output };
}

/** Version 3 has other forms for files in results; its models read the references. */
function toOutput(
  envelope: ToolResultEnvelope,
  target: PromptTarget,
): LanguageModelV4ToolResultOutput {
  const value = shownResult(envelope, target) as JSONObject;
  if (!envelope.ok) return { type: 'error-json', value };
  const { files, ...said } = envelope;
  if (files === undefined || target.specificationVersion === 'v3') return { type: 'json', value };
  const shown = files.map((file) =>
    isUnreadable(file) ? { type: 'text' as const, text: notShown(file) } : toUserPart(file, target),
  );
  return {
    type: 'content',
    value: [{ type: 'text', text: JSON.stringify(shownResult(said, target)) }, ...shown],
  };
}

function optionsOf({ providerMetadata }: { readonly providerMetadata?: Metadata }): {
  readonly providerOptions?: Metadata;
} {
  return providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
}

/** The tools of a request, the engine's and the provider's, by names that every provider accepts. */
export function toAiSdkTools(
  tools: readonly ModelTool[],
): (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[] {
  return tools.map((tool) => {
    const name = toWireName(tool.name);
    if ('provider' in tool) {
      const { type, ...args } = tool.provider;
      return { type: 'provider', id: type as `${string}.${string}`, name, args };
    }
    const { description, inputSchema, strict } = tool;
    return {
      type: 'function',
      name,
      description,
      inputSchema,
      ...(strict === undefined ? {} : { strict }),
    };
  });
}
