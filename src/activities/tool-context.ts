/** What a tool's code is handed, from the input of the activity that runs it. */
import type { ToolContext } from '../define/context.js';
import type { RunToolInput } from '../protocol/activities.js';
import { toolLogger } from '../tools/tool-logger.js';
import { type ActivityTools, withFields } from './deps.js';

export function contextOf(
  tools: ActivityTools,
  input: RunToolInput,
  run: Pick<ToolContext, 'attempt' | 'progress'>,
): Omit<ToolContext<never>, 'signal'> {
  const { agent, tenant, conversationId, turnId, step, call, idempotencyKey } = input;
  const { toolCallId, name } = call;
  const { requester, approver } = input;
  const fields = { tenant, conversationId, turnId, toolCallId, tool: name };
  const logger = withFields(tools.logger, fields);
  return {
    agent,
    tenant,
    conversationId,
    turnId,
    step,
    toolCallId,
    idempotencyKey,
    requester,
    ...(approver === undefined ? {} : { approver }),
    ...run,
    services: tools.services,
    logger: toolLogger(logger, name, { conversationId, turnId, toolCallId }),
  };
}
