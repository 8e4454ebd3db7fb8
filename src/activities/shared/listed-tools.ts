/** Finds tools among an agent's own and those that MCP servers list. */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Effects } from '../../protocol/calls/executors.js';
import type { CallTimeouts, McpToolRef } from '../../protocol/calls/plan.js';
import type { ToolErrorCode } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ActivityTools } from './deps.js';

/** The agent with all tools that it has now. @throws when the activity is cancelled meanwhile */
export async function withListedTools(tools: ActivityTools, agent: AnyAgent): Promise<AnyAgent> {
  if (agent.mcpServers === undefined) return agent;
  return await Promise.race([tools.mcp.equip(agent), Context.current().cancelled]);
}

interface Called {
  readonly name: string;
  readonly effects?: Effects;
  readonly timeouts?: Pick<CallTimeouts, 'answerMs'>;
  readonly mcp?: McpToolRef | undefined;
  /** True for the first run. */
  readonly isNew: boolean;
}

/** Why a tool is not available, as a text for the model, with the code of the error. @defaultValue not_available */
export interface MissingTool {
  readonly missing: string;
  readonly code?: Extract<ToolErrorCode, 'definition_changed'>;
}

/** The tool of a call, or why it is not available, for the model. @throws when the activity is cancelled meanwhile */
export async function calledTool(
  { registry, mcp }: ActivityTools,
  agentName: string,
  call: Called,
): Promise<AnyTool | MissingTool> {
  const { name } = call;
  if (call.mcp === undefined)
    return registry.tool(agentName, name) ?? { missing: TEXTS.noLongerAvailable(name) };
  const agent = registry.agent(agentName);
  if (agent === undefined) return { missing: TEXTS.noLongerAvailable(name) };
  const looking = mcp.toolOf(agent, { ...call, mcp: call.mcp });
  const tool = await Promise.race([looking, Context.current().cancelled]);
  if (!('missing' in tool)) return tool;
  return tool.missing === 'changed'
    ? { missing: TEXTS.changedByServer(name), code: 'definition_changed' }
    : { missing: TEXTS.noLongerAvailable(name) };
}
