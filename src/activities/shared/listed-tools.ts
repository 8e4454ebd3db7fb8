/** Finds tools among an agent's own, those that MCP servers list, and those that plugins make. */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Effects } from '../../protocol/calls/executors.js';
import type { CallTimeouts, MadeTool, McpToolRef } from '../../protocol/calls/plan.js';
import type { ToolErrorCode } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { PREPARE_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import type { NoTool } from '../../tools/mcp/servers.js';
import { pluginFailedText } from '../../tools/plugins/failed-text.js';
import { contextFor, PluginFailed } from '../../tools/plugins/lifecycle.js';
import { timed } from '../../tools/run/timed.js';
import {
  addedTool,
  type MadeServer,
  serverByMaker,
  serverMakerOf,
  toolByFactory,
} from '../../tools/shared/factories.js';
import { messageOf } from '../../tools/shared/message-of.js';
import type { ScopedTools } from './deps.js';
import { reasonOf, toFailure } from './failure.js';
import { withHeartbeat } from './heartbeat.js';
import { preparedStep } from './prepared.js';
import { runOf } from './transcripts.js';

/** The agent with all tools that it has now. @throws when the activity is cancelled meanwhile */
export async function withListedTools(tools: ScopedTools, agent: AnyAgent): Promise<AnyAgent> {
  if (agent.mcpServers === undefined) return agent;
  return await Promise.race([tools.mcp.equip(agent), Context.current().cancelled]);
}

/** The agent with the tools of servers that plugins have made for a model call. @throws as above */
export async function withMadeServers(
  tools: ScopedTools,
  agent: AnyAgent,
  given: { readonly servers: readonly MadeServer[]; readonly tenant: string },
): Promise<AnyAgent> {
  if (given.servers.length === 0) return agent;
  return await Promise.race([tools.mcp.equipMade(agent, given), Context.current().cancelled]);
}

type MakerOfCall = NonNullable<ReturnType<typeof serverMakerOf>> & { readonly agent: string };

interface Called extends ConversationKey {
  readonly name: string;
  readonly effects?: Effects;
  readonly timeouts?: Pick<CallTimeouts, 'answerMs'>;
  readonly mcp?: McpToolRef | undefined;
  readonly made?: MadeTool | undefined;
  /** True for the first run. */
  readonly isNew: boolean;
}

/** Why a tool is not available, as a text for the model, with the code of the error. @defaultValue not_available */
export interface MissingTool {
  readonly missing: string;
  readonly code?: Extract<ToolErrorCode, 'definition_changed'>;
}

/**
 * The tool of a call, or why it is not available, for the model.
 * @throws when the activity is cancelled meanwhile; failure `plugin_failed` when a tool cannot be made now
 */
export async function calledTool(
  tools: ScopedTools,
  agentName: string,
  call: Called,
): Promise<AnyTool | MissingTool> {
  const { registry, mcp } = tools;
  const { name, made } = call;
  if (made !== undefined) {
    const agent = registry.agent(agentName);
    const found = serverMakerOf(agent, made.ref);
    return found === undefined
      ? await madeOrMissing(tools, agentName, { ...call, made })
      : await toolOfServer(tools, { ...found, agent: agentName }, { ...call, made });
  }
  if (call.mcp === undefined)
    return registry.tool(agentName, name) ?? { missing: TEXTS.noLongerAvailable(name) };
  const agent = registry.agent(agentName);
  if (agent === undefined) return { missing: TEXTS.noLongerAvailable(name) };
  const looking = mcp.toolOf(agent, { ...call, mcp: call.mcp });
  return orMissing(await Promise.race([looking, Context.current().cancelled]), name);
}

function orMissing(tool: AnyTool | NoTool, name: string): AnyTool | MissingTool {
  if (!('missing' in tool)) return tool;
  return tool.missing === 'changed'
    ? { missing: TEXTS.changedByServer(name), code: 'definition_changed' }
    : { missing: TEXTS.noLongerAvailable(name) };
}

/** The tool of a server that a plugin has made, if the agent still has that. @throws failure `plugin_failed` */
async function toolOfServer(
  tools: ScopedTools,
  { plugin, maker, agent }: MakerOfCall,
  call: Called & { readonly made: MadeTool },
): Promise<AnyTool | MissingTool> {
  const { name, tenant, made } = call;
  const { factory = '', args = null } = made.ref;
  const signal = Context.current().cancellationSignal;
  const { services, ports, logger } = tools;
  const ctx = { ...contextFor(plugin, { services, ports, logger }), agent, tenant };
  const looking = await timed({ signal, timeoutMs: PREPARE_TIMEOUT_MS }, async () =>
    maker.has === undefined ? true : await maker.has(structuredClone(args), ctx),
  );
  if (looking.end === 'timeout' || looking.end === 'threw') {
    const reason =
      looking.end === 'threw' ? looking.error : `no end within ${PREPARE_TIMEOUT_MS} ms`;
    throw toFailure(
      new PluginFailed(pluginFailedText(plugin.id, 'servers.has', messageOf(reason))),
      'plugin_failed',
    );
  }
  const missing = { missing: TEXTS.noLongerAvailable(name) };
  if (!looking.value) return missing;
  try {
    const server = serverByMaker(plugin, factory, args);
    const tool = tools.mcp.toolOfMade(server, call);
    return orMissing(await Promise.race([tool, Context.current().cancelled]), name);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn('server not made', { plugin: plugin.id, tool: name, reason: reasonOf(error) });
    return missing;
  }
}

async function madeOrMissing(
  tools: ScopedTools,
  agentName: string,
  call: CallOfMade,
): Promise<AnyTool | MissingTool> {
  const agent = tools.registry.agent(agentName);
  const making =
    agent === undefined
      ? undefined
      : madeTool(
          tools,
          call.made.at === undefined ? agent : await withListedTools(tools, agent),
          call,
        );
  const tool = await Promise.race([making, Context.current().cancelled]);
  return tool ?? { missing: TEXTS.noLongerAvailable(call.name) };
}

/** The same for a preflight or a reconciliation, with heartbeats. */
export function toolOfCall(
  tools: ScopedTools,
  { agent, call, made, tenant, conversationId }: RunToolInput,
): Promise<AnyTool | MissingTool> {
  const about = { ...call, made, tenant, conversationId, isNew: true };
  return withHeartbeat(() => calledTool(tools, agent, about));
}

interface CallOfMade extends ConversationKey {
  readonly name: string;
  readonly made: MadeTool;
}

/**
 * The tool of a call, or undefined when this worker cannot make it.
 * @throws {ApplicationFailure} `plugin_failed` when `prepare` fails, or the states cannot be had; the reason of a
 * cancellation
 */
async function madeTool(
  tools: ScopedTools,
  agent: AnyAgent,
  { name, made: { ref, at }, tenant, conversationId }: CallOfMade,
): Promise<AnyTool | undefined> {
  const { logger } = tools;
  const call = { name, ref };
  if (ref.factory !== undefined)
    return toolByFactory(agent, call, (error) => {
      logger.warn('tool not made', { ...ref, tool: name, reason: reasonOf(error) });
    });
  if (at === undefined) return undefined;
  const known = tools.made.get(runOf(Context.current()), at, name);
  if (known !== undefined) return known;
  const prepared = await preparedStep(tools, agent, {
    ...{ tenant, conversationId, ...at },
    results: () => at.results ?? [],
    forCall: true,
  });
  return addedTool(prepared.agent, call);
}
