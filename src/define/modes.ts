/** `modes`: named sets of tools and instructions, one of which counts at a time. */
import { isRecord } from '../protocol/values/json.js';
import { toolNameProblem } from '../protocol/values/tool-names.js';
import { checkKeys, ProblemList, shown, type Untyped } from './checks/problems.js';
import { definePlugin } from './define-plugin.js';
import { defineTool } from './define-tool.js';
import { type BootstrapTool, bootstrapProblem, runBootstrap } from './plugin/bootstrap.js';
import type { Plugin, PrepareContext } from './plugin/types.js';
import { jsonSchema } from './schemas/schema.js';
import { type ToolContext, toolError, type UntypedServices } from './tool/context.js';
import type { PluginRef, StateAccess } from './tool/state-access.js';
import type { Tool } from './tool/types.js';

export interface ModeSpec<Services> {
  /** The purpose of the mode; the model reads it when it chooses a mode. */
  readonly description: string;
  /** Read by the model while the mode counts. */
  readonly instructions: string;
  /** Offered while the mode counts. */
  readonly tools?: readonly Tool<Services>[];
  /**
   * Tools that run, in this order, when a call enters the mode; their results are part of that call's result. The first
   * failure ends the call, and the mode before stays. Input and result are checked by the tool's schemas, and
   * `ctx.idempotencyKey` is the call's, followed by the names of mode and tool. Server tools without a gate that may run
   * again, each of them once; they cannot ask. Policies of the agent, and `calls` of plugins, see the call that enters
   * the mode, not these tools.
   */
  readonly bootstrap?: readonly BootstrapTool<Services>[];
}

export interface ModesSpec<Services> {
  /** Names the state in the log, and begins the name of the tool. @defaultValue 'mode' */
  readonly id?: string;
  /**
   * The mode of a new conversation, recorded with its first model call. No call enters it at the begin, so its
   * bootstrap tools do not run then: there is nothing whose result could have theirs. They run when a call changes back
   * to this mode.
   */
  readonly initial: string;
  readonly modes: Readonly<Record<string, ModeSpec<Services>>>;
  /** Whether the model may change the mode, by the tool `mode.change`. @defaultValue true */
  readonly byModel?: boolean;
}

/** The state of the plugin. */
export interface ModeState {
  /** Absent before the first model call. */
  readonly mode?: string;
}

/** The plugin, and the way for code to change the mode. */
export interface Modes<Services = UntypedServices> extends Plugin<Services, ModeState> {
  /**
   * Changes the mode from the code of a tool, with effect from the next step. Runs the mode's bootstrap tools first, and
   * returns their results by name.
   * @throws {ToolError} when one of them fails, or there is no such mode; then nothing is changed
   */
  enter(ctx: ToolContext<Services>, mode: string): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Changes the mode from `prepare` of another plugin, with `ctx.state`: for this model call where that plugin stands
   * before this one among those of the agent, else for the next one. No bootstrap tool runs: there is no call whose
   * result could have theirs.
   * @throws {TypeError} when there is no such mode; then nothing is changed
   */
  set(state: StateAccess, mode: string): void;
  /** The mode that counts for code with this context (`ctx` of a tool, `ctx.state` of `prepare`). */
  current(state: Pick<StateAccess, 'getState'>): string;
}

const FIELDS = ['id', 'initial', 'modes', 'byModel'];
const MODE_FIELDS = ['description', 'instructions', 'tools', 'bootstrap'];
const STATE = jsonSchema<ModeState>({
  type: 'object',
  properties: { mode: { type: 'string' } },
  additionalProperties: false,
});

