/**
 * `definePlugin`: tools, a state that the conversation keeps, and code around model calls, under one id. Runs anywhere.
 */
import { idProblem } from '../protocol/values/ids.js';
import { isRecord, type Json } from '../protocol/values/json.js';
import { checkInboxRate } from './agent/settings.js';
import { checkKeys, ProblemList, shown, type Untyped } from './checks/problems.js';
import type {
  Configured,
  Plugin,
  PluginSpec,
  ServerContext,
  ServerMaker,
  StateOf,
} from './plugin/types.js';
import { type RawSchema, type Schema, schemaProblem } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { Tool } from './tool/types.js';

const HOOKS = ['migrate', 'setup', 'ready', 'prepare', 'dispose'] as const;
const CALL_HOOKS = ['writes', 'refuse', 'begins', 'ends'];
const FIELDS = [
  'id',
  'config',
  'state',
  'version',
  'tools',
  'factories',
  'servers',
  'calls',
  'inboxRate',
  ...HOOKS,
];

/**
 * Declares a plugin.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function definePlugin<
  Services = UntypedServices,
  State extends Schema = RawSchema,
  Config = unknown,
>(spec: PluginSpec<Services, State, Config>): Plugin<Services, StateOf<State>> {
  const problems = new ProblemList();
  const untyped: unknown = spec;
  if (isRecord(untyped)) checkPlugin(untyped, problems);
  else problems.add('', `must be an object, got ${shown(untyped)}`);
  problems.throwIfAny(isRecord(untyped) ? `plugin ${shown(untyped['id'])}` : 'a plugin');
  const { id, state, version = 1 } = spec;
  const tools = typeof spec.tools === 'function' ? spec.tools({ id }) : (spec.tools ?? []);
  checkTools(tools, problems);
  problems.throwIfAny(`plugin ${shown(id)}`);
  return Object.freeze({
    kind: 'plugin',
    id,
    version,
    ...(state === undefined ? {} : { state }),
    ...(spec.migrate === undefined ? {} : { migrate: spec.migrate }),
    ...hook('setup', spec.setup, spec.config),
    ...hook('ready', spec.ready, spec.config),
    ...hook('prepare', spec.prepare, spec.config),
    ...hook('dispose', spec.dispose, spec.config),
    ...(spec.calls === undefined ? {} : { calls: Object.freeze({ ...spec.calls }) }),
    ...(spec.inboxRate === undefined ? {} : { inboxRate: Object.freeze({ ...spec.inboxRate }) }),
    tools: Object.freeze([...tools]),
    ...factoriesOf(spec),
    ...serversOf(spec),
  } satisfies Plugin<Services, StateOf<State>>);
}

type Hook<Context> = (ctx: Context) => void | Promise<void>;

/** The function with the plugin's configuration in its context. */
function hook<Name extends string, Context>(
  name: Name,
  run: Hook<Context> | undefined,
  config: unknown,
): { readonly [Key in Name]?: Hook<object> } {
  if (run === undefined) return {};
  const own: Hook<object> = (ctx) => run({ ...ctx, config } as Context);
  return { [name]: own } as { readonly [Key in Name]: Hook<object> };
}

/** The makers of tools, with the plugin's configuration. */
function factoriesOf<Services, State extends Schema, Config>({
  factories,
  config,
}: PluginSpec<Services, State, Config>): Pick<Plugin<Services>, 'factories'> {
  if (factories === undefined) return {};
  const own = Object.entries(factories).map(
    ([name, make]): readonly [string, (args: Json) => Tool<Services>] => [
      name,
      (args) => make(args, { config } as Parameters<typeof make>[1]),
    ],
  );
  return { factories: Object.freeze(Object.fromEntries(own)) };
}

