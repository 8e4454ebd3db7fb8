/** From a transcript to a request of OpenAI's Chat Completions, as every compatible server takes it. Pure. */
import type OpenAI from 'openai';
import { isRecord } from '../protocol/json.js';
import { MAX_WIRE_NAME_CHARS } from '../protocol/limits.js';
import type { AssistantMessage, Message, ToolCallPart } from '../protocol/messages.js';
import { textOf } from '../protocol/messages.js';
import type { ModelRequest, ModelTool } from '../protocol/model.js';
import { toWireName } from '../protocol/names.js';
import { ModelFailure } from './failure.js';

/** What of the request does not come from the conversation. */
export interface ChatSettings {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** The body of one streaming request. */
export function toChatRequest(
  request: ModelRequest,
  settings: ChatSettings,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const { model, temperature, maxOutputTokens } = settings;
  return {
    model,
    messages: toChatMessages(request),
    stream: true,
    stream_options: { include_usage: true },
    // An empty list is refused.
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toChatTool) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
  };
}

function toChatMessages(request: ModelRequest): ChatMessage[] {
  const messages = request.messages.flatMap(toChatMessage);
  return request.system === ''
    ? messages
    : [{ role: 'system', content: request.system }, ...messages];
}

function toChatMessage(message: Message): ChatMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: textOf(message.parts) }];
    case 'assistant':
      return toAssistantMessage(message);
    case 'tool':
      return message.parts.map(({ toolCallId, envelope }) => ({
        role: 'tool',
        tool_call_id: toolCallId,
        content: JSON.stringify(envelope),
      }));
  }
}

/** Reasoning is not sent back, nor what another kind of provider left: Chat Completions has no place for them. */
function toAssistantMessage({ parts }: AssistantMessage): ChatMessage[] {
  const text = textOf(parts);
  const calls = parts.filter((part) => part.type === 'tool_call').map(toChatCall);
  // A message with neither is refused; a stopped turn may leave one.
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

/** The model may have asked for a tool by an impossible name; sent back as it is, every later request would be refused. */
function sendableName(name: string): string {
  const wire = toWireName(name).replaceAll(/[^\w-]/g, '_');
  return wire === '' ? 'unknown' : wire.slice(0, MAX_WIRE_NAME_CHARS);
}

/**
 * Arguments go back to the letter, so that prompt caches hit. Except when they are no JSON object: servers that parse them
 * for their chat template would refuse every later request of the conversation.
 */
function sendableArguments(argumentsJson: string): string {
  try {
    if (isRecord(JSON.parse(argumentsJson))) return argumentsJson;
  } catch {
    // Wrapped below.
  }
  return JSON.stringify({ invalid_arguments: argumentsJson });
}

/** `strict` is left out: it takes a subset of JSON Schema only, and the engine validates arguments itself. */
function toChatTool(tool: ModelTool): OpenAI.ChatCompletionFunctionTool {
  if ('provider' in tool)
    throw new ModelFailure(
      'model_bad_request',
      `Chat Completions knows functions only: "${tool.name}" cannot be sent`,
      { retryable: false },
    );
  return {
    type: 'function',
    function: {
      name: toWireName(tool.name),
      description: tool.description,
      parameters: tool.inputSchema,
    },
  };
}
