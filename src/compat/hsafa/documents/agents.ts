/** `hsafaAgents`: agent documents of the Hsafa gateway as agents of this engine. Runs in Node. */
import type { AgentSettingsSpec } from '../../../define/agent/settings.js';
import { type Agent, type AgentSpec, defineAgent } from '../../../define/define-agent.js';
import type { McpServer } from '../../../define/mcp/server.js';
import type { McpHttpServerSpec } from '../../../define/mcp/spec.js';
import { mcpServer } from '../../../define/mcp-server.js';
import type { Plugin } from '../../../define/plugin/types.js';
import type { UntypedServices } from '../../../define/tool/context.js';
import type { Tool } from '../../../define/tool/types.js';
import type { Model } from '../../../protocol/model/model.js';
import { below, Findings, type Warning } from './findings.js';
import { AgentDocumentSchema, type ParsedAgent, unreadFields } from './forms.js';
import { checkServerHeaders } from './headers.js';
import {
  checkNames,
  defaultRate,
  definedIn,
  type HsafaOptions,
  placesOf,
  type Reading,
  toolOf,
  withBuiltIns,
} from './tools.js';

/** Fields of an MCP server that documents do not have, such as its token. */
export type ServerExtras = Omit<McpHttpServerSpec, 'name' | 'url' | 'transport' | 'allowedTools'>;

export interface HsafaAgentOptions extends HsafaOptions {
  /** Finds the model that a document names. An error that it throws is a fault of the document. */
  readonly model: (name: never) => Model;
  /** Adds to an MCP server of the documents, by its name. @defaultValue nothing */
  readonly mcp?: (name: string) => ServerExtras;
  /** Adds to the settings of every agent, and replaces those below. */
  readonly settings?: AgentSettingsSpec;
  /**
   * Plugins of every agent before that of the built-in tools, such as that of `hsafaToolbox`. A `spacesPlugin` with
   * options replaces that of the built-in tools. The first `inboxRate` goes before the default. @defaultValue none
   */
  readonly plugins?: readonly Plugin[];
}

export interface HsafaAgents {
  readonly agents: readonly Agent[];
  readonly warnings: readonly Warning[];
}

/**
 * One cycle at a time: what comes meanwhile is for the next, calls run one after the other, and the agent waits for a
 * call that is not async.
 */
export function settingsWith({
  plugins = [],
  settings,
}: Pick<HsafaAgentOptions, 'plugins' | 'settings'>): AgentSettingsSpec {
  return {
    onBusy: 'queue',
    whileWaiting: 'block',
    toolExecution: 'sequential',
    inbox: { whileBusy: 'next_turn', ...defaultRate(plugins) },
    ...settings,
  };
}

/**
 * Makes agents of one document or a list; connects to no server. Their models read bare results: `{success: true,
 * args}`, `{error: message}`.
 * @throws {DefinitionError} invalid_definition with every fault of all documents, or with one of the plugins
 */
export function hsafaAgents(documents: unknown, options: HsafaAgentOptions): HsafaAgents {
  const findings = new Findings(options.strict);
  const placed = placesOf(documents, '', findings);
  const agents = placed.map(({ document, at }) => agentOf(document, at, { findings, options }));
  checkNames(placed, findings);
  findings.throwIfAny('agent documents');
  return { agents: definedIn(agents), warnings: findings.warnings };
}

interface AgentReading extends Reading {
  readonly options: HsafaAgentOptions;
  /** Tools that agents name. @defaultValue none */
  readonly shared?: ReadonlyMap<string, Tool>;
  /** Servers besides those of the document. @defaultValue none */
  readonly servers?: readonly PlacedServer[];
}

/** In place of required fields that break rules. */
const REQUIRED = { name: 'agent', model: '' };

