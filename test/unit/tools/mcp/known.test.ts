/** Servers of plugins that one worker keeps, by their calls; the tests connect to none. */
import { afterEach, expect, it, vi } from 'vitest';
import { definePlugin } from '../../../../src/define/define-plugin.js';
import { MAX_MADE_MCP_SERVERS } from '../../../../src/define/mcp/limits.js';
import { type Json, mcpServer } from '../../../../src/index.js';
import { MadeServers } from '../../../../src/tools/mcp/known.js';
import { serverByMaker } from '../../../../src/tools/shared/factories.js';
import { scopesOf } from '../../../support/builders/scopes.js';

const IDLE_MS = 10 * 60_000;
const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const who = {
  tenant: 'acme',
  requester: { id: 'ann', verified: true, channel: 'api' as const },
};

afterEach(() => {
  vi.useRealTimers();
});

const ADDRESS = (args: Json) => ({
  name: 'kit',
  url: `http://127.0.0.1:1/${JSON.stringify(args)}`,
});

function kept(identity: 'worker' | 'tenant') {
  const plugin = definePlugin({
    id: 'rack',
    servers: {
      listed: {
        make: (args: Json) => mcpServer({ ...ADDRESS(args), identity, token: () => 'tok_1' }),
      },
    },
  });
  const all = new MadeServers({ scopes: scopesOf(), logger });
  const of = (n: number, tenant = 'acme') => all.of(serverByMaker(plugin, 'listed', n), tenant);
  return { all, of };
}

it.each(['worker', 'tenant'] as const)(
  'one that a call of the identity "%s" uses is kept, and closed once it is idle',
  async (identity) => {
    vi.useFakeTimers();
    const { all, of } = kept(identity);
    const known = of(1);
    const { connection, release } = known.connections.lease(who);
    vi.advanceTimersByTime(3 * IDLE_MS);
    expect(of(1)).toBe(known);
    release();
    vi.advanceTimersByTime(IDLE_MS + 1);
    expect(of(1)).not.toBe(known);
    await expect(connection.session()).rejects.toThrow('the worker is stopping');
    await all.close();
  },
);

it('there are so many, and the one that was idle longest is closed for a new one', async () => {
  const { all, of } = kept('tenant');
  const busy = of(0);
  busy.connections.lease(who);
  const [used, oldest] = [of(1), of(2)];
  for (let n = 3; n < MAX_MADE_MCP_SERVERS; n += 1) of(n);
  expect(of(1)).toBe(used);
  of(MAX_MADE_MCP_SERVERS);
  expect(of(0)).toBe(busy);
  expect(of(1)).toBe(used);
  await expect(oldest.connections.own.session()).rejects.toThrow('the worker is stopping');
  expect(of(2)).not.toBe(oldest);
  await all.close();
});

it('each tenant has its own, with its own connections', async () => {
  const { all, of } = kept('tenant');
  const { connections } = of(1);
  expect(of(1, 'beta').connections).not.toBe(connections);
  expect(of(1).connections).toBe(connections);
  await all.close();
});
