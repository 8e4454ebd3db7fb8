/** Calls that OpenAI runs inside a model call: recognises their output items, and converts them for the log. Pure. */

import type { ModelTool, ProviderCall } from '../../protocol/model/model.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

type Fields = Readonly<Record<string, unknown>>;

/** Types of items that are calls of the engine or another party. */
const OTHER_CALLS = ['function_call', 'custom_tool_call'];

/** Whether an output item is a call that the provider runs. The rule is by name, so it covers future types. */
export function isHostedCall(type: unknown): type is string {
  return typeof type === 'string' && type.endsWith('_call') && !OTHER_CALLS.includes(type);
}

/** The agent's name for the tool that an item belongs to; the item's own type if the agent has none. */
export function hostedName(item: Fields, tools: readonly ModelTool[]): string {
  const type = String(item['type']);
  const kind = type.replace(/_call$/, '').replace(/^mcp_.*/, 'mcp');
  const label = item['server_label'];
  const tool = tools.find((tool) => {
    if (!('provider' in tool)) return false;
    const { provider } = tool;
    if (kind === 'mcp') return provider.type === 'mcp' && provider['server_label'] === label;
    // Tools are versioned by their names, such as `web_search_preview`.
    return provider.type === kind || provider.type.startsWith(`${kind}_`);
  });
  return tool?.name ?? kind;
}

/** The call as the log shows it. `item`: the kept form, with references in place of large files. */
export function hostedCall(item: Fields, name: string): ProviderCall {
  const id = textOr(item['id'], '');
  const { input, output } = shownOf(item);
  const failed = failureOf(item);
  return { id, name, input, outcome: failed === undefined ? { output } : { error: failed } };
}

function shownOf(item: Fields): { readonly input: Json; readonly output: Json } {
  const json = item as Readonly<Record<string, Json | undefined>>;
  switch (item['type']) {
    case 'web_search_call': {
      const { sources, ...action } = isRecord(item['action']) ? item['action'] : {};
      return { input: action as Json, output: { sources: (sources ?? []) as Json } };
    }
    case 'file_search_call':
      return { input: { queries: json['queries'] }, output: { results: json['results'] ?? [] } };
    case 'code_interpreter_call': {
      const { code, container_id: containerId, outputs } = json;
      return { input: { code, containerId }, output: { outputs: outputs ?? [] } };
    }
    case 'image_generation_call': {
      const { action, revised_prompt: prompt, size, quality } = json;
      const { result, output_format: format } = json;
      // The reference of a stored image, or nothing: the log does not hold the image itself.
      const blob = isRecord(result) ? result['$blob'] : undefined;
      const image =
        blob === undefined ? null : { blob, mediaType: `image/${textOr(format, 'png')}` };
      return { input: { action, prompt, size, quality }, output: { image } };
    }
    case 'mcp_call':
      return { input: hostedInput(item), output: { output: json['output'] ?? null } };
    default: {
      const { id: _id, type: _type, status: _status, ...rest } = json;
      return { input: {}, output: rest };
    }
  }
}

/** The request of a hosted MCP server's call: its tool and the arguments. */
export function hostedInput(item: Fields): Json {
  const server = textOr(item['server_label'], '');
  return { server, tool: textOr(item['name'], ''), arguments: parsed(item['arguments']) };
}

function parsed(text: unknown): Json {
  if (typeof text !== 'string') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The error of the call, or undefined. */
function failureOf(item: Fields): string | undefined {
  const { error } = item;
  if (typeof error === 'string') return error;
  if (isRecord(error)) return textOr(error['message'], JSON.stringify(error['content'] ?? error));
  return item['status'] === 'failed' ? 'The provider reports that it failed' : undefined;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
