/** Proxies between a worker and the services of HTTP tools, MCP servers and models. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { httpTool, jsonSchema, secret } from '../../../../src/index.js';
import { kitServer, mcpLedger } from '../../../support/mcp/kit.js';
import { CERTIFICATE, startTlsPeer } from '../../../support/networks/tls-peer.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { chatEvents } from '../../../support/samples/wire-events.js';
import { startChild } from '../../../support/servers/children.js';
import { envelopeOf, errorOf, json, startPeer } from '../../../support/servers/http-peer.js';
import { startProxy } from '../../../support/servers/proxy.js';
import { until } from '../../../support/until.js';

const open = jsonSchema<Record<string, never>>({ type: 'object' });
const TOKEN = 'hush-hush-token';
const CHILD = new URL('../../../support/servers/proxied-child.ts', import.meta.url);
/** Time for a process to start, and to load everything. */
const CHILD_TIMEOUT_MS = 60_000;

afterEach(() => {
  vi.unstubAllEnvs();
});

function toolOf(url: string, over: Readonly<Record<string, unknown>> = {}) {
  const fields = {
    name: 'x.get',
    description: 'Gets x.',
    input: open,
    allowPrivate: true,
  } as const;
  return httpTool({ ...fields, method: 'GET', url, ...over });
}

/** Environment of this process, until the test is over. */
function trustCertificate(): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, CERTIFICATE]);
  onTestFinished(() => {
    setDefaultCACertificates(before);
  });
}

describe('a proxy', () => {
  it('is used where the tool names it, with its password from a secret', async () => {
    await using proxy = await startProxy();
    vi.stubEnv('PROXY_URL', proxy.url.replace('//', '//user:hush-hush@'));
    const over = { proxy: secret('PROXY_URL'), allowPrivate: undefined };
    // The proxy resolves the name.
    expect(await envelopeOf(toolOf('http://api.invalid/x', over))).toMatchObject({ ok: true });
    expect(proxy.seen).toEqual(['GET http://api.invalid/x']);
    expect(proxy.keys).toEqual([`Basic ${btoa('user:hush-hush')}`]);
  });

  it('is used where the environment names it, except for the excluded hosts', async () => {
    await using proxy = await startProxy();
    await using peer = await startPeer(json('direct'));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('http_proxy', proxy.url);
    vi.stubEnv('NO_PROXY', '127.0.0.1');
    vi.stubEnv('no_proxy', '127.0.0.1');
    const over = { proxy: 'environment' };
    expect(await envelopeOf(toolOf('http://api.invalid/', over))).toMatchObject({ ok: true });
    expect(await envelopeOf(toolOf(peer.url, over))).toEqual({ ok: true, result: 'direct' });
    expect(proxy.seen).toHaveLength(1);
    // Requests around the proxy are checked as always.
    const guarded = { ...over, allowPrivate: undefined };
    expect(await errorOf(toolOf(peer.url, guarded))).toContain('has no address that');
  });

  it('does not reach addresses that are forbidden to the tool: they stand in the URL', async () => {
    await using proxy = await startProxy();
    const over = { proxy: proxy.url, allowPrivate: undefined };
    for (const url of ['http://169.254.169.254/', 'http://[::1]/', 'http://10.0.0.1/'])
      expect(await errorOf(toolOf(url, over))).toContain('has no address that');
    expect(proxy.seen).toEqual([]);
  });
});

