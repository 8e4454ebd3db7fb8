/** The agents that a worker serves, and how it offers their calls. Runs in the worker. */
import { createHash } from 'node:crypto';
import { type AgentCatalog, type AnyAgent, manifestOf } from '../../define/define-agent.js';
import type { AnswerOffer } from '../../protocol/calls/definitions.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { offerOf } from './check.js';

/**
 * An agent as one worker serves it; `digest` covers how its tools take answers. Tools of MCP servers are left out,
 * because they do not wait for an answer.
 */
export function servedAgent(agent: AnyAgent): {
  readonly name: string;
  readonly digest: string;
  readonly offerOf: (tool: string) => AnswerOffer | undefined;
} {
  const offers = new Map(agent.tools.map((tool) => [tool.name, offerOf(tool)]));
  const definitions = [...offers].map(([name, offer]) => [name, offer?.definition]);
  // The keys of the record are sorted.
  const text = canonicalJson(Object.fromEntries(definitions));
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { name: agent.name, digest, offerOf: (tool) => offers.get(tool) };
}

/** The manifests that a worker publishes: of its agents, and of its catalog. */
export function servedManifests(
  agents: readonly AnyAgent[],
  catalog: AgentCatalog<never> | undefined,
): readonly AgentManifest[] {
  const own = agents.map((agent) => manifestOf(agent));
  return catalog === undefined
    ? own
    : [...own, { ...manifestOf(catalog.template), isCatalog: true }];
}
