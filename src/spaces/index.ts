/** Entry `colloquy/spaces`: the plugin by which agents are members of spaces. Spaces: `docs/spaces.md`. */

export type {
  AgentMemory,
  MemoryOf,
  MemoryOptions,
  NoteName,
  NotingAgent,
} from './plugin/memory.js';
export { type SpacesPluginOptions, spacesPlugin } from './plugin/plugin.js';
export { type AgentCaller, SPACES, type SpacesOfAgents } from './plugin/port.js';
export type { AgentState, Notes } from './plugin/state.js';
