/** Converts a transcript to a request of OpenAI's Chat Completions that every compatible server accepts. Pure. */
import type OpenAI from 'openai';
import type {
  AssistantMessage,
  Message,
  ToolCallPart,
  UserPart,
} from '../../protocol/conversation/messages.js';
import { textOf } from '../../protocol/conversation/messages.js';
import type { ModelRequest, ModelTool } from '../../protocol/model/model.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { ModelFailure } from '../shared/failure.js';
import { isUnreadable, type LoadedFiles, NO_FILES, notShown, urlOf } from '../shared/files.js';
import { shownResult } from '../shared/results.js';
import { sendableArguments, sendableName } from '../shared/wire-calls.js';
import { cacheKeyOf, type RequestSettings } from './settings.js';

type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** The body of one streaming request. */
export function toChatRequest(
  request: ModelRequest,
  settings: RequestSettings,
  loaded: LoadedFiles = NO_FILES,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const { model, temperature, maxOutputTokens, toolChoice, reasoning } = settings;
  const { tools, output } = request;
  const effort = reasoning?.effort;
  return {
    model,
    messages: toChatMessages(request, loaded),
    stream: true,
    stream_options: { include_usage: true },
    ...cacheKeyOf(request, settings),
    // Servers reject an empty list.
    ...(tools.length === 0 ? {} : { tools: tools.map(toChatTool) }),
    ...(toolChoice === undefined || tools.length === 0
      ? {}
      : {
          tool_choice:
            typeof toolChoice === 'string'
              ? toolChoice
              : { type: 'function', function: { name: toWireName(toolChoice.name) } },
        }),
    ...(output === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { ...output } } }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
  };
}

function toChatMessages(request: ModelRequest, loaded: LoadedFiles): ChatMessage[] {
  const messages = request.messages.flatMap((message) => toChatMessage(message, request, loaded));
  return request.system === ''
    ? messages
    : [{ role: 'system', content: request.system }, ...messages];
}

function toChatMessage(
  message: Message,
  request: ModelRequest,
  loaded: LoadedFiles,
): ChatMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: toContent(message.parts, loaded) }];
    case 'assistant':
      return toAssistantMessage(message);
    case 'tool':
      return message.parts.map(({ toolCallId, envelope }) => ({
        role: 'tool',
        tool_call_id: toolCallId,
        content: JSON.stringify(shownResult(envelope, request)),
      }));
  }
}

function toContent(
  parts: readonly UserPart[],
  loaded: LoadedFiles,
): string | OpenAI.ChatCompletionContentPart[] {
  if (parts.every(({ type }) => type === 'text')) return textOf(parts);
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const { source } = part;
    const url = urlOf(part, loaded);
    if (isUnreadable(part)) return { type: 'text', text: notShown(part) };
    if (part.type === 'image' && url !== undefined)
      return { type: 'image_url', image_url: { url, detail: part.detail ?? 'auto' } };
    if (part.type === 'file' && 'fileId' in source)
      return { type: 'file', file: { file_id: source.fileId } };
    if (part.type === 'file' && 'blob' in source && url !== undefined)
      return { type: 'file', file: { file_data: url, filename: part.filename ?? 'file' } };
    const reason = 'blob' in source ? undefined : 'this API does not take it by such a reference';
    return { type: 'text', text: notShown(part, reason) };
  });
}

/** Leaves out reasoning, and items of other providers: Chat Completions has no place for them. */
function toAssistantMessage({ parts }: AssistantMessage): ChatMessage[] {
  const text = textOf(parts);
  const calls = parts.filter((part) => part.type === 'tool_call').map(toChatCall);
  // A message with neither is rejected; a stopped turn may leave one.
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function toChatCall(call: ToolCallPart): OpenAI.ChatCompletionMessageFunctionToolCall {
  return {
    id: call.toolCallId,
    type: 'function',
    function: { name: sendableName(call.name), arguments: sendableArguments(call.argumentsJson) },
  };
}

/** Strict mode supports only a subset of JSON Schema; the engine validates arguments itself in any case. */
function toChatTool(tool: ModelTool): OpenAI.ChatCompletionFunctionTool {
  if ('provider' in tool)
    throw new ModelFailure(
      'model_bad_request',
      `Chat Completions supports functions only: "${tool.name}" cannot be sent`,
      { retryable: false },
    );
  return {
    type: 'function',
    function: {
      name: toWireName(tool.name),
      description: tool.description,
      parameters: tool.inputSchema,
      ...(tool.strict === true ? { strict: true } : {}),
    },
  };
}
