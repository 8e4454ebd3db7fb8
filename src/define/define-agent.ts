/** `defineAgent`: a model, instructions and tools under a name, and the manifest that clients see. Runs anywhere. */

import { rowOf } from '../protocol/calls/executors.js';
import type {
  AgentManifest,
  AgentSettings,
  ToolManifest,
} from '../protocol/conversation/agents.js';
import type { Model, ProviderTool } from '../protocol/model/model.js';
import { idProblem } from '../protocol/values/ids.js';
import { isRecord } from '../protocol/values/json.js';
import { toWireName } from '../protocol/values/tool-names.js';
import { type AgentContext, type ContextSpec, checkContext, contextOf } from './agent/context.js';
import { type AnswerForm, type AnswersIn, answerFormOf, checkAgentOutput } from './agent/output.js';
import { checkPrices } from './agent/prices.js';
import { type AgentSettingsSpec, checkSettings, settingsOf } from './agent/settings.js';
import { checkCurrencies } from './agent/sub-agents.js';
import {
  checkKeys,
  DefinitionError,
  type DefinitionProblem,
  ProblemList,
  shown,
  type Untyped,
} from './checks/problems.js';
import { checkWellFormed } from './checks/well-formed.js';
import { checkMcpServers, isNameOfListed } from './mcp/agent-servers.js';
import type { AnyMcpServer, McpServer } from './mcp/server.js';
import { checkPlugins, type PlacedTool, placedTools } from './plugin/agent-plugins.js';
import type { Plugin } from './plugin/types.js';
import type { Schema } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { ToolPolicy } from './tool/policy.js';
import type { PortAccess } from './tool/ports.js';
import type { AnyTool, Tool } from './tool/types.js';
import { modelProblem } from './tool-rules/provider.js';
import { agentTimeoutsOf, type ClockDefaults, checkAgentTimeouts } from './tool-rules/timeouts.js';

export interface AgentSpec<Services> {
  /** Letters, digits, "_", "." and "-"; up to 128 characters. A conversation never changes its agent. */
  readonly name: string;
  readonly description?: string;
  /** The part of the application that its model calls are counted for, in audit lines. @defaultValue the name */
  readonly feature?: string;
  readonly model: Model;
  /** The system prompt; the usage texts of the tools follow it. */
  readonly instructions: string;
  readonly tools?: readonly Tool<Services>[];
  /** Their tools follow the agent's own; their functions run in this order. */
  readonly plugins?: readonly Plugin<Services>[];
  /** MCP servers whose tools the agent has besides; the tools are known once the servers have listed them. */
  readonly mcpServers?: readonly McpServer<Services>[];
  /** Decides over every call of every tool, beside the tools' own gates; the stricter wins. Fails closed. */
  readonly toolPolicy?: ToolPolicy<Services>;
  readonly settings?: AgentSettingsSpec;
  /** The part of a long conversation that the model is given. */
  readonly context?: ContextSpec;
  /**
   * Schema of final answers, an object at the top: zod, or JSON Schema through `jsonSchema()`. The worker validates
   * answers, requests an invalid one once more, and returns them as `output` of the turn's result. @defaultValue texts
   */
  readonly output?: Schema;
  /**
   * The form in which the model reads results of tools. `envelope`: `{ok: true, result}` or `{ok: false, error}`.
   * `bare`: the result alone, or `{error: message}`. Log and clients have envelopes in either case.
   * @defaultValue 'envelope'
   */
  readonly resultForm?: 'envelope' | 'bare';
}

/** An agent as the engine knows it; made by `defineAgent` only. */
export interface Agent<
  Services = UntypedServices,
  Tools extends readonly AnyTool[] = readonly Tool<Services>[],
> {
  readonly kind: 'agent';
  readonly name: string;
  readonly description?: string;
  readonly feature: string;
  readonly model: Model;
  readonly instructions: string;
  /** The agent's own, then those of its plugins. */
  readonly tools: Tools;
  /** Absent: none. */
  readonly plugins?: readonly Plugin<Services>[];
  /** Absent: none. */
  readonly mcpServers?: readonly McpServer<Services>[];
  readonly toolPolicy?: ToolPolicy<Services>;
  readonly settings: AgentSettings;
  /** Time-outs of calls whose tools set none. Absent: the engine's. */
  readonly timeouts?: ClockDefaults;
  readonly context: AgentContext;
  /** Present where final answers have a schema. */
  readonly output?: AnswerForm;
  /** Absent: the model reads envelopes. */
  readonly resultForm?: 'bare';
}

/** Any agent, of any services: to be inspected, not run. */
export type AnyAgent = Agent<never>;

