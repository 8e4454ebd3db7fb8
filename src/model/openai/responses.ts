/** Converts a transcript to a request of OpenAI's Responses. Every request carries the whole conversation. Pure. */
import type OpenAI from 'openai';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { ToolResultPart, UserPart } from '../../protocol/conversation/messages.js';
import { textOf } from '../../protocol/conversation/messages.js';
import type { ModelRequest, ModelTool } from '../../protocol/model/model.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { isUnreadable, type LoadedFiles, NO_FILES, notShown, urlOf } from '../shared/files.js';
import { shownResult } from '../shared/results.js';
import { answerInput, type InputItem } from './items.js';
import { cacheKeyOf, type RequestSettings } from './settings.js';

type Content = OpenAI.Responses.ResponseInputContent;
type Include = OpenAI.Responses.ResponseIncludable;

/**
 * Output of the provider's tools to include in the response, so that the log can show it and the next request can carry
 * it.
 */
const INCLUDED: readonly (readonly [type: RegExp, include: Include])[] = [
  [/^web_search/, 'web_search_call.action.sources'],
  [/^file_search$/, 'file_search_call.results'],
  [/^code_interpreter$/, 'code_interpreter_call.outputs'],
];

/** The body of one streaming request. */
export function toResponsesRequest(
  request: ModelRequest,
  settings: RequestSettings,
  loaded: LoadedFiles = NO_FILES,
): OpenAI.Responses.ResponseCreateParamsStreaming {
  const { system, tools, output } = request;
  const { model, temperature, maxOutputTokens, toolChoice, reasoning, background } = settings;
  const include = includedOf(tools, settings);
  return {
    model,
    input: toInput(request, loaded),
    stream: true,
    // The engine keeps the conversation: the provider stores nothing between two requests, except for background mode.
    ...(background === true ? { background, store: true } : { store: false }),
    ...(system === '' ? {} : { instructions: system }),
    ...cacheKeyOf(request, settings),
    ...(include.length === 0 ? {} : { include: [...include] }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    ...(toolChoice === undefined || tools.length === 0
      ? {}
      : {
          tool_choice:
            typeof toolChoice === 'string'
              ? toolChoice
              : { type: 'function', name: toWireName(toolChoice.name) },
        }),
    ...(output === undefined ? {} : { text: { format: { type: 'json_schema', ...output } } }),
    ...(reasoning === undefined ? {} : { reasoning: { ...reasoning } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
  };
}

/** Models that reason; others reject a request for their reasoning. */
const THINKING = /^(o\d|codex|computer-use|gpt-[5-9](?!(\.\d+)?-chat))/;

function includedOf(
  tools: readonly ModelTool[],
  { model, reasoning }: RequestSettings,
): readonly Include[] {
  const types = tools.flatMap((tool) => ('provider' in tool ? [tool.provider.type] : []));
  const included = INCLUDED.filter(([type]) => types.some((name) => type.test(name)));
  return [
    ...(reasoning !== undefined || THINKING.test(model)
      ? (['reasoning.encrypted_content'] as const)
      : []),
    ...included.map(([, include]) => include),
  ];
}

function toTool(tool: ModelTool): OpenAI.Responses.Tool {
  // Sent unchanged: the provider validates it.
  if ('provider' in tool) return tool.provider as unknown as OpenAI.Responses.Tool;
  const { name, description, inputSchema, strict = false } = tool;
  return {
    type: 'function',
    name: toWireName(name),
    description,
    parameters: inputSchema,
    // The default would be strict.
    strict,
  };
}

function toInput(request: ModelRequest, loaded: LoadedFiles): InputItem[] {
  const approvals = new Map<string, string>();
  return request.messages.flatMap((message): readonly InputItem[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: toContent(message.parts, loaded) }];
      case 'assistant': {
        const answer = answerInput(message, loaded);
        for (const [id, request] of answer.approvals) approvals.set(id, request);
        return answer.items;
      }
      case 'tool':
        return message.parts.map((part) => {
          const approvalRequest = approvals.get(part.toolCallId);
          return approvalRequest === undefined
            ? toOutput(part, request, loaded)
            : toApproval(part, approvalRequest);
        });
    }
  });
}

function toContent(parts: readonly UserPart[], loaded: LoadedFiles): string | Content[] {
  if (parts.every(({ type }) => type === 'text')) return textOf(parts);
  return parts.map((part) =>
    part.type === 'text' ? { type: 'input_text', text: part.text } : toFile(part, loaded),
  );
}

function toFile(part: ImagePart | FilePart, loaded: LoadedFiles): Content {
  const { source } = part;
  const fileId = 'fileId' in source ? source.fileId : undefined;
  const url = urlOf(part, loaded);
  if (isUnreadable(part) || (fileId === undefined && url === undefined))
    return { type: 'input_text', text: notShown(part) };
  if (part.type === 'image') {
    const image = { type: 'input_image', detail: part.detail ?? 'auto' } as const;
    return fileId === undefined
      ? { ...image, image_url: url ?? null }
      : { ...image, file_id: fileId };
  }
  if (fileId !== undefined) return { type: 'input_file', file_id: fileId };
  if ('url' in source) return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', file_data: url ?? '', filename: part.filename ?? 'file' };
}

function toOutput(
  { toolCallId, envelope }: ToolResultPart,
  request: ModelRequest,
  loaded: LoadedFiles,
): InputItem {
  return {
    type: 'function_call_output',
    call_id: toolCallId,
    output: outputOf(envelope, request, loaded),
  };
}

function toApproval({ envelope }: ToolResultPart, approvalRequest: string): InputItem {
  return {
    type: 'mcp_approval_response',
    approval_request_id: approvalRequest,
    approve: envelope.ok,
    ...reasonOf(envelope),
  };
}

/** The result, followed by the files that the tool shows. */
function outputOf(
  envelope: ToolResultEnvelope,
  request: ModelRequest,
  loaded: LoadedFiles,
): string | Content[] {
  if (!envelope.ok || envelope.files === undefined)
    return JSON.stringify(shownResult(envelope, request));
  const { files, ...said } = envelope;
  return [
    { type: 'input_text', text: JSON.stringify(shownResult(said, request)) },
    ...files.map((file) => toFile(file, loaded)),
  ];
}

function reasonOf(envelope: ToolResultEnvelope): { readonly reason?: string } {
  return envelope.ok ? {} : { reason: envelope.error.message };
}
