/** `initColloquy`: the `define…` functions with the types of an application's services bound in. Runs anywhere. */
import type { z } from 'zod';
import { type Agent, type AgentSpec, defineAgent } from './agent.js';
import type { UntypedServices } from './context.js';
import { definePlugin, type Plugin, type PluginSpec } from './plugin.js';
import type { ParsedOf, RawSchema, Schema } from './schema.js';
import { defineTool, type Tool } from './tool.js';
import type { ToolSpec } from './tool-spec.js';

/** Types that an application binds once. */
export interface ColloquyTypes {
  readonly services: unknown;
}

/** The `define…` functions, with `ctx.services` typed. */
export interface Colloquy<Services> {
  // Properties, not methods: they are meant to be taken out of the object.
  readonly defineTool: <Input extends Schema, Output extends Schema = RawSchema>(
    spec: ToolSpec<Services, Input, Output>,
  ) => Tool<Services, ParsedOf<Input>, ParsedOf<Output>>;
  readonly defineAgent: (spec: AgentSpec<Services>) => Agent<Services>;
  readonly definePlugin: <State extends z.core.$ZodType>(
    spec: PluginSpec<Services, State>,
  ) => Plugin<Services>;
}

/**
 * Binds the type of the services that a worker will hand to its tools; does nothing else.
 * @example
 * const { defineTool, defineAgent } = initColloquy<{ services: { payments: Payments } }>();
 */
export function initColloquy<
  Types extends ColloquyTypes = { readonly services: UntypedServices },
>(): Colloquy<Types['services']> {
  return { defineTool, defineAgent, definePlugin };
}
