/** The dependencies of a test conversation. */
import type { Agent } from '../../define/define-agent.js';
import { type Logger, SILENT_LOGGER } from '../../define/tool/context.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { Model } from '../../protocol/model/model.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import type { TestConversationOptions } from './test-options.js';

export interface LocalDeps<Services> {
  /** Replaced by a deploy. */
  agent: Agent<Services>;
  /** Plays the agent's own model. */
  readonly model: Model;
  readonly services: Services;
  readonly logger: Logger;
  /** The states of plugins now. */
  states: () => PluginStates;
}

export function localDeps<Services>(
  agent: Agent<Services>,
  options: TestConversationOptions<Services>,
): LocalDeps<Services> {
  const { model = agent.model, services, logger = SILENT_LOGGER } = options;
  return { agent, model, services: services as Services, logger, states: () => ({}) };
}

/** The context of policies, from the input of the activity that runs them. */
export function policyDepsOf<Services>(
  { services, logger }: LocalDeps<Services>,
  of: Omit<PolicyDeps, 'services' | 'logger' | 'results'> & Partial<Pick<PolicyDeps, 'results'>>,
): PolicyDeps {
  const { agent, tenant, conversationId, turnId, step, requester, results = [] } = of;
  return {
    ...{ agent, tenant, conversationId, turnId, step, requester, results },
    services: services as never,
    logger,
  };
}
