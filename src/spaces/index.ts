/** Entry `colloquy/spaces`: the plugin by which agents are members of spaces. Spaces: `docs/spaces.md`. */

export { spacesPlugin } from './plugin/plugin.js';
export { type AgentCaller, SPACES, type SpacesOfAgents } from './plugin/port.js';
export type { AgentState } from './plugin/state.js';
