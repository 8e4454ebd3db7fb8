/** `defineAgent`: a model, instructions and tools under a name, and the manifest that the rest of the world sees. Runs anywhere. */
import {
  type AgentManifest,
  type AgentSettings,
  ON_BUSY,
  type OnBusy,
  type ToolManifest,
} from '../protocol/conversation.js';
import { idProblem } from '../protocol/ids.js';
import { isRecord } from '../protocol/json.js';
import {
  DEFAULT_IDLE_CLOSE_MS,
  DEFAULT_MAX_STEPS,
  MAX_MAX_STEPS,
  MAX_WAIT_MS,
} from '../protocol/limits.js';
import type { Model } from '../protocol/model.js';
import { toWireName } from '../protocol/names.js';
import type { UntypedServices } from './context.js';
import { type Duration, durationMs, durationProblem } from './durations.js';
import type { Untyped } from './legal.js';
import { checkKeys, ProblemList, shown } from './problems.js';
import type { AnyTool, Tool } from './tool.js';

/** How an agent's conversations behave. */
export interface AgentSettingsSpec {
  /** Model calls of one turn before the engine ends it. @defaultValue 25 */
  readonly maxSteps?: number;
  /**
   * What a message does that comes while a turn runs: `reject` it, let it wait in a `queue`, `interrupt` the turn, or `steer`
   * it (the turn's next model call reads the message). A message may say otherwise. @defaultValue 'reject'
   */
  readonly onBusy?: OnBusy;
  /** An idle conversation closes after this. @defaultValue 30 days */
  readonly idleClose?: Duration;
  /** What a message does while calls wait for somebody. `'detach'` is not yet supported. @defaultValue 'block' */
  readonly whileWaiting?: 'block';
  /** How the calls of one step run. `'sequential'` is not yet supported. @defaultValue 'parallel' */
  readonly toolExecution?: 'parallel';
}

export interface AgentSpec<Services> {
  /** Letters, digits, "_", "." and "-"; up to 128 characters. A conversation never changes its agent. */
  readonly name: string;
  readonly description?: string;
  readonly model: Model;
  /** The system prompt; the usage texts of the tools follow it. */
  readonly instructions: string;
  readonly tools?: readonly Tool<Services>[];
  readonly settings?: AgentSettingsSpec;
}

/** An agent as the engine knows it; made by `defineAgent` only. */
export interface Agent<Services = UntypedServices> {
  readonly kind: 'agent';
  readonly name: string;
  readonly description?: string;
  readonly model: Model;
  readonly instructions: string;
  readonly tools: readonly Tool<Services>[];
  readonly settings: AgentSettings;
}

/** Any agent, whatever services its tools ask for: to look at, not to run. */
export type AnyAgent = Agent<never>;

const FIELDS = ['name', 'description', 'model', 'instructions', 'tools', 'settings'];
const SETTINGS = ['maxSteps', 'onBusy', 'idleClose', 'whileWaiting', 'toolExecution'];
/** Settings of later work: known, but not taken. */
const LATER_FIELDS = ['plugins', 'toolPolicy'];
const LATER_VALUES: Readonly<Record<string, readonly string[]>> = {
  whileWaiting: ['detach'],
  toolExecution: ['sequential'],
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  onBusy: ON_BUSY,
  whileWaiting: ['block'],
  toolExecution: ['parallel'],
};

/**
 * Declares an agent.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function defineAgent<Services = UntypedServices>(
  spec: AgentSpec<Services>,
): Agent<Services> {
  const problems = new ProblemList();
  const untyped: unknown = spec;
  if (isRecord(untyped)) checkAgent(untyped, problems);
  else problems.add('', `must be an object, got ${shown(untyped)}`);
  problems.throwIfAny(isRecord(untyped) ? `agent ${shown(untyped['name'])}` : 'an agent');
  const { name, description, model, instructions, tools, settings } = spec;
  return Object.freeze({
    kind: 'agent',
    name,
    ...(description === undefined ? {} : { description }),
    model,
    instructions,
    tools: Object.freeze([...(tools ?? [])]),
    settings: {
      maxSteps: settings?.maxSteps ?? DEFAULT_MAX_STEPS,
      onBusy: settings?.onBusy ?? 'reject',
      idleCloseMs: durationMs(settings?.idleClose) ?? DEFAULT_IDLE_CLOSE_MS,
    },
  });
}

/** What clients, API and operators may know of an agent: data only. */
export function manifestOf(agent: AnyAgent): AgentManifest {
  return {
    name: agent.name,
    ...(agent.description === undefined ? {} : { description: agent.description }),
    model: agent.model.name,
    settings: agent.settings,
    tools: agent.tools.map(toolManifestOf),
  };
}

