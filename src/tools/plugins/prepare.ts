/** Runs `prepare` of an agent's plugins before a model call. Runs in the worker, and in tests of users. */
import { statesAfter } from '../../core/plugins/states.js';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyPlugin, PrepareContext, ResultOfTurn } from '../../define/plugin/types.js';
import type { Logger } from '../../define/tool/context.js';
import type { PortValues } from '../../define/tool/ports.js';
import type { PluginStates, StatePatch } from '../../protocol/calls/plugin-state.js';
import type { Message } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import {
  MAX_CONTEXT_ITEMS_BYTES,
  PREPARE_TIMEOUT_MS,
} from '../../protocol/limits/service-limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput } from '../../protocol/workflow/activities.js';
import { timed } from '../run/timed.js';
import type { MadeServer } from '../shared/factories.js';
import { messageOf } from '../shared/message-of.js';
import { StateView } from '../shared/state-view.js';
import { pluginFailedText } from './failed-text.js';
import { contextFor, PluginFailed } from './lifecycle.js';
import { StepServers } from './step-servers.js';
import { StepTools } from './step-tools.js';

export interface Preparation {
  readonly agent: AnyAgent;
  readonly states: PluginStates;
  readonly services: never;
  readonly logger: Logger;
  readonly ports?: PortValues | undefined;
  readonly tenant: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly step: number;
  readonly requester: StampedActor;
  /** Called once for each plugin that reads them, so that none sees what another has changed. */
  readonly results: () => readonly ResultOfTurn[];
  readonly signal: AbortSignal;
  /** Runs to make the tool of a call again, not for a model call. */
  readonly forCall?: boolean;
  /** @defaultValue PREPARE_TIMEOUT_MS for each plugin */
  readonly timeoutMs?: number;
}

export interface Prepared {
  /** Without the hidden tools, with those that were added. */
  readonly agent: AnyAgent;
  /** Their tools are not in the agent yet: they have to be listed. */
  readonly servers: readonly MadeServer[];
  /** Read behind the conversation, in the order of the plugins. */
  readonly context: readonly string[];
  readonly patches: readonly StatePatch[];
  /** The states with these changes. */
  readonly states: PluginStates;
}

/**
 * One plugin after the other, in the order of the agent: a later one sees the states and the tools that those before it
 * have left.
 * @throws {PluginFailed} the reason of `signal` once that fires
 */
export async function prepareAgent(given: Preparation): Promise<Prepared> {
  const { agent } = given;
  const view = new StateView(agent.plugins ?? [], given.states);
  const tools = new StepTools(agent);
  const servers = new StepServers(agent);
  const context: string[] = [];
  for (const plugin of agent.plugins ?? [])
    await preparedBy(plugin, given, { view, tools, servers, context });
  const patches = view.patches();
  const states = statesAfter(given.states, patches) ?? given.states;
  return { agent: tools.agent(), servers: servers.made, context, patches, states };
}

interface Collected {
  readonly view: StateView;
  readonly tools: StepTools;
  readonly servers: StepServers;
  readonly context: string[];
}

async function preparedBy(
  plugin: AnyPlugin,
  given: Preparation,
  collected: Collected,
): Promise<void> {
  const { id, prepare } = plugin;
  if (prepare === undefined) return;
  const { signal, timeoutMs = PREPARE_TIMEOUT_MS } = given;
  const fail = (message: string): never => {
    throw new PluginFailed(
      pluginFailedText(id, given.forCall === true ? 'prepare for a call' : 'prepare', message),
    );
  };
  const end = await timed({ signal, timeoutMs }, (own) =>
    prepare(contextOf(plugin, given, { ...collected, signal: own })),
  );
  if (end.end === 'timeout') fail(`no end within ${timeoutMs} ms`);
  if (end.end === 'threw') fail(messageOf(end.error));
  const bytes = collected.context.reduce((sum, text) => sum + utf8Bytes(text), 0);
  if (bytes > MAX_CONTEXT_ITEMS_BYTES)
    fail(`context of ${bytes} bytes, more than ${MAX_CONTEXT_ITEMS_BYTES}`);
}

function contextOf(
  plugin: AnyPlugin,
  given: Preparation,
  { view, tools, servers, context, signal }: Collected & { readonly signal: AbortSignal },
): PrepareContext<never> {
  const { agent, tenant, conversationId, turnId, step } = given;
  let results: readonly ResultOfTurn[] | undefined;
  return {
    ...contextFor(plugin, given),
    agent: agent.name,
    tenant,
    conversationId,
    user: given.requester,
    turn: { turnId, step },
    get results() {
      return (results ??= given.results());
    },
    state: view,
    tools: {
      get names() {
        return tools.names();
      },
      hide: (name) => {
        tools.hide(name);
      },
      add: (tool) => {
        tools.add(plugin, tool);
      },
      make: (factory, args) => {
        tools.make(plugin, factory, args);
      },
    },
    servers: {
      get names() {
        return servers.names();
      },
      make: (maker, args) => {
        servers.make(plugin, maker, args);
      },
    },
    context: {
      add: (text) => {
        if (typeof text !== 'string' || text.trim() === '')
          throw new TypeError('context.add: must be a non-empty text');
        context.push(text);
      },
    },
    signal,
  };
}

/** The texts of the plugins, and a preview of the inbox, as a message of the turn, which no transcript has. */
export function contextMessages(
  context: readonly string[],
  { turnId, inboxPreview: preview }: Pick<CallModelInput, 'turnId' | 'inboxPreview'>,
): readonly Message[] {
  const texts =
    preview === undefined
      ? context
      : [...context, TEXTS.inboxPreview(preview.waiting, preview.beginnings)];
  if (texts.length === 0) return [];
  const text = TEXTS.pluginContext(texts.join('\n\n'));
  return [{ role: 'user', id: `${turnId}.context`, turnId, parts: [{ type: 'text', text }] }];
}
