/**
 * Settings for a useful conversation with a model whose words are nonsense: its answers to messages must be tool calls,
 * the server allows only calls that match the schemas, and texts are short. Everything else is as with any model.
 */
import { type JsonSchema, type Model, type OpenAIModelOptions, openaiModel } from 'colloquy';

/** The model never stops by itself. */
const MAX_CALL_TOKENS = 96;
const MAX_TEXT_TOKENS = 24;
/** A string without a maximum length would never end. */
const MAX_STRING_CHARS = 24;

/** Set in the environment of a worker with a tiny model. */
export const TINY_MODEL = 'DEMO_TINY_MODEL';

export interface TinyModelOptions extends OpenAIModelOptions {
  /** Names of the tools that the model is offered. @defaultValue all tools of the agent */
  readonly offered?: readonly string[];
}

/** A model by its server's name for it; address and key as for `openaiModel`. */
export function tinyModel(name: string, { offered, ...options }: TinyModelOptions = {}): Model {
  // Takes the likeliest token, which follows the examples in its template.
  const common = { temperature: 0, ...options };
  const asking = openaiModel(name, {
    maxOutputTokens: MAX_CALL_TOKENS,
    ...common,
    toolChoice: 'required',
  });
  const telling = openaiModel(name, { ...common, maxOutputTokens: MAX_TEXT_TOKENS });
  return {
    name,
    generate: (request, callOptions) => {
      // The model would call a tool again and again, because it does not understand that it has the result.
      if (request.messages.at(-1)?.role === 'tool')
        return telling.generate({ ...request, tools: [] }, callOptions);
      const tools = request.tools.filter((tool) => offered?.includes(tool.name) ?? true);
      return asking.generate({ ...request, tools: tools.map(bounded) }, callOptions);
    },
  };
}

function bounded<Tool extends Parameters<Model['generate']>[0]['tools'][number]>(tool: Tool): Tool {
  if (!('inputSchema' in tool)) return tool;
  return { ...tool, inputSchema: withBounds(tool.inputSchema) };
}

function withBounds(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return schema;
  const bound = Object.entries(properties).map(([name, property]) => [
    name,
    isBoundless(property) ? { ...property, maxLength: MAX_STRING_CHARS } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(bound) as JsonSchema };
}

function isBoundless(property: unknown): property is JsonSchema {
  if (typeof property !== 'object' || property === null) return false;
  const { type, minLength, maxLength } = property as JsonSchema;
  return type === 'string' && minLength === undefined && maxLength === undefined;
}
