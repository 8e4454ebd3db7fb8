/** A tool as a server lists it, validated and in normal form. Pure; runs in the worker. */
import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import { MAX_MCP_TOOL_BYTES } from '../../define/mcp/limits.js';
import { jsonSchemaProblems } from '../../json-schema/relaxed.js';
import type { ToolAnnotations } from '../../protocol/calls/plan.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import {
  canonicalJson,
  isBoundedJson,
  type JsonSchema,
  utf8Bytes,
} from '../../protocol/values/json.js';

export interface ListedTool {
  /** The server's own name. */
  readonly name: string;
  readonly description: string;
  /** Unchanged. */
  readonly inputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** See `McpToolRef`. */
  readonly digest: string;
  readonly hints?: string;
  /** The definition that the client needs with a call. Absent: the tool was not listed. */
  readonly definition?: Tool;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** The tool, or why no agent can use it. */
export function listedTool(definition: Tool): ListedTool | { readonly problem: string } {
  const { name, title, description, inputSchema } = definition;
  const schema = inputSchema as JsonSchema;
  if (!isBoundedJson(schema, MAX_ANSWER_DEPTH))
    return { problem: `its input schema is nested deeper than ${MAX_ANSWER_DEPTH}` };
  const bytes = utf8Bytes(JSON.stringify({ description, schema }));
  if (bytes > MAX_MCP_TOOL_BYTES)
    return {
      problem: `its description and schema have ${bytes} bytes; at most ${MAX_MCP_TOOL_BYTES}`,
    };
  const [fault] = jsonSchemaProblems(schema);
  if (fault !== undefined) return { problem: `inputSchema${fault.path}: ${fault.rule}` };
  const annotations = annotationsOf(definition);
  return {
    name,
    description: [description, title, name].find((text) => (text ?? '').trim() !== '') ?? name,
    inputSchema: schema,
    annotations,
    digest: sha256([schema, annotations]),
    hints: sha256(annotations),
    definition,
  };
}

function sha256(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

/** Leaves out values that are not hints: a text in place of `true` must not count. */
function annotationsOf({ annotations }: Tool): ToolAnnotations {
  const given = HINTS.flatMap((hint) => {
    const value = annotations?.[hint];
    return typeof value === 'boolean' ? [[hint, value] as const] : [];
  });
  const title = annotations?.title;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...Object.fromEntries(given),
  };
}