describe('a proxy that a secret names for each tenant', () => {
  /** The proxy of tenant `a` redirects, and answers that only once `moves` is called. */
  async function aSlowProxy() {
    let moves = (): void => undefined;
    const isMoving = new Promise<void>((resolve) => {
      moves = resolve;
    });
    const proxy = await startPeer((request, response) => {
      if (request.target.endsWith('/moved')) json('of a')(request, response);
      else void isMoving.then(() => response.writeHead(302, { location: '/moved' }).end());
    });
    return { proxy, moves };
  }

  function toolFor(proxyOf: (tenant: string) => string) {
    const proxy = secret(({ tenant }) => proxyOf(tenant));
    return toolOf('http://api.invalid/x', { proxy, allowPrivate: undefined });
  }

  it('serves a run to its end, though a run of another tenant begins before its redirect', async () => {
    const { proxy, moves } = await aSlowProxy();
    await using ofA = proxy;
    await using ofB = await startPeer((request, response) => {
      moves();
      json('of b')(request, response);
    });
    const tool = toolFor((tenant) => (tenant === 'a' ? ofA : ofB).url);
    const slow = envelopeOf(tool, { tenant: 'a' });
    await until('the first request is under way', () => ofA.requests.length === 1);
    expect(await envelopeOf(tool, { tenant: 'b' })).toEqual({ ok: true, result: 'of b' });
    expect(await slow).toEqual({ ok: true, result: 'of a' });
  });

  it('serves a run to its end, though so many other tenants follow that its connections are not kept', async () => {
    const { proxy, moves } = await aSlowProxy();
    await using ofA = proxy;
    await using others = await startPeer(json('of another'));
    const tool = toolFor((tenant) =>
      tenant === 'a' ? ofA.url : others.url.replace('//', `//${tenant}:hush-hush@`),
    );
    const slow = envelopeOf(tool, { tenant: 'a' });
    await until('the first request is under way', () => ofA.requests.length === 1);
    for (let nth = 0; nth < 40; nth += 1)
      expect(await envelopeOf(tool, { tenant: `t${nth}` })).toMatchObject({ ok: true });
    moves();
    expect(await slow).toEqual({ ok: true, result: 'of a' });
    // Then its connection is closed, long before it would have been idle for too long.
    await until('its connection is closed', () => ofA.sockets.open === 0, { timeoutMs: 2_000 });
  });

  it('keeps its connection while tenants take turns', async () => {
    await using ofA = await startPeer(json('a'));
    await using ofB = await startPeer(json('b'));
    const tool = toolFor((tenant) => (tenant === 'a' ? ofA : ofB).url);
    for (const tenant of ['a', 'b', 'a', 'b']) {
      expect(await envelopeOf(tool, { tenant })).toEqual({ ok: true, result: tenant });
      // A connection is free a moment after its answer was read.
      await new Promise(setImmediate);
    }
    expect([ofA.sockets.opened, ofB.sockets.opened]).toEqual([1, 1]);
  });
});

