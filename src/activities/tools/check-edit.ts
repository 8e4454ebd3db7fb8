/** Checks an approver's edit of a call's input. Safe to repeat: policies change nothing. */
import type { CheckEditInput, CheckEditResult } from '../../protocol/workflow/activities.js';
import { checkEdit as check } from '../../tools/definition/edits.js';
import { type ActivityTools, withFields } from '../shared/deps.js';
import { agentOf } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { calledTool } from '../shared/listed-tools.js';
import { leaveToOthers } from '../shared/other-workers.js';

/** Ends calls of a tool that no longer exists. An unknown agent is failure `unknown_agent`, retried. */
export async function checkEdit(
  tools: ActivityTools,
  edit: CheckEditInput,
): Promise<CheckEditResult> {
  const agent = agentOf(tools, edit.agent);
  const { tenant, conversationId, turnId, step, toolCallId, requester, input, results = [] } = edit;
  const { name, mcp } = edit;
  const { services } = tools;
  const logger = withFields(tools.logger, { tenant, conversationId, turnId, toolCallId });
  const about = { agent: agent.name, tenant, conversationId, turnId, step };
  const deps = { ...about, requester, results, services, logger };
  return withHeartbeat(async () => {
    const tool = await calledTool(tools, agent.name, { name, mcp, isNew: true });
    if (!('missing' in tool)) return check({ agent, tool, toolCallId, input, deps });
    leaveToOthers('The tool is not defined in this worker');
    return { ok: false, ended: { code: tool.code ?? 'not_available', message: tool.missing } };
  });
}
