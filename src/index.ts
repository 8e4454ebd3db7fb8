/**
 * Public entry point `colloquy`: declares agents and tools. No native dependency; running them is `colloquy/worker`, talking to
 * them `colloquy/client`. Every name here is public: it changes by the rules of the changelog only.
 */
export type {
  Agent,
  AgentSettingsSpec,
  AgentSpec,
  AnyAgent,
  ContextSpec,
  SummarizeSpec,
  TurnBudgetsSpec,
} from './define/agent.js';
export { defineAgent, manifestOf } from './define/agent.js';
export type { AnswersIn, OutputOf } from './define/agent-output.js';
export { outputOf } from './define/agent-output.js';
export type { AskSpec, Declined } from './define/ask.js';
export type { AudienceSpec } from './define/audience.js';
export type { ToolFinding, ToolRule } from './define/check-tools.js';
export { checkTools } from './define/check-tools.js';
export type { AgentTimeoutsSpec } from './define/clocks.js';
export type {
  CallContext,
  Logger,
  LogLevel,
  StoredResult,
  StoredResults,
  ToolContext,
  ToolLogger,
  ToolSignal,
} from './define/context.js';
export { ToolError, toolError } from './define/context.js';
export type { Duration } from './define/durations.js';
export type {
  HttpAnswer,
  HttpFields,
  HttpHeader,
  HttpMethod,
  HttpToolSpec,
  QueryValues,
  Secret,
  SecretSource,
} from './define/http-spec.js';
export { secret } from './define/http-spec.js';
export { httpTool } from './define/http-tool.js';
export type { Colloquy, ColloquyTypes } from './define/init.js';
export { initColloquy } from './define/init.js';
export type {
  McpCaller,
  McpHttpServerSpec,
  McpMeans,
  McpServer,
  McpServerSpec,
  McpStdioServerSpec,
  McpTimeouts,
} from './define/mcp-server.js';
export { mcpServer } from './define/mcp-server.js';
export type { JsonOf, Pending } from './define/pending.js';
export { isPendingOf } from './define/pending.js';
export type { Plugin, PluginSpec } from './define/plugin.js';
export { definePlugin } from './define/plugin.js';
export type {
  ApprovalDecision,
  ApprovalPolicy,
  ApprovalRequest,
  PolicyCall,
  PolicyContext,
  ToolPolicy,
} from './define/policy.js';
export type { PriceTable } from './define/price-table.js';
export { priceTable } from './define/price-table.js';
export type { DefinitionProblem } from './define/problems.js';
export { DefinitionError } from './define/problems.js';
export type { GivenTo, ParsedOf, RawSchema, Schema } from './define/schema.js';
export { jsonSchema } from './define/schema.js';
export type { AnyTool, Tool } from './define/tool.js';
export { defineTool } from './define/tool.js';
export type { FileBytes, ToolFile, ToolFiles } from './define/tool-files.js';
export { withFiles } from './define/tool-files.js';
export { ToolRetry } from './define/tool-retry.js';
export type {
  Approval,
  ClientToolSpec,
  ExternalToolSpec,
  HumanToolSpec,
  InternalToolSpec,
  OnExpire,
  ProviderToolSpec,
  Reconciled,
  ServerToolSpec,
  ToolSpec,
  ToolTimeouts,
} from './define/tool-spec.js';
export { ModelFailure } from './model/failure.js';
export type { OpenAIApi, OpenAIModelOptions } from './model/openai.js';
export { openaiModel } from './model/openai.js';
export type { Actor, StampedActor } from './protocol/actors.js';
export type { BlobRef, BlobType } from './protocol/blobs.js';
export type { ModelContext, Retention } from './protocol/context.js';
export type { AgentManifest, TurnResult } from './protocol/conversation.js';
export type { CanonicalEvent } from './protocol/events.js';
export type { Json, JsonSchema } from './protocol/json.js';
export type { LiveEvent } from './protocol/live-events.js';
export type { StreamedAnswer, StreamedCall } from './protocol/live-view.js';
export { LiveView } from './protocol/live-view.js';
export type { ToolAnnotations } from './protocol/mcp.js';
export type {
  EarlierResult,
  FilePart,
  FileSource,
  ImagePart,
  Message,
  TextSource,
} from './protocol/messages.js';
export type {
  FunctionTool,
  HostedTool,
  Model,
  ModelCaller,
  ModelFiles,
  ModelOutput,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
  ProviderCall,
  ProviderTool,
} from './protocol/model.js';
export type { Resolution, Verdict } from './protocol/resolutions.js';
export type { PendingCall } from './protocol/suspensions.js';
export type { Audience, Effects, Executor, ToolResultEnvelope } from './protocol/tools.js';
export { readResults } from './tools/read-results.js';