/** The makers of servers, with the plugin's configuration. */
function serversOf<Services, State extends Schema, Config>({
  servers,
  config,
}: PluginSpec<Services, State, Config>): Pick<Plugin<Services>, 'servers'> {
  if (servers === undefined) return {};
  const configured = { config } as Configured<Config>;
  const own = Object.entries(servers).map(
    ([name, { make, has }]): readonly [string, ServerMaker<Services>] => [
      name,
      Object.freeze({
        make: (args: Json) => make(args, configured),
        ...(has === undefined
          ? {}
          : {
              has: (args: Json, ctx: ServerContext<Services>) =>
                has(args, { ...ctx, ...configured }),
            }),
      }),
    ],
  );
  return { servers: Object.freeze(Object.fromEntries(own)) };
}

function checkPlugin(spec: Untyped, problems: ProblemList): void {
  checkKeys(problems, spec, { prefix: '', allowed: FIELDS });
  problems.addIf('id', idProblem('id', spec['id']));
  const { state, version, tools, factories = {} } = spec;
  if (state !== undefined) problems.addIf('state', schemaProblem(state));
  if (version !== undefined && !(Number.isSafeInteger(version) && Number(version) >= 1))
    problems.add('version', `must be a whole number from 1, got ${shown(version)}`);
  for (const name of HOOKS)
    if (spec[name] !== undefined && typeof spec[name] !== 'function')
      problems.add(name, `must be a function, got ${shown(spec[name])}`);
  checkCallHooks(spec['calls'], problems);
  checkInboxRate(spec['inboxRate'], 'inboxRate', problems);
  if (tools !== undefined && typeof tools !== 'function') checkTools(tools, problems);
  if (!isRecord(factories)) problems.add('factories', `must be an object, got ${shown(factories)}`);
  else
    for (const [name, make] of Object.entries(factories)) {
      problems.addIf(`factories.${name}`, idProblem('the name', name));
      if (typeof make !== 'function')
        problems.add(`factories.${name}`, `must be a function, got ${shown(make)}`);
    }
  checkServers(spec['servers'], factories, problems);
}

function checkServers(servers: unknown, factories: unknown, problems: ProblemList): void {
  if (servers === undefined) return;
  if (!isRecord(servers)) {
    problems.add('servers', `must be an object, got ${shown(servers)}`);
    return;
  }
  for (const [name, maker] of Object.entries(servers)) {
    const field = `servers.${name}`;
    problems.addIf(field, idProblem('the name', name));
    if (isRecord(factories) && Object.hasOwn(factories, name))
      problems.add(field, 'must have another name than each of the factories');
    if (!isRecord(maker)) {
      problems.add(field, `must be an object {make, has?}, got ${shown(maker)}`);
      continue;
    }
    checkKeys(problems, maker, { prefix: `${field}.`, allowed: ['make', 'has'] });
    if (typeof maker['make'] !== 'function')
      problems.add(`${field}.make`, `must be a function, got ${shown(maker['make'])}`);
    if (maker['has'] !== undefined && typeof maker['has'] !== 'function')
      problems.add(`${field}.has`, `must be a function, got ${shown(maker['has'])}`);
  }
}

function checkCallHooks(calls: unknown, problems: ProblemList): void {
  if (calls === undefined) return;
  if (!isRecord(calls)) {
    problems.add('calls', `must be an object, got ${shown(calls)}`);
    return;
  }
  checkKeys(problems, calls, { prefix: 'calls.', allowed: CALL_HOOKS });
  for (const [name, hook] of Object.entries(calls))
    if (hook !== undefined && typeof hook !== 'function')
      problems.add(`calls.${name}`, `must be a function, got ${shown(hook)}`);
}

/** Names are checked together with those of the agent. */
function checkTools(tools: unknown, problems: ProblemList): void {
  if (!Array.isArray(tools)) {
    problems.add(
      'tools',
      `must be a list of tools, or a function that returns one, got ${shown(tools)}`,
    );
    return;
  }
  for (const [index, tool] of (tools as readonly unknown[]).entries())
    if (!isRecord(tool) || tool['kind'] !== 'tool')
      problems.add(`tools[${index}]`, 'must come from defineTool');
}
