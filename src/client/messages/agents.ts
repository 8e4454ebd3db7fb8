/** Finds the agent of a message among those that workers published. Checked before a conversation starts. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import { ConversationError } from '../api/errors.js';
import type { AgentSource, AskedAgents } from '../ports/agents.js';

/** All known manifests. */
export async function listAgents(
  source: AgentSource,
  asked: AskedAgents = {},
): Promise<readonly AgentManifest[]> {
  const entries = typeof source === 'function' ? await source(asked) : source;
  return entries.map((entry) => ('manifest' in entry ? entry.manifest : entry));
}

type NamedAgent = Required<AskedAgents>;

/**
 * The manifest of an agent that a worker serves, or of one while there is no worker at all: its messages then wait for
 * one.
 * @throws {ConversationError} agent_not_served, since when; unknown_agent, listing the known ones.
 */
export async function findServedAgent(
  source: AgentSource,
  named: NamedAgent,
): Promise<AgentManifest> {
  const manifest = await findAgent(source, named);
  const { notServedSince } = manifest;
  if (notServedSince === undefined) return manifest;
  throw new ConversationError(
    'agent_not_served',
    `Workers are running, and none of them has served agent "${named.name}" since ${notServedSince}. Start one that does (npx colloquy worker --agents <module>), and send the message again`,
  );
}

/** @throws {ConversationError} unknown_agent, listing the known ones. */
export async function findAgent(source: AgentSource, named: NamedAgent): Promise<AgentManifest> {
  const { name } = named;
  const manifests = await listAgents(source, named);
  const found = manifests.find((manifest) => manifest.name === name);
  if (found !== undefined) return found;
  const all = await listAgents(source, { tenant: named.tenant });
  const known =
    all.length === 0
      ? 'No agent is known yet: start a worker (npx colloquy worker --agents <module>) on the same event log, or store the document of one'
      : `Known agents: ${all.map((manifest) => manifest.name).join(', ')}`;
  throw new ConversationError('unknown_agent', `No agent is named "${name}". ${known}`, {
    problems: [{ path: '/agent', message: known }],
  });
}
