/** Entry `colloquy/compat/hsafa`: tools and agents as JSON documents, and routes, in the form of the Hsafa gateway. */
export {
  type HsafaAgentDocuments,
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  type PutAgent,
  type TenantOf,
} from './documents/agent-documents.js';
export {
  type AgentDocumentStore,
  keptAgentDocuments,
  memoryAgentDocuments,
  type StoredAgent,
} from './documents/agent-store.js';
export {
  type HsafaAgentOptions,
  type HsafaAgents,
  hsafaAgents,
  type ServerExtras,
} from './documents/agents.js';
export type { DocumentBox, PutDocument } from './documents/box.js';
export { type HsafaFile, type HsafaFileOptions, loadHsafaFile } from './documents/files.js';
export type { Warning } from './documents/findings.js';
export type { AgentDocument, ServerDocument, ToolDocument } from './documents/forms.js';
export {
  type HsafaServerOptions,
  type HsafaServers,
  hsafaServerPlugin,
  hsafaServers,
} from './documents/servers.js';
export {
  type DocumentOwner,
  keptServerDocuments,
  keptToolDocuments,
  memoryServerDocuments,
  memoryToolDocuments,
  type ServerDocumentStore,
  type StoredServer,
  type StoredTool,
  type ToolDocumentStore,
} from './documents/stores.js';
export {
  type HsafaToolbox,
  hsafaToolbox,
  hsafaToolPlugin,
} from './documents/toolbox.js';
export { type HsafaOptions, type HsafaTools, hsafaTools } from './documents/tools.js';
export type { CallerIdentity, Identify } from './routes/callers.js';
export {
  type PendingStatus,
  type PendingToolCall,
  parseRunId,
  pendingToolCallOf,
  pendingToolCalls,
  runIdOf,
} from './routes/pending.js';
export type { CallSpaces, ResultsClient, ResultsConversation } from './routes/results.js';
export { type HsafaClient, type HsafaRoutesOptions, hsafaRoutes } from './routes/router.js';
export type { RunConversation, RunsClient } from './routes/runs.js';
export type { CallOffers } from './routes/stream.js';
export type { TriggerClient, TriggerConversation } from './routes/trigger.js';