/**
 * A plugin with one mode at a time: only its tools are offered, beside those of the agent and of other plugins.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function modes<Services = UntypedServices>(spec: ModesSpec<Services>): Modes<Services> {
  const problems = new ProblemList();
  const given: unknown = spec;
  if (isRecord(given)) checkModes(given, problems);
  else problems.add('', `must be an object, got ${shown(given)}`);
  problems.throwIfAny('modes');
  const { id = 'mode', initial, modes: all, byModel = true } = spec;
  const self: PluginRef<ModeState> = { id };
  const enter = async (ctx: ToolContext<Services>, mode: string) => {
    const results = await bootstrapped(all, mode, ctx);
    set(ctx, mode);
    return results;
  };
  const current: Modes['current'] = (state) => {
    const { mode = initial } = state.getState(self);
    // One that is no longer defined counts as the initial one.
    return Object.hasOwn(all, mode) ? mode : initial;
  };
  const set: Modes['set'] = (state, mode) => {
    if (!Object.hasOwn(all, mode)) throw new TypeError(unknownMode(all, mode));
    state.patchState(self, { op: 'set', path: '/mode', value: mode });
  };
  const plugin = definePlugin<Services, typeof STATE>({
    id,
    state: STATE,
    prepare: (ctx) => {
      const mode = current(ctx.state);
      if (ctx.state.getState(self).mode !== mode) set(ctx.state, mode);
      offer(all, ctx, mode);
    },
    tools: [
      ...new Set(Object.values(all).flatMap(({ tools = [] }) => tools)),
      ...(byModel ? [changeTool(id, all, enter)] : []),
    ],
  });
  return Object.freeze({ ...plugin, enter, set, current });
}

type All<Services> = Readonly<Record<string, ModeSpec<Services>>>;

function changeTool<Services>(
  id: string,
  all: All<Services>,
  enter: Modes<Services>['enter'],
): Tool<Services> {
  const described = Object.entries(all).map(([name, mode]) => `- ${name}: ${mode.description}`);
  return defineTool<Services>({
    name: `${id}.change`,
    description: `Changes the mode, with effect from the next step on.\n${described.join('\n')}`,
    input: jsonSchema<{ readonly mode: string }>({
      type: 'object',
      properties: { mode: { type: 'string', enum: Object.keys(all) } },
      required: ['mode'],
      additionalProperties: false,
    }),
    effects: 'idempotent',
    ...(readsUntrusted(all) ? { provenance: 'untrusted' } : {}),
    run: async (input, ctx) => {
      const { mode } = input as { readonly mode: string };
      return { mode, bootstrap: await enter(ctx, mode) };
    },
  });
}

/** The results of bootstrap tools are part of the call's. */
function readsUntrusted<Services>(all: All<Services>): boolean {
  return Object.values(all).some(({ bootstrap = [] }) =>
    bootstrap.some(({ tool }) => tool.provenance === 'untrusted'),
  );
}

function unknownMode(all: All<never>, mode: string): string {
  return `there is no mode "${mode}"; known are ${Object.keys(all).join(', ')}`;
}

async function bootstrapped<Services>(
  all: All<Services>,
  mode: string,
  ctx: ToolContext<Services>,
): Promise<Readonly<Record<string, unknown>>> {
  const entered = Object.hasOwn(all, mode) ? all[mode] : undefined;
  if (entered === undefined) throw toolError(unknownMode(all, mode));
  return await runBootstrap(mode, entered.bootstrap ?? [], ctx);
}

/** Hides the tools of the other modes, and adds the instructions of this one. */
function offer<Services>(
  all: All<Services>,
  { tools, context }: PrepareContext<Services>,
  mode: string,
): void {
  const offered = new Set(all[mode]?.tools ?? []);
  for (const tool of new Set(Object.values(all).flatMap((each) => each.tools ?? [])))
    if (!offered.has(tool)) tools.hide(tool.name);
  context.add(`Mode "${mode}":\n${all[mode]?.instructions ?? ''}`);
}

function checkModes(spec: Untyped, problems: ProblemList): void {
  checkKeys(problems, spec, { prefix: '', allowed: FIELDS });
  const { initial, modes: all, byModel } = spec;
  if (byModel !== undefined && typeof byModel !== 'boolean')
    problems.add('byModel', `must be true or false, got ${shown(byModel)}`);
  if (!isRecord(all) || Object.keys(all).length === 0) {
    problems.add('modes', `must be an object with one mode or more, got ${shown(all)}`);
    return;
  }
  if (typeof initial !== 'string' || !Object.hasOwn(all, initial))
    problems.add('initial', `must be one of ${Object.keys(all).join(', ')}, got ${shown(initial)}`);
  for (const [name, mode] of Object.entries(all)) checkMode(`modes.${name}`, mode, problems);
  for (const name of Object.keys(all)) problems.addIf(`modes.${name}`, toolNameProblem(name));
}

function checkMode(field: string, mode: unknown, problems: ProblemList): void {
  if (!isRecord(mode)) {
    problems.add(field, `must be an object, got ${shown(mode)}`);
    return;
  }
  checkKeys(problems, mode, { prefix: `${field}.`, allowed: MODE_FIELDS });
  for (const text of ['description', 'instructions'] as const)
    if (typeof mode[text] !== 'string' || mode[text].trim() === '')
      problems.add(`${field}.${text}`, 'must be a non-empty text');
  for (const [index, tool] of listIn(mode['tools'], `${field}.tools`, problems).entries())
    if (!isTool(tool)) problems.add(`${field}.tools[${index}]`, 'must come from defineTool');
  const names = new Set<string>();
  for (const [index, entry] of listIn(
    mode['bootstrap'],
    `${field}.bootstrap`,
    problems,
  ).entries()) {
    const tool = isRecord(entry) ? entry['tool'] : undefined;
    const place = `${field}.bootstrap[${index}]`;
    if (!isTool(tool)) {
      problems.add(place, 'must be {tool, input}, with a tool from defineTool');
      continue;
    }
    problems.addIf(place, bootstrapProblem(tool));
    if (names.has(tool.name))
      problems.add(place, `"${tool.name}" must be listed once: results are by name`);
    names.add(tool.name);
  }
}

function listIn(value: unknown, field: string, problems: ProblemList): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  problems.add(field, `must be a list, got ${shown(value)}`);
  return [];
}

function isTool(value: unknown): value is Tool<never> {
  return isRecord(value) && value['kind'] === 'tool';
}