/** Undefined, with its faults added, when the document makes no agent. */
export function agentOf(document: unknown, at: string, reading: AgentReading): Agent | undefined {
  const { findings, options } = reading;
  const before = findings.faults;
  const parsed = findings.parsed(AgentDocumentSchema, document, { at, required: REQUIRED });
  const isWhole = findings.faults === before;
  if (parsed === undefined) return undefined;
  for (const field of unreadFields('agent', parsed))
    findings.warn(below(at, field), 'is not a field of an agent document: nothing reads it');
  const tools = agentTools(parsed, at, reading);
  const servers = [...serversOf(parsed, at, reading), ...(reading.servers ?? [])];
  const instructions = instructionsOf(parsed, at, findings);
  const model = isWhole ? modelOf(parsed, at, reading) : undefined;
  if (model === undefined || instructions === undefined) return undefined;
  const { name, description } = parsed;
  const spec: AgentSpec<UntypedServices> = {
    name,
    ...(description === undefined ? {} : { description }),
    model,
    instructions,
    tools: tools.map(({ tool }) => tool),
    plugins: withBuiltIns(options.plugins ?? [], options),
    mcpServers: servers.map(({ server }) => server),
    settings: settingsWith(options),
    resultForm: 'bare',
  };
  const place = (field: string): string =>
    below(
      at,
      field
        .replace(/^tools\[(\d+)\]/, (own, index) => tools[Number(index)]?.place ?? own)
        .replace(/^mcpServers\[(\d+)\]/, (own, index) => servers[Number(index)]?.place ?? own),
    );
  return findings.defined(() => defineAgent(spec), place);
}

interface PlacedTool {
  readonly tool: Tool;
  /** Path below the agent's document. */
  readonly place: string;
}

export interface PlacedServer {
  readonly server: McpServer;
  /** Path below the agent's document. */
  readonly place: string;
}

function agentTools(
  { tools = [] }: ParsedAgent,
  at: string,
  reading: AgentReading,
): readonly PlacedTool[] {
  return tools.flatMap((document, index) => {
    const place = `tools[${index}]`;
    const tool =
      typeof document === 'string'
        ? sharedTool(document, below(at, place), reading)
        : toolOf(document, below(at, place), reading);
    return tool === undefined ? [] : [{ tool, place }];
  });
}

function sharedTool(
  name: string,
  at: string,
  { findings, shared }: AgentReading,
): Tool | undefined {
  const tool = shared?.get(name);
  if (tool === undefined) findings.fault(at, `names no tool document: ${JSON.stringify(name)}`);
  return tool;
}

function serversOf(
  { mcp }: ParsedAgent,
  at: string,
  { findings, options }: AgentReading,
): readonly PlacedServer[] {
  return (mcp?.servers ?? []).flatMap(({ name, url, allowedTools, ...more }, index) => {
    const place = `mcp.servers[${index}]`;
    const path = below(at, place);
    checkServerHeaders(more['headers'], below(path, 'headers'), findings);
    const server = findings.defined(
      () =>
        mcpServer({
          ...options.mcp?.(name),
          ...{ name, url, transport: 'http' },
          ...(allowedTools === undefined ? {} : { allowedTools }),
        }),
      (field) => below(path, field),
    );
    return server === undefined ? [] : { server, place };
  });
}

function instructionsOf(
  { instructions, systemPrompt }: ParsedAgent,
  at: string,
  findings: Findings,
): string | undefined {
  if (instructions !== undefined && systemPrompt !== undefined) {
    findings.fault(below(at, 'systemPrompt'), 'cannot be given together with instructions');
    return undefined;
  }
  const text = instructions ?? systemPrompt;
  if (text === undefined) findings.fault(below(at, 'instructions'), 'is required, or systemPrompt');
  return text;
}

function modelOf({ model }: ParsedAgent, at: string, reading: AgentReading): Model | undefined {
  try {
    return reading.options.model(model as never);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    reading.findings.fault(below(at, 'model'), reason);
    return undefined;
  }
}
