/** Entry `colloquy/compat/aptix`: tools and a transport with the names of AGN-005, the tool specification of Aptix. */
export { type AgentToolDeclaration, agentToolOf } from './agent-tool.js';
export {
  type AgentToolCall,
  type AgentToolExecutionContext,
  type ErrorMessage,
  failed,
  type InvokeResult,
  succeeded,
} from './calls.js';
export {
  type AgentExecuteRequest,
  type AgentExecuteResponse,
  type AgentTransport,
  agentTransport,
  type TransportClient,
  type TransportOptions,
} from './transport.js';
