/** The MCP servers of an agent, checked together. Runs anywhere. */
import { isRecord } from '../../protocol/values/json.js';
import { type ProblemList, shown } from '../checks/problems.js';

/** Adds every fault of an agent's list of servers. */
export function checkMcpServers(servers: unknown, problems: ProblemList): void {
  if (servers === undefined) return;
  if (!Array.isArray(servers)) {
    problems.add('mcpServers', `must be a list of servers, got ${shown(servers)}`);
    return;
  }
  const names = new Set<unknown>();
  for (const [index, server] of (servers as readonly unknown[]).entries()) {
    if (!isRecord(server) || server['kind'] !== 'mcp_server') {
      problems.add(`mcpServers[${index}]`, 'must come from mcpServer');
      continue;
    }
    const { name } = server;
    if (names.has(name)) problems.add(`mcpServers[${index}]`, `duplicate name ${shown(name)}`);
    names.add(name);
  }
}

/** Whether one of the servers may later list a tool of this name; the lists are known only later. */
export function isNameOfListed(servers: unknown, tool: string): boolean {
  if (!Array.isArray(servers)) return false;
  return (servers as readonly unknown[]).some((server) => {
    if (!isRecord(server)) return false;
    const { name, spec } = server;
    const isPlain = isRecord(spec) && spec['prefix'] === false;
    return isPlain || tool.startsWith(`${String(name)}.`);
  });
}
