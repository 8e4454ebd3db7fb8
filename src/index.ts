/**
 * Public entry point `colloquy`: declares agents and tools. No native dependency; running them is `colloquy/worker`, talking to
 * them `colloquy/client`. Every name here is public: it changes by the rules of the changelog only.
 */

export type { ContextSpec, SummarizeSpec } from './define/agent/context.js';
export type { AnswersIn, OutputOf } from './define/agent/output.js';
export { outputOf } from './define/agent/output.js';
export type { PriceTable } from './define/agent/prices.js';
export { priceTable } from './define/agent/prices.js';
export type { AgentSettingsSpec, TurnBudgetsSpec } from './define/agent/settings.js';
export type { ToolFinding, ToolRule } from './define/check-tools.js';
export { checkTools } from './define/check-tools.js';
export type { AudienceSpec } from './define/checks/audience.js';
export type { DefinitionProblem } from './define/checks/problems.js';
export { DefinitionError } from './define/checks/problems.js';
export type { Agent, AgentSpec, AnyAgent } from './define/define-agent.js';
export { defineAgent, manifestOf } from './define/define-agent.js';
export { defineTool } from './define/define-tool.js';
export type { HttpAnswer, HttpFields, HttpToolSpec, QueryValues } from './define/http/spec.js';
export { httpTool } from './define/http-tool.js';
export type { Colloquy, ColloquyTypes } from './define/init.js';
export { initColloquy } from './define/init.js';
export type {
  McpCaller,
  McpDeps,
  McpHttpServerSpec,
  McpServerSpec,
  McpStdioServerSpec,
  McpTimeouts,
} from './define/mcp/spec.js';
export type { McpServer } from './define/mcp-server.js';
export { mcpServer } from './define/mcp-server.js';
export type { GivenTo, ParsedOf, RawSchema, Schema } from './define/schemas/schema.js';
export { jsonSchema } from './define/schemas/schema.js';
export type { AskSpec, Declined } from './define/tool/ask.js';
export type {
  CallContext,
  Logger,
  LogLevel,
  StoredResult,
  StoredResults,
  ToolContext,
  ToolLogger,
  ToolSignal,
} from './define/tool/context.js';
export { ToolError, toolError } from './define/tool/context.js';
export type { FileBytes, ToolFile, ToolFiles } from './define/tool/files.js';
export { withFiles } from './define/tool/files.js';
export type { HttpHeader, HttpMethod, Secret, SecretSource } from './define/tool/http-plan.js';
export { secret } from './define/tool/http-plan.js';
export type { Pending } from './define/tool/pending.js';
export { isPendingOf } from './define/tool/pending.js';
export type {
  ApprovalDecision,
  ApprovalPolicy,
  ApprovalRequest,
  PolicyCall,
  PolicyContext,
  ToolPolicy,
} from './define/tool/policy.js';
export { ToolRetry } from './define/tool/retry.js';
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
} from './define/tool/spec.js';
export type { AnyTool, Tool } from './define/tool/types.js';
export type { AgentTimeoutsSpec } from './define/tool-rules/timeouts.js';
export type { OpenAIApi, OpenAIModelOptions } from './model/openai/adapter.js';
export { openaiModel } from './model/openai/adapter.js';
export { ModelFailure } from './model/shared/failure.js';
export type { Effects, Executor } from './protocol/calls/executors.js';
export type { ToolAnnotations } from './protocol/calls/plan.js';
export type { Resolution, Verdict } from './protocol/calls/resolutions.js';
export type { EarlierResult, ToolResultEnvelope } from './protocol/calls/results.js';
export type { PendingCall } from './protocol/calls/suspensions.js';
export type { AgentManifest } from './protocol/conversation/agents.js';
export type { ModelContext, Retention } from './protocol/conversation/context.js';
export type { TurnResult } from './protocol/conversation/conversation.js';
export type { Message, TextSource } from './protocol/conversation/messages.js';
export type { CanonicalEvent } from './protocol/log/events.js';
export type { LiveEvent } from './protocol/log/live-events.js';
export type { StreamedAnswer, StreamedCall } from './protocol/log/live-view.js';
export { LiveView } from './protocol/log/live-view.js';
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
} from './protocol/model/model.js';
export type { Actor, StampedActor } from './protocol/values/actors.js';
export type { FilePart, FileSource, ImagePart } from './protocol/values/attachments.js';
export type { Audience } from './protocol/values/audience.js';
export type { BlobRef, BlobType } from './protocol/values/blobs.js';
export type { Duration } from './protocol/values/durations.js';
export type { Json, JsonOf, JsonSchema } from './protocol/values/json.js';
export { readResults } from './tools/results/read-results.js';
