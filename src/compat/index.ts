/**
 * Entry `colloquy/compat`: tools and plugins in the shape of agentic-core's documentation, as definitions of this engine.
 * Agents that have them set `settings: {toolExecution: 'sequential'}`: there, calls of one answer run one after the other.
 */
export {
  type Completion,
  type CompletionEvent,
  type CompletionOutput,
  completionEvents,
  completionOf,
} from './completion.js';
export { createPlugin, type PluginDeclaration, type PrepareInput } from './plugins.js';
export {
  type ApprovalRequest,
  createTool,
  type RequireApproval,
  type State,
  type ToolDeclaration,
  type ToolInput,
} from './tools.js';