describe('a proxy before a service that speaks TLS', () => {
  const answer: RequestListener = (request, response) => {
    const { authorization, 'proxy-authorization': password } = request.headers;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ by: request.method, known: authorization === TOKEN, password }));
  };

  it('tunnels: it sees the host alone, and the service sees no password of the proxy', {
    ...promise('G143'),
  }, async () => {
    trustCertificate();
    vi.stubEnv('API_TOKEN', TOKEN);
    await using proxy = await startProxy();
    await using peer = await startTlsPeer(answer);
    vi.stubEnv('PROXY_URL', proxy.url.replace('//', '//user:hush-hush@'));
    const tool = toolOf(`https://api.test.invalid:${peer.port}/orders`, {
      proxy: secret('PROXY_URL'),
      headers: { authorization: secret('API_TOKEN') },
      allowPrivate: undefined,
    });
    expect(await envelopeOf(tool)).toEqual({ ok: true, result: { by: 'GET', known: true } });
    expect(proxy.seen).toEqual([`CONNECT api.test.invalid:${peer.port}`]);
    expect(proxy.keys).toEqual([`Basic ${btoa('user:hush-hush')}`]);
    expect(proxy.tunnelled().length).toBeGreaterThan(0);
    expect(proxy.tunnelled()).not.toContain(TOKEN);
    expect(proxy.tunnelled()).not.toContain('/orders');
  });

  it('is that of the environment where the tool says so', async () => {
    trustCertificate();
    await using proxy = await startProxy();
    await using peer = await startTlsPeer(answer);
    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, proxy.url);
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, 'localhost');
    const over = { proxy: 'environment', method: 'POST' };
    const far = toolOf(`https://api.test.invalid:${peer.port}/`, over);
    expect(await envelopeOf(far)).toMatchObject({ ok: true, result: { by: 'POST' } });
    const near = toolOf(`https://localhost:${peer.port}/`, over);
    expect(await envelopeOf(near)).toMatchObject({ ok: true });
    expect(proxy.seen).toEqual([`CONNECT api.test.invalid:${peer.port}`]);
  });

  it('does not make a service with an unknown certificate trusted', async () => {
    await using proxy = await startProxy();
    await using peer = await startTlsPeer(answer);
    const tool = toolOf(`https://api.test.invalid:${peer.port}/`, { proxy: proxy.url });
    expect(await errorOf(tool)).toMatch(/certificate/i);
    expect(proxy.seen).toHaveLength(1);
  });

  it.each(['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway'])(
    'that refuses the tunnel (%s) is reported: nothing was sent, and no password is shown',
    promise('G143'),
    async (refusal) => {
      trustCertificate();
      await using proxy = await startProxy(refusal);
      vi.stubEnv('PROXY_URL', proxy.url.replace('//', '//user:hush-hush@'));
      const over = { proxy: secret('PROXY_URL'), method: 'POST' };
      expect(await errorOf(toolOf('https://api.test.invalid/', over))).toBe(
        `api.test.invalid: the proxy refused the connection (HTTP ${refusal.slice(0, 3)}); the request was not sent`,
      );
      expect(proxy.seen.every((line) => line === 'CONNECT api.test.invalid:443')).toBe(true);
    },
  );

  it('is not asked for addresses that are forbidden to the tool', async () => {
    await using proxy = await startProxy();
    const over = { proxy: proxy.url, allowPrivate: undefined };
    for (const url of ['https://169.254.169.254/', 'https://[::1]/', 'https://10.0.0.1/'])
      expect(await errorOf(toolOf(url, over))).toContain('has no address that');
    expect(proxy.seen).toEqual([]);
  });
});

describe('a process whose environment sets its proxy and a certificate', () => {
  it('reaches services of HTTP tools, MCP servers and models through it', {
    ...promise('G143'),
    timeout: patient(CHILD_TIMEOUT_MS),
  }, async () => {
    await using proxy = await startProxy();
    const mcp = createMcpHandler(() => kitServer(mcpLedger()));
    onTestFinished(() => mcp.close());
    const serveMcp = toNodeHandler(mcp);
    await using peer = await startTlsPeer((request, response) => {
      if (request.url === '/mcp') void serveMcp(request as never, response);
      else if (request.url === '/v1/chat/completions') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of chatEvents({ text: 'By proxy.' }))
          response.write(`data: ${JSON.stringify(event)}\n\n`);
        response.end('data: [DONE]\n\n');
      } else response.writeHead(200, { 'content-type': 'application/json' }).end('"found"');
    });
    const folder = mkdtempSync(join(tmpdir(), 'colloquy-ca-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const file = join(folder, 'ca.pem');
    writeFileSync(file, CERTIFICATE);
    const host = `all.test.invalid:${peer.port}`;
    const child = startChild(CHILD, [`https://${host}`], {
      NODE_EXTRA_CA_CERTS: file,
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxy.url,
    });
    expect(await child.ended, child.errors.join('\n')).toBe(0);
    expect(child.lines).toEqual([
      {
        http: { ok: true, result: 'found' },
        tools: expect.arrayContaining(['kit.search', 'kit.push']) as unknown,
        text: 'By proxy.',
      },
    ]);
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${host}`]));
    expect(proxy.seen.length).toBeGreaterThanOrEqual(3);
  });
});
