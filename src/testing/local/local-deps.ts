/** The dependencies of a test conversation, and its requesters. */
import { turnResults } from '../../core/context/turn-results.js';
import type { CallState, ConversationState } from '../../core/state/state.js';
import type { Agent } from '../../define/define-agent.js';
import type { Logger } from '../../define/tool/context.js';
import type { Model } from '../../protocol/model/model.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import type { TestConversationOptions } from './test-options.js';

const QUIET: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface LocalDeps<Services> {
  /** Replaced by a deploy. */
  agent: Agent<Services>;
  /** Plays the agent's own model. */
  readonly model: Model;
  readonly services: Services;
  readonly logger: Logger;
}

export function localDeps<Services>(
  agent: Agent<Services>,
  options: TestConversationOptions<Services>,
): LocalDeps<Services> {
  const { model = agent.model, services, logger = QUIET } = options;
  return { agent, model, services: services as Services, logger };
}

/** The context of policies for a call, or for the running model call. */
export function policyDepsOf<Services>(
  { services, logger }: LocalDeps<Services>,
  state: ConversationState,
  of: Pick<CallState, 'turnId' | 'step' | 'asker'>,
): PolicyDeps {
  const { agent, tenant, conversationId } = state;
  const { turnId, step } = of;
  return {
    agent,
    tenant,
    conversationId,
    turnId,
    step,
    requester: requesterOf(state, of),
    results: turnResults(state, turnId),
    services: services as never,
    logger,
  };
}

/** The requester of a call; a detached call may have outlived its turn. */
export function requesterOf(
  { turn }: ConversationState,
  { asker }: Pick<CallState, 'asker'>,
): StampedActor {
  const nobody = { id: 'unknown', verified: false, channel: 'system' } as const;
  return asker?.requester ?? turn?.requester ?? nobody;
}
