/**
 * The identity under which a worker calls the tools of an MCP server, and challenges of the server about credentials.
 */
import { describe, expect, it } from 'vitest';
import type { McpDeps, McpHttpServerSpec } from '../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { mcpWorker } from './setup.js';

type More = Partial<Omit<McpHttpServerSpec, 'name'>>;

async function kit(more: More, start = startMcpServer) {
  const ledger = mcpLedger();
  const http = await start(() => kitServer(ledger));
  const server = mcpServer({ name: 'kit', url: http.url, ...more });
  return { ledger, http, worker: mcpWorker({ mcpServers: [server] }) };
}

const user = (id: string, verified = true) => ({ id, verified, channel: 'api' as const });
const tokenOf = ({ caller }: McpDeps): string => {
  if (caller === undefined) return 'tok_of_worker';
  const { tenant, requester } = caller;
  return `tok_of_${tenant}_${requester === undefined ? 'all' : requester.id}${requester?.verified === false ? '_so_it_says' : ''}`;
};

describe.each([
  ['the current protocol', startMcpServer],
  ['the older protocol', startOldMcpServer],
])('a server of %s', (_which, start) => {
  const called = (http: Awaited<ReturnType<typeof start>>) =>
    http.seen.filter(({ method }) => method === 'tools/call');

  it('is called with the token of the requester, over a connection of its own', {
    ...promise('G159'),
  }, async () => {
    const { worker, http } = await kit({ identity: 'requester', token: tokenOf }, start);
    const plan = await worker.plan('kit.delete');
    expect(new Set(http.seen.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer tok_of_worker']),
    );
    const whose = [user('ann'), user('bo'), user('ann'), user('ann', false)];
    for (const requester of whose)
      expect(await worker.run(plan, { requester })).toMatchObject({ envelope: { ok: true } });
    expect(called(http).map(({ authorization }) => authorization)).toEqual([
      'Bearer tok_of_default_ann',
      'Bearer tok_of_default_bo',
      'Bearer tok_of_default_ann',
      'Bearer tok_of_default_ann_so_it_says',
    ]);
    if (start === startMcpServer) return;
    const sessions = called(http).map(({ headers }) => headers['mcp-session-id']);
    expect(sessions[2]).toBe(sessions[0]);
    expect(new Set(sessions).size).toBe(3);
    // Each connection was opened with the token of its user.
    for (const { authorization, headers } of called(http))
      expect(
        http.seen
          .filter((request) => request.headers['mcp-session-id'] === headers['mcp-session-id'])
          .every((request) => request.authorization === authorization),
      ).toBe(true);
  });
});

describe('a server', () => {
  it('may be called for a tenant or for the worker as a whole', async () => {
    for (const [identity, token] of [
      ['tenant', 'tok_of_acme_all'],
      ['worker', 'tok_of_worker'],
    ] as const) {
      const { worker, http } = await kit({ identity, token: tokenOf });
      const plan = await worker.plan('kit.delete');
      await worker.run(plan, { tenant: 'acme', requester: user('ann') });
      expect(http.seen.at(-1)).toMatchObject({ authorization: `Bearer ${token}` });
    }
  });

  it('has the connections of all callers closed with the worker', async () => {
    const { worker, http } = await kit(
      { identity: 'requester', token: tokenOf },
      startOldMcpServer,
    );
    const plan = await worker.plan('kit.delete');
    for (const id of ['ann', 'bo']) await worker.run(plan, { requester: user(id) });
    await worker.mcp.close();
    const ended = http.seen.filter(({ verb }) => verb === 'DELETE');
    expect(ended.map(({ authorization }) => authorization).sort()).toEqual([
      'Bearer tok_of_default_ann',
      'Bearer tok_of_default_bo',
      'Bearer tok_of_worker',
    ]);
    expect(await worker.run(plan, { requester: user('ann') })).toMatchObject({
      envelope: { ok: false },
    });
  });

  it("never shows a user any token, neither another user's nor their own", async () => {
    const { worker } = await kit({ identity: 'requester', token: tokenOf });
    const say = 'tok_of_default_ann';
    const plan = await worker.plan('kit.fail', { say });
    expect(await worker.run(plan, { requester: user('ann') })).toMatchObject({
      envelope: { error: { message: 'failed: [redacted]' } },
    });
  });

  it.each([
    [401, 'Bearer realm="mcp", resource_metadata="https://mcp.example.com/meta"'],
    [403, 'Bearer error="insufficient_scope", scope="write"'],
  ])(
    'that answers %i has its challenge passed to the token resolver, and gets one more request',
    promise('G160'),
    async (status, challenge) => {
      const asked: unknown[] = [];
      const { worker, http, ledger } = await kit({
        token: ({ refused, challenge: wanted }) => {
          asked.push(wanted);
          return refused ? 'tok_wide' : 'tok_narrow';
        },
      });
      http.instead = ({ method }, response) => {
        const isGood = http.seen.at(-1)?.authorization === 'Bearer tok_wide';
        if (method !== 'tools/call' || isGood) return false;
        response.writeHead(status, { 'www-authenticate': challenge }).end();
        return true;
      };
      const plan = await worker.plan('kit.delete');
      expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true, result: 'deleted' } });
      expect(asked.filter((it) => it !== undefined)).toEqual([challenge]);
      expect(ledger.runs).toEqual(['delete']);
    },
  );

  it('that keeps refusing gets two requests, no more', promise('G160'), async () => {
    const { worker, http } = await kit({ token: () => 'tok_narrow' });
    const plan = await worker.plan('kit.delete');
    http.instead = (_message, response) => {
      const challenge = 'Bearer error="insufficient_scope"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    };
    const before = http.seen.length;
    expect(await worker.run(plan)).toMatchObject({
      envelope: { error: { message: expect.stringMatching(/refused the credentials/) as string } },
    });
    expect(http.seen.length - before).toBe(2);
  });

  it('is not called without its token: the call was not sent, so it is retried as its effects allow', async () => {
    let isSealed = false;
    const token = () => (isSealed ? Promise.reject(new Error('vault at 10.0.0.7')) : 'tok_good');
    for (const effects of ['idempotent', 'once'] as const) {
      isSealed = false;
      const { worker, ledger } = await kit({ token, effects });
      const plan = await worker.plan('kit.delete');
      isSealed = true;
      const end = await worker.run(plan).catch((error: unknown) => error);
      const said = JSON.stringify(end) + String(end);
      expect(said).toContain('its credentials could not be looked up');
      expect(said).not.toContain('vault at');
      expect(JSON.stringify(worker.logged)).toContain('vault at');
      if (effects === 'once') expect(end).toMatchObject({ envelope: { ok: false } });
      else expect(end).toMatchObject({ type: 'tool_retry' });
      expect(ledger.runs).toEqual([]);
    }
  });
});
