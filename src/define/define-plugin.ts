/**
 * `definePlugin`: its types are settled, so that code can be written against them; the engine does not run plugins yet.
 */
import type { z } from 'zod';
import { DefinitionError } from './checks/problems.js';
import type { UntypedServices } from './tool/context.js';
import type { Tool } from './tool/types.js';

/** Spec of a plugin: state lives in the workflow, services in the worker; `prepare` runs before each model call. */
export interface PluginSpec<Services, State extends z.core.$ZodType> {
  readonly id: string;
  readonly config?: unknown;
  readonly state?: State;
  readonly setup?: (services: Services) => void | Promise<void>;
  readonly ready?: (services: Services) => void | Promise<void>;
  readonly prepare?: (step: {
    readonly state: z.output<State>;
    readonly services: Services;
  }) => unknown;
  readonly tools?: readonly Tool<Services>[];
}

/** A plugin; there are none yet. */
export interface Plugin<Services = UntypedServices> {
  readonly kind: 'plugin';
  readonly id: string;
  readonly tools: readonly Tool<Services>[];
}

/**
 * Declares a plugin.
 * @throws {DefinitionError} invalid_definition always: plugins are not yet supported, so accepting one would promise
 * that it runs.
 */
export function definePlugin<
  Services = UntypedServices,
  State extends z.core.$ZodType = z.core.$ZodType,
>(spec: PluginSpec<Services, State>): Plugin<Services> {
  throw new DefinitionError(`plugin "${spec.id}"`, [
    { field: '', rule: 'plugins are not yet supported; pass tools to defineAgent' },
  ]);
}
