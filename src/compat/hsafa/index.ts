/** Entry `colloquy/compat/hsafa`: tools and agents as JSON documents, and routes, in the form of the Hsafa gateway. */
export {
  type HsafaAgentOptions,
  type HsafaAgents,
  hsafaAgents,
  type ServerExtras,
} from './agents.js';
export type { AgentDocument, ToolDocument } from './documents.js';
export { type HsafaFile, type HsafaFileOptions, loadHsafaFile } from './files.js';
export type { Warning } from './findings.js';
export {
  type PendingStatus,
  type PendingToolCall,
  parseRunId,
  pendingToolCallOf,
  pendingToolCalls,
  runIdOf,
} from './pending.js';
export type { CallerIdentity, Identify } from './routes/callers.js';
export type { ResultsClient, ResultsConversation } from './routes/results.js';
export { type HsafaRoutesOptions, hsafaRoutes } from './routes/router.js';
export type { CallOffers } from './routes/stream.js';
export {
  type DocumentOwner,
  type HsafaToolbox,
  hsafaToolbox,
  memoryToolDocuments,
  type PutTool,
  type StoredTool,
  type ToolDocumentStore,
} from './toolbox.js';
export { type HsafaOptions, type HsafaTools, hsafaTools } from './tools.js';
