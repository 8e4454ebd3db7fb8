/** While workers are being replaced, some have a tool as it was and others as it is: a check is best made by one that knows the call. */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type { ActivityTools } from './deps.js';
import { agentOf, failureOf } from './failure.js';

/** Together somewhat more than a second: as long as somebody may be kept waiting for a verdict that another worker would give. */
const LEFT_TO_OTHERS = 3;

/** @throws failure definition_changed, retried, in the first tries of the activity: another worker may take it. */
export function leaveToOthers(message: string): void {
  if (Context.current().info.attempt <= LEFT_TO_OTHERS)
    throw failureOf('definition_changed', message, { retryable: true });
}

/** Tries of a model call that follow each other quickly; the later ones wait for a worker that has to be started. */
const QUICK_TRIES = 3;
/** With the tries that a model call has, about two minutes in all: as long as an agent may be away before messages are refused. */
const AGENT_PAUSE_MS = 20_000;

/**
 * The agent of a turn that is under way.
 * @throws failure unknown_agent, retried: in the end after about two minutes, in which a worker that serves it may come back.
 */
export function awaitedAgent(tools: ActivityTools, name: string): AnyAgent {
  const isQuick = Context.current().info.attempt <= QUICK_TRIES;
  if (isQuick || tools.registry.agent(name) !== undefined) return agentOf(tools, name);
  throw failureOf('unknown_agent', `Agent "${name}" is not defined in this worker`, {
    retryable: true,
    retryAfterMs: AGENT_PAUSE_MS,
  });
}
