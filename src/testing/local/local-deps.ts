/** The dependencies of a test conversation. */
import type { Agent, AnyAgent } from '../../define/define-agent.js';
import type { SecretResolver } from '../../define/services/secrets.js';
import { type Logger, SILENT_LOGGER } from '../../define/tool/context.js';
import type { PortValues } from '../../define/tool/ports.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { MadeTool } from '../../protocol/calls/plan.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { Model } from '../../protocol/model/model.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { prepareAgent } from '../../tools/plugins/prepare.js';
import { withSubAgents } from '../../tools/registry.js';
import { Scopes } from '../../tools/scope/scopes.js';
import { addedTool, toolByFactory } from '../../tools/shared/factories.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import type { ChildDriver, LocalChildren } from './local-children.js';
import { LocalTriggers, type TriggerHost } from './local-triggers.js';
import type { TestConversationOptions } from './test-options.js';

export interface LocalDeps<Services> {
  /** Replaced by a deploy. */
  agent: Agent<Services>;
  /** Plays the model of the agent that the conversation began with, also after a deploy. */
  readonly model: Model;
  readonly services: Services;
  readonly scopes: Scopes;
  readonly ports: PortValues;
  readonly logger: Logger;
  /** The states of plugins now. */
  states: () => PluginStates;
  /** Set once there is a machine. */
  children?: Pick<LocalChildren<Services, ChildDriver>, 'start' | 'stop'>;
  /** Tools that plugins have added to model calls, the newest by name. */
  readonly added: Map<string, AnyTool>;
  readonly triggers: LocalTriggers;
  /** Absent: the tools run. */
  readonly recorded: TestConversationOptions<Services>['recorded'];
}

/** The agent of this name: the one that the conversation began with, or one that its tools name. */
export function agentNamed<Services>(
  { agent }: LocalDeps<Services>,
  name: string,
): Agent<Services> {
  return withSubAgents([agent]).find((each) => each.name === name) ?? agent;
}

/** The model of an agent, or the one that plays it. */
export function modelOf<Services>({ agent, model }: LocalDeps<Services>, named: AnyAgent): Model {
  return named.name === agent.name ? model : named.model;
}

/** The tool of a call: the agent's own, or one that a plugin has made. Undefined where this agent has none. */
export async function localTool<Services>(
  local: LocalDeps<Services>,
  {
    agent: agentName,
    name,
    made,
    tenant,
    conversationId,
  }: ConversationKey & {
    readonly agent: string;
    readonly name: string;
    readonly made?: MadeTool | undefined;
  },
): Promise<AnyTool | undefined> {
  const { services, logger, states, added, ports } = local;
  const agent = agentNamed(local, agentName);
  if (made === undefined) return agent.tools.find((tool) => tool.name === name);
  const { ref, at } = made;
  if (at === undefined) return toolByFactory(agent, { name, ref });
  const known = added.get(name);
  if (known !== undefined) return known;
  const { turnId, step, requester, results = [] } = at;
  const prepared = await prepareAgent({
    ...{ agent, tenant, conversationId, turnId, step, requester, logger, ports },
    results: () => results,
    services: services as never,
    states: states(),
    signal: new AbortController().signal,
    forCall: true,
  });
  return addedTool(prepared.agent, { name, ref });
}

export function localDeps<Services>(
  agent: Agent<Services>,
  options: TestConversationOptions<Services>,
  host: Omit<TriggerHost, 'idleCloseMs'>,
): LocalDeps<Services> {
  const { model = agent.model, services, secrets = {}, logger = SILENT_LOGGER } = options;
  const { ports = {} } = options;
  const find = typeof secrets === 'function' ? secrets : ofRecord(secrets);
  const { idleCloseMs } = agent.settings;
  return {
    agent,
    model,
    services: services as Services,
    scopes: new Scopes({ services, secrets: find, logger }),
    logger,
    ports,
    states: () => ({}),
    added: new Map(),
    triggers: new LocalTriggers({ ...host, idleCloseMs: () => idleCloseMs }),
    recorded: options.recorded,
  };
}

function ofRecord(secrets: Readonly<Record<string, string>>): SecretResolver {
  return ({ name }) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined);
}

/** The context of policies, from the input of the activity that runs them. */
export function policyDepsOf<Services>(
  local: LocalDeps<Services>,
  of: Omit<PolicyDeps, 'services' | 'logger' | 'results' | 'states'> &
    Partial<Pick<PolicyDeps, 'results'>>,
  states = local.states(),
): PolicyDeps {
  const { services, logger } = local;
  const { agent, tenant, conversationId, turnId, step, requester, results = [] } = of;
  return {
    ...{ agent, tenant, conversationId, turnId, step, requester, results },
    states,
    services: services as never,
    logger,
  };
}
