/** Passes the arguments that a model writes to the plugins of its agent. Runs in the worker. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { CallHookContext, CallWriter, WrittenStep } from '../../define/plugin/call-hooks.js';
import type { Logger } from '../../define/tool/context.js';
import { type PortValues, portAccess } from '../../define/tool/ports.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { ToolArgumentsDelta } from '../../protocol/log/live-events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { messageOf } from '../shared/message-of.js';
import { StateView } from '../shared/state-view.js';
import { withFields } from '../shared/tool-logger.js';
import { calledTool } from './call-hooks.js';

interface Writing {
  /** With the tools of this step. */
  readonly agent: AnyAgent;
  /** At the step's begin, with the changes of `prepare`. */
  readonly states: PluginStates;
  readonly step: WrittenStep;
  readonly key: ConversationKey;
  readonly services: never;
  readonly ports: PortValues | undefined;
  readonly logger: Logger;
}

interface Writer {
  readonly id: string;
  readonly writer: CallWriter;
}

/** One attempt of a model call, as plugins see what it writes. No method throws: a plugin that fails sees no more of it. */
export class CallWriters {
  readonly #writing: Writing;
  readonly #names = new Map<number, string>();
  #writers: readonly Writer[];

  constructor(writing: Writing) {
    this.#writing = writing;
    const { agent, states, step } = writing;
    const { plugins = [] } = agent;
    const view = new StateView(plugins, states);
    this.#writers = plugins.flatMap(({ id, calls }) => {
      const { writes } = calls ?? {};
      if (writes === undefined) return [];
      const writer = this.#safely(id, () => writes(step, this.#contextOf(id, view)));
      return writer === undefined ? [] : [{ id, writer }];
    });
  }

  get isEmpty(): boolean {
    return this.#writers.length === 0;
  }

  /** Pieces of tools that the agent does not have are left out. */
  piece({ index, name, toolCallId, offset, text }: ToolArgumentsDelta): void {
    const known = name ?? this.#names.get(index);
    const tool = this.#writing.agent.tools.find((each) => each.name === known);
    if (tool === undefined) return;
    this.#names.set(index, tool.name);
    const named = toolCallId === undefined ? {} : { toolCallId };
    const piece = { tool: calledTool(tool), index, ...named, offset, text };
    this.#each((writer) => {
      writer.piece(piece);
    });
  }

  end(): void {
    this.#each((writer) => writer.end?.());
    this.#writers = [];
  }

  #each(pass: (writer: CallWriter) => void): void {
    this.#writers = this.#writers.filter(
      ({ id, writer }) =>
        this.#safely(id, () => {
          pass(writer);
          return true;
        }) === true,
    );
  }

  #safely<Value>(plugin: string, run: () => Value): Value | undefined {
    try {
      return run();
    } catch (error) {
      const reason = messageOf(error);
      const { logger, step } = this.#writing;
      logger.warn('plugin failed in calls.writes', { plugin, ...step, reason });
      return undefined;
    }
  }

  #contextOf(plugin: string, view: StateView): CallHookContext<never> {
    const { agent, key, services, ports, logger } = this.#writing;
    const { tenant, conversationId } = key;
    return {
      ...{ agent: agent.name, tenant, conversationId, services },
      ...portAccess(ports),
      logger: withFields(logger, { plugin }),
      getState: (ref: never) => view.getState(ref),
    };
  }
}
