/** The part of an agent's definition that its model calls begin with, as workers keep it beside the event log. */
import type { ModelRequest, ModelTool } from './model.js';

/** Equal for all requests by one definition, but for parts that plugins and MCP servers change. */
export interface ModelDefinition extends Pick<ModelRequest, 'system' | 'output' | 'bareResults'> {
  /** The agent's own and those of its plugins, without the configuration of provider tools. */
  readonly tools: readonly ModelTool[];
  /** A plugin of the agent may add text to each request. Absent: none does. */
  readonly prepares?: true;
}

/** Names a definition: agents in code are the same for all tenants, agents that are documents belong to one. */
export interface DefinitionKey {
  /** Absent: the agent is in code. */
  readonly tenant?: string;
  readonly agent: string;
  readonly digest: string;
}

/** Keeps a definition in the background. Safe to repeat; never throws. */
export type KeepDefinition = (key: DefinitionKey, definition: ModelDefinition) => void;
