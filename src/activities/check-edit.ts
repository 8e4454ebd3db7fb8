/** Checks an approver's edit of a call's input. Safe to repeat: policies change nothing. */
import type { CheckEditInput, CheckEditResult } from '../protocol/activities.js';
import { TEXTS } from '../protocol/texts.js';
import { checkEdit as check } from '../tools/edits.js';
import { type ActivityTools, withFields } from './deps.js';
import { agentOf } from './failure.js';
import { withHeartbeat } from './heartbeat.js';

/** Refuses edits for a tool that is gone. An unknown agent is failure `unknown_agent`, retried. */
export async function checkEdit(
  tools: ActivityTools,
  edit: CheckEditInput,
): Promise<CheckEditResult> {
  const agent = agentOf(tools, edit.agent);
  const tool = tools.registry.tool(agent.name, edit.name);
  const { tenant, conversationId, turnId, step, toolCallId, requester, input, results = [] } = edit;
  if (tool === undefined) {
    const message = TEXTS.noLongerAvailable(edit.name);
    return { ok: false, problems: [{ path: '/resolution/input', message }] };
  }
  const { services } = tools;
  const logger = withFields(tools.logger, { tenant, conversationId, turnId, toolCallId });
  const about = { agent: agent.name, tenant, conversationId, turnId, step };
  const means = { ...about, requester, results, services, logger };
  return withHeartbeat(() => check({ agent, tool, toolCallId, input, means }));
}
