/** Connections of one worker to one MCP server, by the calls that share them; the tests open none. */

import { afterEach, expect, it, vi } from 'vitest';
import { MAX_MCP_CALLERS, MCP_CALLER_IDLE_MS } from '../../../../src/define/mcp/limits.js';
import { mcpServer } from '../../../../src/define/mcp-server.js';
import { McpConnections } from '../../../../src/tools/mcp/session/connections.js';
import { scopesOf } from '../../../support/builders/scopes.js';
import { promise } from '../../../support/promise.js';

const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
afterEach(() => {
  vi.useRealTimers();
});

function connections(identity: 'worker' | 'tenant' | 'requester', owner?: string) {
  const url = 'https://mcp.example.com';
  const caller = owner === undefined ? undefined : { tenant: owner };
  const server = mcpServer({ name: 'kit', url, token: () => 'tok_1', identity });
  const all = new McpConnections(server, { scopes: scopesOf(), logger, caller }, quiet);
  const lease = (id: string, tenant = 'default') =>
    all.lease({ tenant, requester: { id, verified: true, channel: 'api' } });
  return { all, lease };
}

it('all calls share one, unless the definition says otherwise', () => {
  const { all, lease } = connections('worker');
  expect(lease('ann').connection).toBe(all.own);
  expect(lease('bo', 'acme').connection).toBe(all.own);
});

it('users of one tenant share one, or have one each; those of another never do', {
  ...promise('G159'),
}, () => {
  const tenants = connections('tenant');
  expect(tenants.lease('ann').connection).toBe(tenants.lease('bo').connection);
  expect(tenants.lease('ann', 'acme').connection).not.toBe(tenants.lease('ann').connection);
  const users = connections('requester');
  expect(users.lease('ann').connection).toBe(users.lease('ann').connection);
  expect(users.lease('ann').connection).not.toBe(users.lease('bo').connection);
  expect(users.lease('ann', 'acme').connection).not.toBe(users.lease('ann').connection);
  expect(users.lease('ann').connection).not.toBe(users.all.own);
});

it('a worker of one tenant has a single connection for it, and others for its users', () => {
  const tenants = connections('tenant', 'acme');
  expect(tenants.lease('ann', 'acme').connection).toBe(tenants.all.own);
  expect(tenants.lease('ann', 'other').connection).not.toBe(tenants.all.own);
  const users = connections('requester', 'acme');
  expect(users.lease('ann', 'acme').connection).not.toBe(users.all.own);
});

it.each(['worker', 'tenant', 'requester'] as const)(
  'those of the identity "%s" are idle while no call has a lease',
  (identity) => {
    const { all, lease } = connections(identity, 'acme');
    expect(all.isIdle).toBe(true);
    const [first, second] = [lease('ann', 'acme'), lease('ann', 'acme')];
    first.release();
    expect(all.isIdle).toBe(false);
    second.release();
    expect(all.isIdle).toBe(true);
  },
);

it('one that is idle is closed after a while, one at work is not', () => {
  vi.useFakeTimers();
  const { lease } = connections('requester');
  const first = lease('ann');
  const second = lease('ann');
  first.release();
  vi.advanceTimersByTime(2 * MCP_CALLER_IDLE_MS);
  expect(lease('ann').connection).toBe(first.connection);
  second.release();
  const third = lease('bo');
  third.release();
  vi.advanceTimersByTime(MCP_CALLER_IDLE_MS - 1);
  expect(lease('bo').connection).toBe(third.connection);
  const last = lease('cy');
  last.release();
  vi.advanceTimersByTime(MCP_CALLER_IDLE_MS);
  expect(lease('cy').connection).not.toBe(last.connection);
});

it('there are so many, and the one that was idle longest is closed for a new one', () => {
  const { lease } = connections('requester');
  const busy = lease('busy');
  const oldest = lease('oldest');
  oldest.release();
  const others = Array.from({ length: MAX_MCP_CALLERS - 2 }, (_, index) => lease(`u${index}`));
  for (const { release } of others) release();
  const newcomer = lease('newcomer');
  expect(lease('busy').connection).toBe(busy.connection);
  expect(lease('u0').connection).toBe(others[0]?.connection);
  expect(lease('oldest').connection).not.toBe(oldest.connection);
  expect(lease('newcomer').connection).toBe(newcomer.connection);
});

it('a closed worker opens none', async () => {
  const { all, lease } = connections('requester');
  lease('ann');
  await all.close();
  await expect(lease('ann').connection.session()).rejects.toThrow('the worker is stopping');
});
