/** The client's view of the agents that workers serve: interfaces only. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';

/** A manifest, or an object that has one. */
export type AgentEntry = AgentManifest | { readonly manifest: AgentManifest };

/**
 * Known agents: a fixed list, or a function that is called each time (workers publish and change them while this
 * process runs).
 */
export type AgentSource = readonly AgentEntry[] | (() => Promise<readonly AgentEntry[]>);
