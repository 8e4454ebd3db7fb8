/**
 * A process with one MCP server of its own, whose end the test observes from outside. Arguments: the server's
 * program, its arguments. Commands on its input: `exit`, or `throw`; SIGTERM stops it as a worker is stopped.
 */

import { defineAgent } from '../../../src/define/define-agent.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { script } from '../../../src/model/scripted/scripted.js';
import { McpServers } from '../../../src/tools/mcp/servers.js';
import { scopesOf } from '../builders/scopes.js';

const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const [command = '', ...args] = process.argv.slice(2);
const server = mcpServer({ name: 'own', command, args });
const agent = defineAgent({
  name: 'client',
  model: script(),
  instructions: 'Call.',
  mcpServers: [server],
});

const mcp = new McpServers({ scopes: scopesOf(), logger });
process.on('SIGTERM', () => void mcp.close().then(() => process.exit(0)));
process.stdin.on('data', (how: Buffer) => {
  if (how.toString() === 'exit') process.exit(3);
  throw new Error('nobody catches this');
});
await mcp.equip(agent);
process.stdout.write('ready\n');
