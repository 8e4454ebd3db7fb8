/**
 * The client of the conformance scenarios: runs every tool of a server as a worker does, and answers questions by
 * accepting the defaults of the form.
 */

import { defineAgent } from '../../../src/define/define-agent.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import type { CallContext } from '../../../src/define/tool/context.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { script } from '../../../src/model/scripted/scripted.js';
import { isRecord, type Json } from '../../../src/protocol/values/json.js';
import { McpServers } from '../../../src/tools/mcp/servers.js';
import { runToolCall } from '../../../src/tools/run/run.js';
import { toolLogger } from '../../../src/tools/shared/tool-logger.js';
import { NO_SECRETS, scopesOf } from '../builders/scopes.js';
import { type Context, tokenResolver } from './conformance-oauth.js';

const quiet = () => undefined;
const logger = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
};
const requester = { id: 'ann', verified: true, channel: 'api' } as const;

/** The input of a scenario to its client. */
export interface Scenario {
  readonly scenario: string;
  readonly url: string;
  readonly context: Context;
}

/** True when the client found the tool to call. */
export async function runClient({ scenario, url, context }: Scenario): Promise<boolean> {
  const server = mcpServer({
    name: 'scenario',
    url,
    // A call may be repeated here: questions of this protocol are answered so.
    effects: 'idempotent',
    // All scenarios run at once, with a process each: on a busy machine their servers answer later than a worker
    // would wait.
    timeouts: { connect: '90s', list: '90s', run: '90s' },
    ...(scenario.startsWith('auth/') ? { token: tokenResolver(scenario, url, context) } : {}),
  });
  const agent = defineAgent({
    name: 'client',
    model: script(),
    instructions: 'Call.',
    mcpServers: [server],
  });
  const mcp = new McpServers({ scopes: scopesOf(), logger });
  try {
    const { tools } = await mcp.equip(agent);
    for (const tool of tools) await call(tool);
    return tools.length > 0 || scenario === 'initialize';
  } finally {
    await mcp.close();
  }
}

async function call(tool: AnyTool): Promise<void> {
  let entry: Pick<CallContext, 'run' | 'asks' | 'state'> = { run: 1, asks: 0 };
  for (;;) {
    const end = await runToolCall({
      tool,
      input: argumentsFor(tool),
      signal: new AbortController().signal,
      ctx: { ...contextOf(tool), ...entry } as never,
      ...(entry.asks === 0 ? {} : { answer: { value: {} } }),
    });
    if (!('ask' in end)) return;
    const { state } = end.ask;
    const { asks, run } = entry;
    entry = { run: run + 1, asks: asks + 1, ...(state === undefined ? {} : { state }) };
  }
}

function argumentsFor({ inputSchema }: AnyTool): Json {
  const { properties } = inputSchema;
  const fields = Object.entries(isRecord(properties) ? properties : {});
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      isRecord(field) && field['type'] === 'number' ? 2 : 'text',
    ]),
  );
}

function contextOf({ name }: AnyTool): object {
  return {
    agent: 'client',
    tenant: 'default',
    conversationId: 'c-1',
    turnId: 'turn_1',
    step: 1,
    toolCallId: 'call_1',
    idempotencyKey: 'key',
    requester,
    attempt: 1,
    progress: quiet,
    services: undefined,
    ...NO_SECRETS,
    storedResults: { read: () => Promise.resolve(undefined) },
    logger: toolLogger(logger, name, {}),
  };
}
