/**
 * The JSON documents of tools and agents in the form of the Hsafa gateway: field names, types and defaults. Runs
 * anywhere. @see docs/compat.md#hsafa
 */
import { z } from 'zod';
import { MAX_MCP_SERVER_NAME_CHARS } from '../../../define/mcp/limits.js';
import {
  MAX_FACTORY_ARGS_BYTES,
  MAX_MADE_SERVERS,
} from '../../../protocol/limits/service-limits.js';
import { idProblem } from '../../../protocol/values/ids.js';

export const EXECUTION_TYPES = ['gateway', 'external', 'space', 'internal'] as const;

/** Milliseconds that a call is waited for, or that its HTTP request may take, unless the document sets `timeout`. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Documents in one list or folder: far more than the agents of one worker need. */
export const MAX_DOCUMENTS = 1_000;
/** Tools, and MCP servers, of one agent document. */
export const MAX_AGENT_TOOLS = 256;
/** A model call has as many that are documents of their own. */
export const MAX_AGENT_SERVERS = MAX_MADE_SERVERS;
/** The JSON of `{version, document}` has to fit into the plan of each call. */
export const MAX_STORED_BYTES = MAX_FACTORY_ARGS_BYTES - 64;

type Message = (issue: { readonly input?: unknown }) => string;

const or =
  (rule: string): Message =>
  ({ input }) =>
    input === undefined ? 'is required' : rule;
const text = z.string({ error: or('must be a text') });
const flag = z.boolean({ error: or('must be true or false') });
const record = <Value extends z.ZodType>(value: Value, rule: string) =>
  z.record(z.string(), value, { error: or(rule) });

/** A header's value: a text, or a reference to a secret of the worker. */
const Header = z.union(
  [z.string(), z.strictObject({ secret: z.string().min(1), prefix: z.string().optional() })],
  {
    error: or('must be a text or {secret, prefix?}'),
  },
);

export const ToolDocumentSchema = z.looseObject(
  {
    name: text,
    description: text.optional(),
    inputSchema: record(z.unknown(), 'must be a JSON Schema').optional(),
    executionType: z.enum(EXECUTION_TYPES, {
      error: or(`must be one of ${EXECUTION_TYPES.join(', ')}`),
    }),
    visible: flag.optional(),
    isAsync: flag.optional(),
    timeout: z
      .int({ error: or('must be a whole number of milliseconds') })
      .min(1, 'must be at least 1')
      .optional(),
    execution: z
      .looseObject(
        {
          url: text.optional(),
          method: text.optional(),
          headers: record(Header, 'must be an object of texts').optional(),
        },
        { error: or('must be an object such as {url, method, headers}') },
      )
      .optional(),
  },
  { error: or('must be an object: the document of a tool') },
);

const Server = z.looseObject(
  {
    name: text.max(
      MAX_MCP_SERVER_NAME_CHARS,
      `must have at most ${MAX_MCP_SERVER_NAME_CHARS} characters`,
    ),
    url: text,
    transport: z.literal('http', { error: or('must be "http"') }).optional(),
    allowedTools: z.array(text, { error: or('must be a list of tool names') }).optional(),
  },
  { error: or('must be an object: {name, url, transport, allowedTools}') },
);

export const ServerDocumentSchema = Server.extend({
  headers: record(Header, 'must be an object of texts').optional(),
});

export const AgentDocumentSchema = z.looseObject(
  {
    name: text.superRefine((name, context) => {
      const problem = idProblem('name', name);
      if (problem !== undefined)
        context.addIssue({ code: 'custom', message: problem.replace(/^name /, '') });
    }),
    description: text.optional(),
    instructions: text.optional(),
    systemPrompt: text.optional(),
    model: z.union([z.string(), z.record(z.string(), z.unknown())], {
      error: or('must be the name of a model, or an object that names one'),
    }),
    tools: z
      .array(z.unknown(), { error: or('must be a list of tool documents and names of such') })
      .max(MAX_AGENT_TOOLS, `must have at most ${MAX_AGENT_TOOLS} entries`)
      .optional(),
    mcp: z
      .looseObject(
        {
          servers: z
            .array(Server, { error: or('must be a list of servers') })
            .max(MAX_AGENT_SERVERS, `must have at most ${MAX_AGENT_SERVERS} entries`)
            .optional(),
        },
        { error: or('must be an object: {servers}') },
      )
      .optional(),
  },
  { error: or('must be an object: the document of an agent') },
);

/**
 * The document of a tool, as JSON.
 *
 * | field | default |
 * |---|---|
 * | `visible` | true; false for `internal` |
 * | `isAsync` | false |
 * | `timeout` | 30000 |
 * | `execution.method` | `POST` |
 */
export type ToolDocument = z.input<typeof ToolDocumentSchema>;

/** The document of an agent, as JSON. Exactly one of `instructions` and `systemPrompt`. */
export type AgentDocument = z.input<typeof AgentDocumentSchema>;

/** The document of an MCP server that changes at run time, as JSON. */
export type ServerDocument = z.input<typeof ServerDocumentSchema>;

export type ParsedServer = z.output<typeof ServerDocumentSchema>;
export type ParsedTool = z.output<typeof ToolDocumentSchema>;
export type ParsedAgent = z.output<typeof AgentDocumentSchema>;

const EXECUTION = ['url', 'method', 'headers'];
const SCHEMAS = {
  tool: ToolDocumentSchema,
  agent: AgentDocumentSchema,
  server: ServerDocumentSchema,
};

/** Fields of a valid document that nothing reads, by their paths below it. */
export function unreadFields(
  schema: keyof typeof SCHEMAS,
  document: ParsedTool | ParsedAgent | ParsedServer,
): readonly string[] {
  const known = Object.keys(SCHEMAS[schema].shape);
  return [...unknownIn(document, known), ...belowOf(document)];
}

function belowOf(document: ParsedTool | ParsedAgent | ParsedServer): readonly string[] {
  const { execution, mcp } = document as Partial<ParsedTool & ParsedAgent>;
  return [
    ...unknownIn(execution ?? {}, EXECUTION, 'execution.'),
    ...unknownIn(mcp ?? {}, ['servers'], 'mcp.'),
    ...(mcp?.servers ?? []).flatMap((server, index) =>
      unknownIn(server, Object.keys(Server.shape), `mcp.servers[${index}].`),
    ),
  ];
}

function unknownIn(value: object, known: readonly string[], prefix = ''): readonly string[] {
  return Object.keys(value)
    .filter((field) => !known.includes(field))
    .map((field) => `${prefix}${field}`);
}
