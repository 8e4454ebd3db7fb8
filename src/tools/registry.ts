/** Agents and their tools by name, as one worker has them. Runs in the worker. */

import { DefinitionError, type DefinitionProblem } from '../define/checks/problems.js';
import type { Agent, AnyAgent } from '../define/define-agent.js';
import { manifestOf } from '../define/define-agent.js';
import type { AnyTool } from '../define/tool/types.js';
import type { AgentManifest } from '../protocol/conversation/agents.js';
import { fromWireName } from '../protocol/values/tool-names.js';

/** The agents, and those that run calls of their tools, at any depth. Each is listed once. */
export function withSubAgents<Services>(
  agents: readonly Agent<Services>[],
): readonly Agent<Services>[] {
  const found = new Set<Agent<Services>>();
  const add = (agent: Agent<Services>): void => {
    if (found.has(agent)) return;
    found.add(agent);
    for (const { subAgent, handoff } of toolsOf(agent)) {
      // The definitions of the tools have checked that these are agents.
      if (subAgent !== undefined) add(subAgent.agent as Agent<Services>);
      if (handoff !== undefined) add(handoff.agent() as Agent<Services>);
    }
  };
  for (const agent of agents) add(agent);
  return [...found];
}

/** A value that is no agent is reported later. */
function toolsOf({ tools }: Partial<Pick<AnyAgent, 'tools'>>): readonly AnyTool[] {
  return Array.isArray(tools) ? (tools as readonly AnyTool[]) : [];
}

export interface AgentRegistry {
  readonly agents: readonly AnyAgent[];
  agent(name: string): AnyAgent | undefined;
  /** Finds a tool by its own name, or by its wire name. */
  tool(agentName: string, toolName: string): AnyTool | undefined;
  /** Data for clients and the API, in the order of definition. */
  manifests(): readonly AgentManifest[];
}

/**
 * Indexes agents.
 * @throws {DefinitionError} invalid_definition when two different agents share a name, or a value is not an agent.
 */
export function createAgentRegistry(listed: readonly AnyAgent[]): AgentRegistry {
  const agents = withSubAgents(listed);
  const byName = new Map<string, { agent: AnyAgent; tools: ReadonlyMap<string, AnyTool> }>();
  const problems: DefinitionProblem[] = [];
  for (const [index, agent] of agents.entries()) {
    const field = `agents[${index}]`;
    if ((agent as { kind?: unknown } | undefined)?.kind !== 'agent') {
      problems.push({ field, rule: 'must come from defineAgent' });
      continue;
    }
    // The same definition listed twice is not a conflict.
    if ((byName.get(agent.name)?.agent ?? agent) !== agent)
      problems.push({ field, rule: `duplicate name "${agent.name}"` });
    byName.set(agent.name, { agent, tools: new Map(agent.tools.map((tool) => [tool.name, tool])) });
  }
  if (problems.length > 0) throw new DefinitionError('a list of agents', problems);
  const known = [...byName.values()].map(({ agent }) => agent);
  return {
    agents: known,
    agent: (name) => byName.get(name)?.agent,
    tool: (agentName, toolName) => {
      const tools = byName.get(agentName)?.tools;
      return tools?.get(toolName) ?? tools?.get(fromWireName(toolName));
    },
    manifests: () => known.map(manifestOf),
  };
}

/** The same agents, and one more that none of them has the name of. */
export function withAgent(registry: AgentRegistry, added: AnyAgent): AgentRegistry {
  const more = createAgentRegistry([added]);
  return {
    agents: [...registry.agents, ...more.agents],
    agent: (name) => registry.agent(name) ?? more.agent(name),
    tool: (agentName, toolName) =>
      (registry.agent(agentName) === undefined ? more : registry).tool(agentName, toolName),
    manifests: () => [...registry.manifests(), ...more.manifests()],
  };
}
