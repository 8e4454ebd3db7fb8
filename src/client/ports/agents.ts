/** What a client needs to know of the agents that workers serve: interfaces only. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';

/** A manifest, or anything that carries one. */
export type AgentEntry = AgentManifest | { readonly manifest: AgentManifest };

/** Known agents: fixed, or asked for each time (workers publish and change them while this process runs). */
export type AgentSource = readonly AgentEntry[] | (() => Promise<readonly AgentEntry[]>);
