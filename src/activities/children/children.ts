/** Activities on the conversations of sub-agents. Safe to repeat: a conversation is started and reported once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ownStep } from '../../protocol/conversation/children.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type {
  ReportToParentInput,
  ReportToParentResult,
  StartChildInput,
  StartChildResult,
  StopChildInput,
  StopChildResult,
} from '../../protocol/workflow/activities.js';
import { boundedManifest, firstMessage, notStarted } from '../../tools/run/sub-agent.js';
import type { ActivityTools, ChildConversations, ScopedTools } from '../shared/deps.js';
import { agentOf, failureOf, reasonOf } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { calledTool } from '../shared/listed-tools.js';

/** Longest wait for the store. */
const FLUSH_MS = 2_000;

/**
 * A tool that is gone, or whose message cannot be made, is an error of the call. An unknown agent is failure
 * `unknown_agent`, retried; so is everything of Temporal.
 */
export async function startChild(
  tools: ScopedTools,
  input: StartChildInput,
): Promise<StartChildResult> {
  const { tenant, childId, childAgent, name, unwanted, parent, granted } = input;
  if (unwanted === true) return notStarted({ code: 'cancelled', message: TEXTS.cancelled });
  agentOf(tools, input.agent);
  const manifest = boundedManifest(agentOf(tools, childAgent), granted);
  return await withHeartbeat(async () => {
    const tool = await calledTool(tools, input.agent, { ...input, isNew: true });
    if ('missing' in tool) return notStarted({ code: 'not_available', message: tool.missing });
    const message = firstMessage(tool, input);
    if ('refused' in message) return message.refused;
    const key = { tenant, conversationId: childId };
    await childrenOf(tools).start({ key, manifest, input: message.input, parent });
    tools.logger.info('sub-agent started', { ...key, agent: childAgent, tool: name });
    return { started: true };
  });
}

export async function stopChild(
  tools: ActivityTools,
  { tenant, childId }: StopChildInput,
): Promise<StopChildResult> {
  const key = { tenant, conversationId: childId };
  return { running: await withHeartbeat(() => childrenOf(tools).close(key)) };
}

/** A store that is away does not hold up the report: the log is completed later. */
export async function reportToParent(
  tools: ActivityTools,
  { tenant, conversationId, throughSeq, parent, end }: ReportToParentInput,
): Promise<ReportToParentResult> {
  const { conversationId: parentId, toolCallId } = ownStep(parent);
  const key = { tenant, conversationId: parentId };
  const report = { toolCallId, childId: conversationId, end };
  return await withHeartbeat(async () => {
    const flushing = tools.flush({ tenant, conversationId }, throughSeq).catch((error: unknown) => {
      tools.logger.warn('log not flushed', { tenant, conversationId, reason: reasonOf(error) });
    });
    await Promise.race([flushing, sleep(FLUSH_MS, undefined, { ref: false })]);
    return { delivered: await childrenOf(tools).report(key, report) };
  });
}

function childrenOf({ children }: ActivityTools): ChildConversations {
  if (children === undefined)
    throw failureOf('internal', 'this worker cannot start conversations', { retryable: true });
  return children;
}