/** Agents that change while workers run. An agent of a worker's own definitions goes before one of the same name. */
export interface AgentCatalog<Services = UntypedServices> {
  readonly kind: 'agent_catalog';
  /**
   * Has the plugins and the settings that agents of the catalog share. By its name workers announce that they serve the
   * catalog. No conversation is held with it.
   */
  readonly template: Agent<Services>;
  /**
   * The agent as it is now; `deleted` for one that there was, whose turns fail and whose waiting calls end. Asked
   * before each activity, so that the same version must be the same object. After an error the activity asks again a
   * few times, and is then tried again, except a call that may run only once: its result is `not_available`.
   * @throws {UnreadableAgent} not tried again
   */
  find(
    of: { readonly tenant: string; readonly agent: string },
    ctx: PortAccess,
  ): Promise<Agent<Services> | 'deleted' | undefined>;
}

/** The definition of an agent of a catalog breaks rules, perhaps since a deploy. */
export class UnreadableAgent<Services = UntypedServices> extends DefinitionError {
  /** Has the tools of calls that wait. Its model is not called: turns fail with the reason. */
  readonly standIn: Agent<Services>;

  constructor(subject: string, problems: readonly DefinitionProblem[], standIn: Agent<Services>) {
    super(subject, problems);
    this.standIn = standIn;
  }
}

const FIELDS = [
  ...['name', 'description', 'feature', 'model', 'instructions', 'tools', 'toolPolicy', 'settings'],
  ...['context', 'output', 'mcpServers', 'plugins', 'resultForm'],
];

/**
 * Declares an agent.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function defineAgent<
  Services = UntypedServices,
  const Tools extends readonly AnyTool[] = readonly Tool<Services>[],
  Output extends Schema = Schema,
>(
  spec: AgentSpec<Services> & { readonly tools?: Tools; readonly output?: Output },
): Agent<Services, Tools> & AnswersIn<Output> {
  const problems = new ProblemList();
  const untyped: unknown = spec;
  if (isRecord(untyped)) checkAgent(untyped, problems);
  else problems.add('', `must be an object, got ${shown(untyped)}`);
  problems.throwIfAny(isRecord(untyped) ? `agent ${shown(untyped['name'])}` : 'an agent');
  const { name, description, model, instructions, mcpServers, toolPolicy, settings } = spec;
  const { plugins = [], feature = name } = spec;
  const tools = [...(spec.tools ?? []), ...plugins.flatMap((plugin) => plugin.tools)];
  const context = contextOf(spec.context, model);
  return Object.freeze({
    kind: 'agent',
    name,
    ...(description === undefined ? {} : { description }),
    feature,
    model,
    instructions,
    // A frozen copy, of the same type.
    tools: Object.freeze(tools) as readonly AnyTool[] as Tools,
    ...(plugins.length === 0 ? {} : { plugins: Object.freeze([...plugins]) }),
    ...(mcpServers === undefined || mcpServers.length === 0
      ? {}
      : { mcpServers: Object.freeze([...mcpServers]) }),
    ...(toolPolicy === undefined ? {} : { toolPolicy }),
    settings: {
      ...settingsOf(settings, {
        currency: currencyOf(model),
        rate: plugins.find(({ inboxRate }) => inboxRate !== undefined)?.inboxRate,
      }),
      ...(context.summarize === false ? {} : { summaries: true as const }),
    },
    ...(settings?.timeouts === undefined ? {} : { timeouts: agentTimeoutsOf(settings.timeouts) }),
    context,
    ...(spec.output === undefined ? {} : { output: answerFormOf(spec.output) }),
    ...(spec.resultForm === 'bare' ? { resultForm: 'bare' } : {}),
  });
}

function currencyOf({ prices }: Model): string {
  return prices?.currency ?? 'USD';
}

/** The public description of an agent for clients, API and operators: data only. */
export function manifestOf(agent: AnyAgent): AgentManifest {
  return {
    name: agent.name,
    ...(agent.description === undefined ? {} : { description: agent.description }),
    model: agent.model.name,
    ...(agent.model.prices === undefined ? {} : { currency: currencyOf(agent.model) }),
    settings: agent.settings,
    ...(agent.output === undefined ? {} : { output: agent.output.jsonSchema }),
    tools: agent.tools.map((tool) => toolManifestOf(tool, agent)),
    ...(agent.mcpServers === undefined
      ? {}
      : { mcpServers: agent.mcpServers.map(({ name }: AnyMcpServer) => ({ name })) }),
  };
}

function toolManifestOf(tool: AnyTool, agent: AnyAgent): ToolManifest {
  return {
    name: tool.name,
    description: tool.description,
    executor: tool.executor,
    approval: approvalOf(tool, agent),
    streaming: tool.streaming,
    executesFully: tool.executesFully,
    inputSchema: tool.inputSchema,
    ...(tool.metadata === undefined ? {} : { metadata: tool.metadata }),
  };
}

function approvalOf(tool: AnyTool, { toolPolicy }: AnyAgent): ToolManifest['approval'] {
  // The plan has a function's gate as needed until the function has decided.
  if (tool.approval.needed && tool.policy === undefined) return 'required';
  const isDecided = tool.policy !== undefined || toolPolicy !== undefined;
  return isDecided && rowOf(tool.executor).mayBeGated ? 'policy' : 'auto';
}

