/** `initColloquy`: the `define…` functions with the types of an application's services bound in. Runs anywhere. */
import type { Executor } from '../protocol/calls/executors.js';
import type { AnswersIn } from './agent/output.js';
import { type Agent, type AgentSpec, defineAgent } from './define-agent.js';
import { definePlugin } from './define-plugin.js';
import { defineTool } from './define-tool.js';
import type { HttpToolSpec } from './http/spec.js';
import { httpTool } from './http-tool.js';
import type { McpServer } from './mcp/server.js';
import type { McpServerSpec } from './mcp/spec.js';
import { mcpServer } from './mcp-server.js';
import type { Plugin, PluginSpec, StateOf } from './plugin/types.js';
import type { RawSchema, Schema } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { AnyTool, NamedSpec, Tool, ToolOf, Unshaped } from './tool/types.js';

/** Types that an application binds once. */
export interface ColloquyTypes {
  readonly services: unknown;
}

/** The `define…` functions, with `ctx.services` typed. */
export interface Colloquy<Services> {
  // Properties, not methods, since callers destructure the object.
  readonly defineTool: <
    Input extends Schema,
    Output extends Schema = RawSchema,
    const Name extends string = string,
    const Exec extends Executor = Executor,
    Shaped = Unshaped,
  >(
    spec: NamedSpec<Services, Input, Output, { name: Name; executor: Exec; shaped: Shaped }>,
  ) => ToolOf<Services, Input, Output, { name: Name; executor: Exec; shaped: Shaped }>;
  readonly httpTool: <
    Input extends Schema,
    Output extends Schema = RawSchema,
    const Name extends string = string,
  >(
    spec: HttpToolSpec<Services, Input, Output> & { readonly name: Name },
  ) => ToolOf<Services, Input, Output, { name: Name; executor: 'server'; shaped: Unshaped }>;
  readonly defineAgent: <
    const Tools extends readonly AnyTool[] = readonly Tool<Services>[],
    Output extends Schema = Schema,
  >(
    spec: AgentSpec<Services> & { readonly tools?: Tools; readonly output?: Output },
  ) => Agent<Services, Tools> & AnswersIn<Output>;
  readonly mcpServer: (spec: McpServerSpec<Services>) => McpServer<Services>;
  readonly definePlugin: <State extends Schema = RawSchema, Config = unknown>(
    spec: PluginSpec<Services, State, Config>,
  ) => Plugin<Services, StateOf<State>>;
}

/**
 * Binds the type of the services that a worker passes to its tools; does nothing else.
 * @example
 * const { defineTool, defineAgent } = initColloquy<{ services: { payments: Payments } }>();
 */
export function initColloquy<
  Types extends ColloquyTypes = { readonly services: UntypedServices },
>(): Colloquy<Types['services']> {
  return {
    defineTool,
    httpTool,
    defineAgent: defineAgent as Colloquy<Types['services']>['defineAgent'],
    mcpServer,
    definePlugin,
  };
}
