/**
 * Leaves a check to other workers first: while workers are being replaced, some have the old definition of a tool and
 * others the new one, and the check is best made by a worker that knows the call.
 */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type { ActivityTools } from './deps.js';
import { agentOf, failureOf } from './failure.js';

/**
 * Attempts that are left to other workers. Together they last little more than a second: the longest that a caller may
 * wait for a verdict that another worker would give.
 */
const LEFT_TO_OTHERS = 3;

/** @throws failure definition_changed, retried, in the first attempts of the activity: another worker may take it. */
export function leaveToOthers(message: string): void {
  if (Context.current().info.attempt <= LEFT_TO_OTHERS)
    throw failureOf('definition_changed', message, { retryable: true });
}

/** Attempts of a model call that follow each other quickly; later ones wait for a worker that has to be started. */
const QUICK_TRIES = 3;
/**
 * With all attempts of a model call about two minutes: as long as an agent may be absent before messages are refused.
 */
const AGENT_PAUSE_MS = 20_000;

/**
 * Returns the agent of a running turn.
 * @throws failure unknown_agent, retried: finally after about two minutes, in which a worker that serves it may return.
 */
export function awaitedAgent(tools: ActivityTools, name: string): AnyAgent {
  const isQuick = Context.current().info.attempt <= QUICK_TRIES;
  if (isQuick || tools.registry.agent(name) !== undefined) return agentOf(tools, name);
  throw failureOf('unknown_agent', `Agent "${name}" is not defined in this worker`, {
    retryable: true,
    retryAfterMs: AGENT_PAUSE_MS,
  });
}
