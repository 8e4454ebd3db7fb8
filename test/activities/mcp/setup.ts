/** Workers of a test whose agent has MCP servers; each has connections of its own, like a process. */

import { onTestFinished } from 'vitest';
import { createActivities } from '../../../src/activities/index.js';
import type { AgentSettingsSpec } from '../../../src/define/agent/settings.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import type { McpServer } from '../../../src/define/mcp/server.js';
import type { Plugin } from '../../../src/define/plugin/types.js';
import type { ToolPolicy } from '../../../src/define/tool/policy.js';
import type { Tool } from '../../../src/define/tool/types.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { AskedBefore } from '../../../src/protocol/calls/questions.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import type { Json } from '../../../src/protocol/values/json.js';
import type {
  CallModelResult,
  RunToolInput,
  RunToolResult,
} from '../../../src/protocol/workflow/activities.js';
import { McpServers } from '../../../src/tools/mcp/servers.js';
import { scopesOf } from '../../support/builders/scopes.js';
import { answer, environment, modelInput, modelOf, toolInput } from '../tools/fixtures.js';
import { MemoryBlobs } from '../transcripts/memory-blobs.js';

export interface Asked {
  readonly form: { readonly [field: string]: Json | undefined };
  readonly state: Json;
  readonly reason: string;
}

export interface McpWorkerSetup {
  readonly mcpServers?: readonly McpServer[];
  readonly plugins?: readonly Plugin[];
  readonly tools?: readonly Tool[];
  readonly toolPolicy?: ToolPolicy;
  readonly settings?: AgentSettingsSpec;
  readonly services?: unknown;
  /** @defaultValue a store of its own; null: none */
  readonly blobs?: Pick<MemoryBlobs, 'put' | 'get'> | null;
  /** The queue of this worker alone, for calls that it holds open. @defaultValue it holds none */
  readonly ownQueue?: () => Promise<string>;
  /** Addresses of the API of the installation. @defaultValue none is known */
  readonly apiUrls?: readonly string[];
}

/** One worker. The end of the test closes it, or the test itself. */
export function mcpWorker({ services, blobs, ownQueue, apiUrls, ...agentFields }: McpWorkerSetup) {
  const requests: ModelRequest[] = [];
  const live: LiveEvent[] = [];
  const logged: { level: string; message: string; fields: unknown }[] = [];
  const wanted: { name: string; input: Json }[] = [];
  const log = (level: string) => (message: string, fields?: unknown) =>
    void logged.push({ level, message, fields });
  const logger = {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
  };
  const model = modelOf((request) => {
    requests.push(request);
    const calls = wanted.map(({ name, input }, index) => ({
      id: `call_${index + 1}`,
      name,
      argumentsJson: JSON.stringify(input),
    }));
    return Promise.resolve(answer({ calls }));
  });
  const agent = defineAgent({
    name: 'support',
    model,
    instructions: 'Help.',
    ...agentFields,
  });
  const mcp = new McpServers({
    scopes: scopesOf(services),
    logger,
    apiUrls,
    ...(ownQueue === undefined ? {} : { ownQueue }),
  });
  onTestFinished(() => mcp.close());
  const activities = createActivities({
    agents: [agent],
    services,
    mcp,
    restoreState: () => Promise.reject(new Error('no store')),
    flush: () => Promise.reject(new Error('no store')),
    publish: (_key, event) => {
      live.push(event);
    },
    logger,
    ...(blobs === null ? {} : { blobs: blobs ?? new MemoryBlobs() }),
  });
  const callModel = async (): Promise<CallModelResult> =>
    await environment().run(activities.callModel, modelInput());
  return {
    agent,
    activities,
    mcp,
    live,
    logged,
    requests,
    callModel,
    /** Names of the tools that the model is given now. */
    async tools(): Promise<readonly string[]> {
      await callModel();
      return (requests.at(-1)?.tools ?? []).map(({ name }) => name);
    },
    /** The plan of the worker when the model calls a tool. */
    async plan(name: string, input: Json = {}): Promise<PlannedCall> {
      wanted.splice(0, wanted.length, { name, input });
      const { calls } = await callModel();
      wanted.length = 0;
      if (calls[0] === undefined) throw new Error('nothing was planned');
      return calls[0].plan;
    },
    /** Runs a plan as the workflow would. */
    async run(plan: PlannedCall, more: Partial<RunToolInput> = {}): Promise<RunToolResult> {
      return await environment().run(activities.runTool, runInput(plan, more));
    },
  };
}

/** The input that the workflow makes of a plan, through JSON. */
export function runInput(plan: PlannedCall, more: Partial<RunToolInput> = {}): RunToolInput {
  const { toolCallId, name, effects, timeouts, maxAttempts, mcp, input, raw, definition } = plan;
  const pinned = { toolCallId, name, effects, timeouts, maxAttempts, mcp, raw, definition };
  const call = { ...pinned, input: input ?? null };
  const made = plan.made === undefined ? {} : { made: { ref: plan.made } };
  return JSON.parse(
    JSON.stringify(toolInput({ call: call as never, ...made, ...more })),
  ) as RunToolInput;
}

/** The question that ended a run. */
export function questionIn(end: RunToolResult): Asked {
  if (!('ask' in end)) throw new Error(`no question: ${JSON.stringify(end)}`);
  const { form, state = null, reason = '' } = end.ask;
  return { form, state, reason };
}

/** The text of a run's result. */
export function textIn(end: RunToolResult): string {
  if ('envelope' in end && end.envelope.ok && typeof end.envelope.result === 'string')
    return end.envelope.result;
  throw new Error(`no text: ${JSON.stringify(end)}`);
}

/** The run after a question, with its answer or decline. */
export function after(
  question: Asked,
  outcome: Pick<AskedBefore, 'answer' | 'declined'>,
  asks = 1,
): Partial<RunToolInput> {
  const actor = { id: 'bo', verified: true, channel: 'api' } as const;
  return { run: asks + 1, asked: { asks, state: question.state, actor, ...outcome } };
}
