/**
 * Public entry point `colloquy`: declares agents and tools. No native dependency. Other entry points run them
 * (`colloquy/worker`), use conversations (`colloquy/client`), open both at once (`colloquy/engine`), and have the types
 * of a model of your own (`colloquy/model`). Every name here is public: it changes by the rules of the changelog only.
 */

// Agents: their declaration, the check of their tools, and the type of their answers.

export type { ContextSpec } from './define/agent/context.js';
export { type AnswersIn, type OutputOf, outputOf } from './define/agent/output.js';
export type { AgentSettingsSpec } from './define/agent/settings.js';
export { checkTools, type ToolFinding } from './define/check-tools.js';
export { DefinitionError } from './define/checks/problems.js';
export {
  type Agent,
  type AgentCatalog,
  type AgentSpec,
  type AnyAgent,
  defineAgent,
  manifestOf,
  UnreadableAgent,
} from './define/define-agent.js';
export { type Colloquy, type ColloquyTypes, initColloquy } from './define/init.js';
export type { AgentManifest } from './protocol/conversation/agents.js';

// Models that agents call: OpenAI and servers with its protocol, and prices. Others: `colloquy/ai-sdk`, `colloquy/model`.

export { type PriceTable, priceTable } from './define/agent/prices.js';
export { type OpenAIModelOptions, openaiModel } from './model/openai/adapter.js';
export type { Model } from './protocol/model/model.js';

// Plugins: tools with a state that the conversation keeps, and code that runs before each model call.

export { definePlugin } from './define/define-plugin.js';
export type {
  CallHooks,
  CallWriter,
  SeenCall,
  SeenEnd,
  WrittenPiece,
  WrittenStep,
} from './define/plugin/call-hooks.js';
export type { AnyPlugin, Plugin, PluginSpec, PrepareContext } from './define/plugin/types.js';
export type { Port } from './define/tool/ports.js';
export type { StateAccess } from './define/tool/state-access.js';
export type { StateChange } from './protocol/calls/plugin-state.js';

// Sets of tools and instructions, as plugins: those that the model activates, and those of which one counts.

export { type ModeSpec, type Modes, type ModesSpec, modes } from './define/modes.js';
export { defineSkill, type Skill, type SkillSpec, skills } from './define/skills.js';

// Services: an optional container for the dependencies of tools and plugins; secrets and connections by tenant and user.

export {
  createServices,
  type Provider,
  provide,
  type ServiceClass,
  ServiceError,
  type ServiceKey,
  type ServiceName,
  Services,
  serviceName,
} from './define/services/container.js';
export {
  type PerTenantOptions,
  perTenant,
  type TenantServices,
} from './define/services/per-tenant.js';
export {
  type Connection,
  type ConnectionOwner,
  type ConnectionSpec,
  defineConnection,
  type SecretRequest,
  type SecretResolver,
  type SecretUser,
} from './define/services/secrets.js';

// Tools: their declarations, and the waiting calls of an agent in their types.

export type { AudienceSpec } from './define/checks/audience.js';
export { defineTool } from './define/define-tool.js';
export type { HttpToolSpec } from './define/http/spec.js';
export { httpTool } from './define/http-tool.js';
export type { McpServer } from './define/mcp/server.js';
export type { McpServerSpec } from './define/mcp/spec.js';
export { mcpServer } from './define/mcp-server.js';
export { type Secret, secret } from './define/tool/http-plan.js';
export { isPendingOf, type Pending } from './define/tool/pending.js';
export type { ToolSpec } from './define/tool/spec.js';
// `NamedSpec`, `ToolOf`, `ToolTraits` and `Unshaped` stand in the declarations of exported tools.
export type {
  AnyTool,
  NamedSpec,
  Tool,
  ToolOf,
  ToolTraits,
  Unshaped,
} from './define/tool/types.js';
export type { Effects, Executor } from './protocol/calls/executors.js';
export { readResults } from './tools/results/read-results.js';

// Triggers: tools with which an agent sets the times of its own events, and the triggers that tools and clients see.

export { type TriggerToolsSpec, triggerTools } from './define/trigger-tools.js';
export type {
  Trigger,
  TriggerSchedule,
  TriggerSpec,
  Triggers,
} from './protocol/triggers/triggers.js';

// The code of a tool: its context, and the results that it may return or throw.

export type { AskSpec } from './define/tool/ask.js';
export {
  type CallContext,
  type Logger,
  type ToolContext,
  ToolError,
  toolError,
} from './define/tool/context.js';
export { type ToolFiles, withFiles } from './define/tool/files.js';
export { ToolRetry } from './define/tool/retry.js';

// Decisions over calls: which of them a person must approve.

export type {
  ApprovalDecision,
  ApprovalPolicy,
  PolicyCall,
  PolicyContext,
  ToolPolicy,
} from './define/tool/policy.js';

// Several agents: tools whose calls another agent runs, and tools that pass the conversation on.

// `SubAgentTask` and `HandoffNote` stand in the declarations of exported tools.
export { type AgentToolSpec, agentTool, type SubAgentTask } from './define/agent-tool.js';
export { type HandoffNote, type HandoffToolSpec, handoffTool } from './define/handoff-tool.js';

// Schemas and values.

export {
  jsonSchema,
  type ParsedOf,
  type RawSchema,
  type Schema,
} from './define/schemas/schema.js';
export type { StampedActor } from './protocol/values/actors.js';
export type { Duration } from './protocol/values/durations.js';
export type { Json, JsonOf, JsonSchema } from './protocol/values/json.js';
