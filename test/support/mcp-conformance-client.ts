/**
 * The client of the conformance scenarios: has every tool of a server run as a worker has, and answers what is asked by accepting
 * what the form fills in. Run by the scenarios with the address of their server as the last argument.
 */
import { defineAgent } from '../../src/define/agent.js';
import type { CallContext } from '../../src/define/context.js';
import { mcpServer } from '../../src/define/mcp-server.js';
import type { AnyTool } from '../../src/define/tool.js';
import { script } from '../../src/model/scripted.js';
import { isRecord, type Json } from '../../src/protocol/json.js';
import { McpServers } from '../../src/tools/mcp/servers.js';
import { runToolCall } from '../../src/tools/run.js';
import { toolLogger } from '../../src/tools/tool-logger.js';

const quiet = () => undefined;
const logger = {
  debug: quiet,
  info: quiet,
  warn: (message: string, fields?: unknown) =>
    void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  error: quiet,
};
const requester = { id: 'ann', verified: true, channel: 'api' } as const;

const url = process.argv.at(-1) ?? '';
// A call may be made again here: the questions of this protocol are answered so.
const server = mcpServer({ name: 'scenario', url, effects: 'idempotent' });
const agent = defineAgent({
  name: 'client',
  model: script(),
  instructions: 'Call.',
  mcpServers: [server],
});

const mcp = new McpServers({ services: undefined, logger });
const { tools } = await mcp.equip(agent);
for (const tool of tools) await call(tool);
await mcp.close();
if (tools.length === 0 && process.env['MCP_CONFORMANCE_SCENARIO'] !== 'initialize')
  process.exitCode = 1;

async function call(tool: AnyTool): Promise<void> {
  let entry: Pick<CallContext, 'run' | 'asks' | 'state' | 'answer'> = { run: 1, asks: 0 };
  for (;;) {
    const end = await runToolCall({
      tool,
      input: argumentsFor(tool),
      signal: new AbortController().signal,
      ctx: { ...contextOf(tool), ...entry } as never,
    });
    if (!('ask' in end)) return;
    const { state } = end.ask;
    const { asks, run } = entry;
    entry = { run: run + 1, asks: asks + 1, answer: {}, ...(state === undefined ? {} : { state }) };
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
    agent: agent.name,
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
    storedResults: { read: () => Promise.resolve(undefined) },
    logger: toolLogger(logger, name, {}),
  };
}
