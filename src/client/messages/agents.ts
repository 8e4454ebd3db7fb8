/** The agents that may be talked to, as their workers published them. Checked before a conversation starts. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import { EngineError } from '../api/errors.js';
import type { AgentSource } from '../ports/agents.js';

/** All known manifests. */
export async function listAgents(source: AgentSource): Promise<readonly AgentManifest[]> {
  const entries = typeof source === 'function' ? await source() : source;
  return entries.map((entry) => ('manifest' in entry ? entry.manifest : entry));
}

/**
 * The agent, which somebody serves, or which has no worker at all: what is sent then waits for one.
 * @throws {EngineError} agent_not_served, since when; unknown_agent, listing the known ones.
 */
export async function findServedAgent(source: AgentSource, name: string): Promise<AgentManifest> {
  const manifest = await findAgent(source, name);
  const { notServedSince } = manifest;
  if (notServedSince === undefined) return manifest;
  throw new EngineError(
    'agent_not_served',
    `Workers are running, and none of them has served agent "${name}" since ${notServedSince}. Start one that does (npx colloquy worker --agents <module>), and send the message again`,
  );
}

/** @throws {EngineError} unknown_agent, listing the known ones. */
export async function findAgent(source: AgentSource, name: string): Promise<AgentManifest> {
  const manifests = await listAgents(source);
  const found = manifests.find((manifest) => manifest.name === name);
  if (found !== undefined) return found;
  const known =
    manifests.length === 0
      ? 'No agent is known yet: start a worker (npx colloquy worker --agents <module>) on the same event log'
      : `Known agents: ${manifests.map((manifest) => manifest.name).join(', ')}`;
  throw new EngineError('unknown_agent', `No agent is named "${name}". ${known}`, {
    problems: [{ path: '/agent', message: known }],
  });
}