const MODEL_WORDS =
  'must be a model, such as openaiModel("..."), or aiSdkModel(...) of colloquy/ai-sdk around a model of the AI SDK';

function instructionsWords(given: unknown): string {
  const rule = 'must be a non-empty text';
  return typeof given === 'function'
    ? `${rule}; add what differs by user in a plugin's prepare, by context.add`
    : rule;
}

function checkAgent(spec: Untyped, problems: ProblemList): void {
  checkKeys(problems, spec, { prefix: '', allowed: FIELDS });
  checkWellFormed(problems, spec, ['model', 'tools', 'mcpServers', 'output']);
  problems.addIf('name', idProblem('name', spec['name']));
  if (spec['feature'] !== undefined)
    problems.addIf('feature', idProblem('feature', spec['feature']));
  const { description, instructions, model } = spec;
  if (description !== undefined && typeof description !== 'string')
    problems.add('description', 'must be a text');
  if (typeof instructions !== 'string' || instructions.trim() === '')
    problems.add('instructions', instructionsWords(instructions));
  if (!isModel(model)) problems.add('model', MODEL_WORDS);
  else {
    const settings = isRecord(spec['settings']) ? spec['settings'] : {};
    checkPrices(model.prices, settings['budgets'], problems);
  }
  const { toolPolicy, resultForm } = spec;
  if (resultForm !== undefined && resultForm !== 'envelope' && resultForm !== 'bare')
    problems.add('resultForm', `must be envelope or bare, got ${shown(resultForm)}`);
  if (toolPolicy !== undefined && typeof toolPolicy !== 'function')
    problems.add('toolPolicy', `must be a function, got ${shown(toolPolicy)}`);
  checkPlugins(spec['plugins'], problems);
  const { tools = [] } = spec;
  if (!Array.isArray(tools)) problems.add('tools', `must be a list of tools, got ${shown(tools)}`);
  const placed = placedTools(spec);
  checkTools(placed, problems);
  checkMcpServers(spec['mcpServers'], problems);
  checkHosted(spec, placed, problems);
  checkCurrencies(spec, definedIn(placed), problems);
  checkContext(spec, problems);
  checkAgentOutput(spec['output'], problems);
  const own = placed.flatMap(({ tool }) =>
    isRecord(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [],
  );
  const isTool = (tool: string): boolean =>
    own.includes(tool) || isNameOfListed(spec['mcpServers'], tool);
  checkSettings(spec['settings'], isTool, problems);
  const settings = isRecord(spec['settings']) ? spec['settings'] : {};
  checkAgentTimeouts(settings['timeouts'], toolsIn(placed), problems);
}

function isModel(value: unknown): value is Model {
  return (
    isRecord(value) && typeof value['name'] === 'string' && typeof value['generate'] === 'function'
  );
}

/** Checks the provider's tools here, so that the provider does not refuse them in the middle of a turn. */
function checkHosted(
  { model, settings }: Untyped,
  tools: readonly PlacedTool[],
  problems: ProblemList,
): void {
  if (!isModel(model)) return;
  const budgets = isRecord(settings) ? settings['budgets'] : undefined;
  const callsOf = isRecord(budgets) && isRecord(budgets['callsOf']) ? budgets['callsOf'] : {};
  for (const { place, tool } of tools) {
    if (!isRecord(tool) || !isRecord(tool['provider'])) continue;
    problems.addIf(place, modelProblem(model, tool['provider'] as ProviderTool));
    const name = String(tool['name']);
    if (Object.hasOwn(callsOf, name))
      problems.add(`settings.budgets.callsOf.${name}`, 'cannot be bounded: the provider runs it');
  }
}

function toolsIn(placed: readonly PlacedTool[]): readonly AnyTool[] {
  return definedIn(placed).map(({ tool }) => tool);
}

function definedIn(
  placed: readonly PlacedTool[],
): readonly { readonly place: string; readonly tool: AnyTool }[] {
  return placed.flatMap(({ place, tool }) =>
    isRecord(tool) && tool['kind'] === 'tool' ? [{ place, tool: tool as unknown as AnyTool }] : [],
  );
}

function checkTools(placed: readonly PlacedTool[], problems: ProblemList): void {
  const known = new Map<string, string>();
  for (const { place, tool } of placed) {
    if (!isRecord(tool) || tool['kind'] !== 'tool' || typeof tool['name'] !== 'string') {
      problems.add(place, 'must come from defineTool');
      continue;
    }
    const wireName = toWireName(tool['name']);
    const other = known.get(wireName);
    if (other === tool['name']) problems.add(place, `duplicate name "${other}"`);
    else if (other !== undefined)
      problems.add(place, `"${tool['name']}" and "${other}" are both "${wireName}" on the wire`);
    else known.set(wireName, tool['name']);
  }
}
