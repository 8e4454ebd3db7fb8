/**
 * A process that reaches an HTTP tool's service, an MCP server and a model as a worker does, at the origin of its
 * argument, and prints the outcomes as one line of JSON. Its environment sets proxy and certificate.
 */

import { defineAgent } from '../../../src/define/define-agent.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { httpTool, jsonSchema } from '../../../src/index.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import { script } from '../../../src/model/scripted/scripted.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import { McpServers } from '../../../src/tools/mcp/servers.js';
import { scopesOf } from '../builders/scopes.js';
import { envelopeOf } from './http-peer.js';

const [origin = ''] = process.argv.slice(2);
const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

const http = await envelopeOf(
  httpTool({
    name: 'orders.find',
    description: 'Finds.',
    input: jsonSchema<Record<string, never>>({ type: 'object' }),
    method: 'GET',
    url: `${origin}/orders`,
    proxy: 'environment',
  }),
);

const mcp = new McpServers({ scopes: scopesOf(), logger });
const agent = defineAgent({
  name: 'client',
  model: script(),
  instructions: 'Call.',
  mcpServers: [mcpServer({ name: 'kit', url: `${origin}/mcp` })],
});
const { tools } = await mcp.equip(agent);
await mcp.close();

const answer = await openaiModel('m-1', { baseURL: `${origin}/v1`, apiKey: 'k-child' }).generate(
  {
    system: '',
    messages: [{ role: 'user', id: 'u', turnId: 't', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
  },
  { signal: new AbortController().signal, onEvent: quiet },
);

process.stdout.write(
  `${JSON.stringify({ http, tools: tools.map(({ name }) => name), text: textOf(answer.parts) })}\n`,
);
