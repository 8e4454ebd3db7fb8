/** Redirects and proxies of HTTP tools. */

import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpTool, jsonSchema, secret } from '../../../../src/index.js';
import {
  type Answer,
  envelopeOf,
  errorOf,
  json,
  type Peer,
  startPeer,
} from '../../../support/http-peer.js';

const open = jsonSchema<Record<string, never>>({ type: 'object' });
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

/** Answers `/n` with a redirect to where the test says, and anything else with what was asked. */
function to(location: (path: string) => string | undefined, status = 302): Answer {
  return (request, response) => {
    const target = location(request.target);
    if (target === undefined) json({ at: request.target, by: request.method })(request, response);
    else response.writeHead(status, { location: target }).end();
  };
}

const once = (target: string, status?: number) =>
  to((path) => (path === '/' ? target : undefined), status);

describe('a redirect', () => {
  it('is followed up to five times', async () => {
    await using peer = await startPeer(
      to((path) => (Number(path.slice(1)) < 5 ? `/${Number(path.slice(1)) + 1}` : undefined)),
    );
    expect(await envelopeOf(toolOf(`${peer.url}/0`))).toMatchObject({ result: { at: '/5' } });
    await using endless = await startPeer(to((path) => `${path}x`));
    expect(await errorOf(toolOf(`${endless.url}/`))).toMatch(
      /more than 5 redirects; the last was not followed$/,
    );
    expect(endless.requests).toHaveLength(6);
  });

  it('is an answer like any other where none is to be followed', async () => {
    await using peer = await startPeer(once('/x'));
    expect(await errorOf(toolOf(peer.url, { maxRedirects: 0 }))).toBe('HTTP 302 Found');
  });

  it.each([
    [303, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [301, 'POST', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
    [302, 'PUT', 'PUT'],
    [303, 'DELETE', 'GET'],
  ])(
    '%i of a %s goes on as a %s, with the body only where that stays the same',
    async (status, method, then) => {
      await using peer = await startPeer(once('/there', status));
      await envelopeOf(toolOf(peer.url, { method, body: () => ({ a: 1 }) }));
      expect(peer.requests[1]).toMatchObject({
        method: then,
        target: '/there',
        body: then === 'GET' ? '' : '{"a":1}',
      });
    },
  );

  it('to another origin takes no secret, no key and no body along', async () => {
    vi.stubEnv('X_TOKEN', 'hush-hush');
    await using other = await startPeer(json('there'));
    await using peer = await startPeer(once(`${other.url}/there`, 303));
    const over = {
      method: 'POST',
      body: () => ({ a: 1 }),
      headers: { authorization: secret('X_TOKEN'), 'x-plain': 'mine' },
      fixedQuery: { key: secret('X_TOKEN') },
    };
    // With its key in the query, the first request is not for `/`.
    await using asked = await startPeer((_request, response) => {
      response.writeHead(303, { location: `${other.url}/there` }).end();
    });
    expect(await envelopeOf(toolOf(asked.url, over))).toMatchObject({ ok: true });
    expect(asked.requests[0]).toMatchObject({
      target: '/?key=hush-hush',
      headers: { authorization: 'hush-hush' },
    });
    expect(JSON.stringify(other.requests)).not.toContain('hush-hush');
    const names = Object.keys(other.requests[0]?.headers ?? {});
    for (const name of ['authorization', 'x-plain', 'idempotency-key', 'content-type'])
      expect(names).not.toContain(name);
    expect(peer.requests).toEqual([]);
  });

  it('of a body to another origin is not followed', async () => {
    await using other = await startPeer(json('there'));
    await using peer = await startPeer(once(`${other.url}/there`, 307));
    expect(await errorOf(toolOf(peer.url, { method: 'POST' }))).toMatch(
      /redirects a POST to another origin, 127\.0\.0\.1:\d+, which is not followed$/,
    );
    expect(other.requests).toEqual([]);
  });

  it.each([
    ['an address of a cloud', 'http://169.254.169.254/latest/meta-data/', 'has no address that'],
    ['an address that is not listed', 'http://127.0.0.2/', 'has no address that'],
    ['another address of this machine', 'http://[::1]:8999/', 'has no address that'],
    ['a file', 'file:///etc/passwd', 'redirects to file:, which is not followed'],
    ['data', 'data:application/json,1', 'redirects to data:, which is not followed'],
    ['a URL with a password', 'http://a:b@127.0.0.1/', 'with a password, which is not followed'],
    ['no URL', 'http://[', 'redirects to something that is no URL'],
  ])('to %s is refused', async (_what, target, rule) => {
    await using peer = await startPeer(once(target));
    expect(await errorOf(toolOf(peer.url, { allowPrivate: ['127.0.0.1'] }))).toContain(rule);
  });
});

/** A proxy that forwards, and tunnels; it has a password. */
async function startProxy(): Promise<
  Pick<Peer, 'url'> & { readonly seen: string[]; readonly keys: unknown[] } & AsyncDisposable
> {
  const seen: string[] = [];
  const keys: unknown[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    keys.push(request.headers['proxy-authorization']);
    response.writeHead(200, { 'content-type': 'application/json' }).end('"by proxy"');
  });
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url ?? ''}`);
    keys.push(request.headers['proxy-authorization']);
    const port = Number((request.url ?? '').split(':').at(-1));
    const up = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      up.pipe(socket).pipe(up);
    });
    for (const it of [up, socket]) it.on('error', () => undefined);
  });
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    keys,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

describe('a proxy', () => {
  it('is used where the tool names it, with its password from a secret', async () => {
    await using proxy = await startProxy();
    vi.stubEnv('PROXY_URL', proxy.url.replace('//', '//user:hush-hush@'));
    const over = { proxy: secret('PROXY_URL'), allowPrivate: undefined };
    // The name is the proxy's to look up.
    expect(await envelopeOf(toolOf('http://api.invalid/x', over))).toMatchObject({ ok: true });
    expect(proxy.seen).toEqual(['GET http://api.invalid/x']);
    expect(proxy.keys).toEqual([`Basic ${btoa('user:hush-hush')}`]);
  });

  it('is used where the environment names it, but for what that excepts', async () => {
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
    // What goes around the proxy is checked as ever.
    const guarded = { ...over, allowPrivate: undefined };
    expect(await errorOf(toolOf(peer.url, guarded))).toContain('has no address that');
  });

  it('does not reach addresses that the tool may not: they stand in the URL', async () => {
    await using proxy = await startProxy();
    const over = { proxy: proxy.url, allowPrivate: undefined };
    for (const url of ['http://169.254.169.254/', 'http://[::1]/', 'http://10.0.0.1/'])
      expect(await errorOf(toolOf(url, over))).toContain('has no address that');
    expect(proxy.seen).toEqual([]);
  });
});
