/** Runs the functions of plugins around a call. Runs in the worker, and in tests of users. */
import { setTimeout as delay } from 'node:timers/promises';
import type { AnyAgent } from '../../define/define-agent.js';
import type {
  CalledTool,
  CallHookContext,
  SeenCall,
  SeenEnd,
} from '../../define/plugin/call-hooks.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import type { CallContext } from '../../define/tool/context.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import { CALL_HOOK_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';
import type { Json } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { timed } from '../run/timed.js';
import { messageOf } from '../shared/message-of.js';
import { StateView } from '../shared/state-view.js';
import { withFields } from '../shared/tool-logger.js';
import { pluginFailedText } from './failed-text.js';
import { PluginFailed } from './lifecycle.js';

const END_ATTEMPTS = 3;
const END_PAUSE_MS = 200;

/** Why the first plugin that refuses a call does so; undefined when all let it pass. Never throws. */
export function refusalOf(
  { plugins = [] }: AnyAgent,
  tool: AnyTool,
  states: PluginStates,
): string | undefined {
  for (const { id, calls } of plugins) {
    if (calls?.refuse === undefined) continue;
    const view = new StateView(plugins, states);
    const getState: CallHookContext['getState'] = (plugin: never) => view.getState(plugin);
    try {
      const refusal = calls.refuse(calledTool(tool), { getState });
      if (typeof refusal === 'string') return bounded(refusal);
    } catch (error) {
      return pluginFailedText(id, 'calls.refuse', messageOf(error));
    }
  }
  return undefined;
}

/** The result of a call that a plugin has refused. */
export function refused(message: string): ToolResultEnvelope {
  return { ok: false, error: { code: 'tool_error', message: bounded(message) } };
}

function bounded(message: string): string {
  return cutText(message, MAX_REASON_CHARS);
}

/** Whether plugins take part in the runs of calls, which then have to begin as activities of their own. */
export function seesRuns({ plugins = [] }: Pick<AnyAgent, 'plugins'>): boolean {
  return plugins.some(({ calls }) => calls?.begins !== undefined || calls?.ends !== undefined);
}

/** The part of a tool that plugins see. */
export function calledTool({ name, executor, metadata }: AnyTool): CalledTool {
  return { name, executor, ...(metadata === undefined ? {} : { metadata }) };
}

interface Seen {
  readonly plugins: readonly AnyPlugin[] | undefined;
  readonly tool: AnyTool;
  readonly input: Json;
  readonly ctx: Omit<CallContext<never>, 'signal'>;
  readonly signal: AbortSignal;
  /** For `begins` of each plugin, and for `ends` of all. @defaultValue CALL_HOOK_TIMEOUT_MS */
  readonly timeoutMs?: number;
}

/** One attempt of a call, as the plugins of its agent see it. */
export class SeenRun {
  readonly #seen: Seen;
  readonly #call: SeenCall;

  constructor(seen: Seen) {
    this.#seen = seen;
    const { tool, input, ctx } = seen;
    const { toolCallId, turnId, step } = ctx;
    this.#call = { tool: calledTool(tool), toolCallId, turnId, step, input };
  }

  /** The refusal of the first plugin that refuses. @throws {PluginFailed} the reason of the signal once that fires */
  async begins(): Promise<string | undefined> {
    for (const plugin of this.#seen.plugins ?? []) {
      const { begins } = plugin.calls ?? {};
      if (begins === undefined) continue;
      const refusal = await this.#run(plugin, 'begins', {
        run: (ctx) => begins(this.#call, ctx),
      });
      if (typeof refusal === 'string') return refusal;
    }
    return undefined;
  }

  /** Never throws: the call has its result, or its question. */
  async ends(end: SeenEnd): Promise<void> {
    const until = performance.now() + (this.#seen.timeoutMs ?? CALL_HOOK_TIMEOUT_MS);
    for (const plugin of this.#seen.plugins ?? []) {
      const { ends } = plugin.calls ?? {};
      if (ends === undefined) continue;
      for (let attempt = 1; ; attempt += 1)
        try {
          const timeoutMs = Math.max(1, until - performance.now());
          await this.#run(plugin, 'ends', {
            run: (ctx) => ends(this.#call, end, ctx),
            timeoutMs,
          });
          break;
        } catch (error) {
          const isOver = attempt === END_ATTEMPTS || performance.now() + END_PAUSE_MS > until;
          if (!isOver && error instanceof PluginFailed) await delay(END_PAUSE_MS);
          else {
            const reason = messageOf(error);
            this.#seen.ctx.logger.error('plugin missed the end of a call', { reason });
            break;
          }
        }
    }
  }

  async #run(
    { id }: AnyPlugin,
    hook: 'begins' | 'ends',
    {
      run,
      timeoutMs = this.#seen.timeoutMs ?? CALL_HOOK_TIMEOUT_MS,
    }: {
      readonly run: (ctx: CallHookContext<never>) => unknown;
      readonly timeoutMs?: number;
    },
  ): Promise<unknown> {
    const { ctx, signal } = this.#seen;
    const { agent, tenant, conversationId, services, logger, getState, port } = ctx;
    const about = { agent, tenant, conversationId, services, getState, port };
    const given = { ...about, logger: withFields(logger, { plugin: id }) };
    const end = await timed({ signal, timeoutMs }, () => run(given));
    if (end.end === 'returned') return end.value;
    const problem =
      end.end === 'timeout' ? `no end within ${Math.round(timeoutMs)} ms` : messageOf(end.error);
    throw new PluginFailed(pluginFailedText(id, `calls.${hook}`, problem));
  }
}
