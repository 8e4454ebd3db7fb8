/** Judges a waiting call by the tool definition that this worker has. Has no effects; safe to repeat. */
import { Context } from '@temporalio/activity';
import type {
  CheckDefinitionInput,
  CheckDefinitionResult,
} from '../../protocol/calls/definitions.js';
import { checkCall } from '../../tools/definition/check.js';
import { definitionOf } from '../../tools/definition/digest.js';
import { type ActivityTools, policyDeps } from '../shared/deps.js';
import { agentOf, interruption } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { calledTool } from '../shared/listed-tools.js';
import { leaveToOthers } from '../shared/other-workers.js';

/**
 * See `checkCall`. Ends calls of a tool that no longer exists; an unknown agent is failure `unknown_agent`, retried.
 */
export async function checkDefinition(
  tools: ActivityTools,
  input: CheckDefinitionInput,
): Promise<CheckDefinitionResult> {
  const agent = agentOf(tools, input.agent);
  const { call, found } = input;
  const { name, mcp } = call;
  const context = Context.current();
  const signal = context.cancellationSignal;
  const deps = policyDeps(tools, input);
  try {
    return await withHeartbeat(async () => {
      const tool = await calledTool(tools, agent.name, { name, mcp, isNew: true });
      if ('missing' in tool) {
        leaveToOthers('The tool is not defined in this worker');
        const error = { code: tool.code ?? 'not_available', message: tool.missing } as const;
        return { outcome: 'ended', error };
      }
      if (found !== undefined && definitionOf(tool).definition !== found)
        leaveToOthers('The tool is defined in this worker as it was before it was changed');
      return await checkCall({ agent, tool, call, deps, signal });
    });
  } catch (error) {
    throw signal.aborted ? interruption(context, 'tool_lost') : error;
  }
}
