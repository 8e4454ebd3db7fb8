/** The client's view of the agents that workers serve: interfaces only. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';

/** A manifest, or an object that has one. */
export type AgentEntry = AgentManifest | { readonly manifest: AgentManifest };

/** The agents that are asked for. */
export interface AskedAgents {
  /** Agents that are documents belong to tenants. Absent: those of all tenants alone. */
  readonly tenant?: string;
  /** Documents of other names need not be read. Absent: all. */
  readonly name?: string;
}

/**
 * Known agents: a fixed list, or a function that is called each time (workers publish and change them while this
 * process runs).
 */
export type AgentSource =
  | readonly AgentEntry[]
  | ((asked?: AskedAgents) => Promise<readonly AgentEntry[]>);