function toolManifestOf(tool: AnyTool): ToolManifest {
  return {
    name: tool.name,
    description: tool.description,
    executor: tool.executor,
    approval: tool.approval.needed ? 'required' : 'auto',
    streaming: tool.streaming,
    executesFully: tool.executesFully,
    inputSchema: tool.inputSchema,
  };
}

function checkAgent(spec: Untyped, problems: ProblemList): void {
  for (const field of LATER_FIELDS)
    if (spec[field] !== undefined) problems.add(field, 'is not yet supported');
  checkKeys(problems, spec, { prefix: '', allowed: [...FIELDS, ...LATER_FIELDS] });
  problems.addIf('name', idProblem('name', spec['name']));
  const { description, instructions, model } = spec;
  if (description !== undefined && typeof description !== 'string')
    problems.add('description', 'must be a text');
  if (typeof instructions === 'function')
    problems.add('instructions', 'a function is not yet supported');
  else if (typeof instructions !== 'string' || instructions.trim() === '')
    problems.add('instructions', 'must be a non-empty text');
  if (
    !isRecord(model) ||
    typeof model['name'] !== 'string' ||
    typeof model['generate'] !== 'function'
  )
    problems.add('model', 'must be a model, such as openaiModel("...")');
  checkTools(spec['tools'] ?? [], problems);
  checkSettings(spec['settings'], problems);
}

function checkTools(tools: unknown, problems: ProblemList): void {
  if (!Array.isArray(tools)) {
    problems.add('tools', `must be a list of tools, got ${shown(tools)}`);
    return;
  }
  const places = new Map<string, string>();
  for (const [index, tool] of (tools as readonly unknown[]).entries()) {
    if (!isRecord(tool) || tool['kind'] !== 'tool' || typeof tool['name'] !== 'string') {
      problems.add(`tools[${index}]`, 'must come from defineTool');
      continue;
    }
    const wireName = toWireName(tool['name']);
    const other = places.get(wireName);
    if (other === tool['name']) problems.add(`tools[${index}]`, `duplicate name "${other}"`);
    else if (other !== undefined)
      problems.add(
        `tools[${index}]`,
        `"${tool['name']}" and "${other}" are both "${wireName}" on the wire`,
      );
    else places.set(wireName, tool['name']);
  }
}

function checkSettings(settings: unknown, problems: ProblemList): void {
  if (settings === undefined) return;
  if (!isRecord(settings)) {
    problems.add('settings', `must be an object, got ${shown(settings)}`);
    return;
  }
  for (const field of LATER_FIELDS)
    if (settings[field] !== undefined) problems.add(`settings.${field}`, 'is not yet supported');
  checkKeys(problems, settings, { prefix: 'settings.', allowed: [...SETTINGS, ...LATER_FIELDS] });
  const { maxSteps, idleClose } = settings;
  const isCount = typeof maxSteps === 'number' && Number.isInteger(maxSteps);
  if (maxSteps !== undefined && !(isCount && maxSteps >= 1 && maxSteps <= MAX_MAX_STEPS))
    problems.add('settings.maxSteps', `must be a whole number from 1 to ${MAX_MAX_STEPS}`);
  if (idleClose !== undefined)
    problems.addIf(
      'settings.idleClose',
      durationProblem(idleClose, { minMs: 1, maxMs: MAX_WAIT_MS }),
    );
  for (const [field, allowed] of Object.entries(VALUES)) {
    const value = settings[field];
    if (value === undefined || allowed.some((name) => name === value)) continue;
    const later = LATER_VALUES[field]?.some((name) => name === value) === true;
    problems.add(
      `settings.${field}`,
      later
        ? `${shown(value)} is not yet supported`
        : `must be one of ${allowed.join(', ')}, got ${shown(value)}`,
    );
  }
}
