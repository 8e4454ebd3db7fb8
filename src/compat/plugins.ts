/** `createPlugin`: a plugin whose `prepare` pushes tools. Runs anywhere. */
import { definePlugin } from '../define/define-plugin.js';
import type { Plugin, StateOf } from '../define/plugin/types.js';
import type { Schema } from '../define/schemas/schema.js';
import type { Services } from '../define/services/container.js';
import type { Tool } from '../define/tool/types.js';
import type { State } from './tools.js';

export interface PrepareInput {
  readonly tools: {
    /** Adds tools to the model call that follows; see `tools.add` of `prepare` for their calls on other workers. */
    push(...tools: readonly Tool<Services>[]): void;
  };
  readonly state: State;
  readonly services: Services;
}

export interface PluginDeclaration<StateSchema extends Schema> {
  readonly id: string;
  readonly state: StateSchema;
  /** Runs before each model call. */
  readonly prepare?: (given: PrepareInput) => void | Promise<void>;
  /** Tools that every model call has. */
  readonly tools?: readonly Tool<Services>[];
}

/** Declares a plugin. @throws {DefinitionError} invalid_definition */
export function createPlugin<StateSchema extends Schema>(
  declared: PluginDeclaration<StateSchema>,
): Plugin<Services, StateOf<StateSchema>> {
  const { id, state, prepare, tools = [] } = declared;
  return definePlugin<Services, StateSchema>({
    ...{ id, state, tools },
    ...(prepare === undefined
      ? {}
      : {
          prepare: ({ tools: known, state: states, services }) =>
            prepare({
              tools: {
                push: (...added) => {
                  for (const tool of added) known.add(tool);
                },
              },
              state: states,
              services,
            }),
        }),
  });
}
