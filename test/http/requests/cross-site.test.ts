/** Headers that browsers send for pages of other sites, and headers of other clients. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import {
  CLOSE,
  EVENTS,
  EVIL,
  passes,
  send,
  withConversation,
} from '../../support/servers/browser-requests.js';

const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

describe('without authentication, a request', () => {
  it.each([
    ['localhost:8080', true],
    ['LOCALHOST', true],
    ['colloquy.localhost:8080', true],
    ['127.0.0.1', true],
    ['127.8.9.10:1', true],
    ['[::1]:8080', true],
    ['[0:0:0:0:0:0:0:1]', true],
    ['evil.example', false],
    ['evil.example:8080', false],
    ['localhost.evil.example', false],
    ['evillocalhost', false],
    ['127.0.0.1.evil.example', false],
    ['127.0.0.1@evil.example', false],
    ['evil.example/@localhost', false],
    ['localhost, evil.example', false],
    ['192.168.1.5:8080', false],
    ['0.0.0.0:8080', false],
    ['[fe80::1]', false],
  ])('with Host "%s" passes: %s', promise('G132'), async (host, expected) => {
    const app = await withConversation();
    for (const [method, path] of [
      ['GET', '/healthz'],
      ['GET', EVENTS],
      ['POST', CLOSE],
    ] as const)
      expect(await passes(app, { method, path, headers: { host } })).toBe(expected);
  });

  it.each([
    // Requests of curl, webhooks and programs.
    ['without any of these headers', {}, true],
    ['of fetch in Node, with its mode only', { 'sec-fetch-mode': 'cors' }, true],
    // Requests of current browsers.
    ['of a page of the API', { 'sec-fetch-site': 'same-origin', origin: 'http://HOST' }, true],
    ['that its user made', { 'sec-fetch-site': 'none' }, true],
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: EVIL }, false],
    ['of another site, without its name', { 'sec-fetch-site': 'cross-site' }, false],
    [
      'of another site with a null origin',
      { 'sec-fetch-site': 'cross-site', origin: 'null' },
      false,
    ],
    [
      'of another port of this machine',
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' },
      false,
    ],
    ['of an unknown site value', { 'sec-fetch-site': 'elsewhere' }, false],
    ['of two words', { 'sec-fetch-site': ['none', 'cross-site'] }, false],
    [
      'of another site in a frame',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
    // Requests of browsers that send only the origin.
    ['with the origin of the API', { origin: 'http://HOST' }, true],
    ['with the origin of the API behind TLS', { origin: 'https://HOST' }, true],
    ['with another origin', { origin: EVIL }, false],
    ['with the origin of another port', { origin: 'http://127.0.0.1:3000' }, false],
    ['with the origin of another name', { origin: 'http://localhost:PORT' }, false],
    ['with a hidden origin', { origin: 'null' }, false],
    ['with the origin of a file', { origin: 'file://' }, false],
  ])('%s passes or is refused on every route', promise('G132'), async (_what, given, expected) => {
    const app = await withConversation();
    const { port } = app.server;
    const headers = Object.fromEntries(
      Object.entries(given as Record<string, string | string[]>).map(([name, value]) => [
        name,
        typeof value === 'string'
          ? value.replace('HOST', `127.0.0.1:${port}`).replace('PORT', String(port))
          : value,
      ]),
    );
    for (const [method, path] of [
      ['POST', CLOSE],
      ['POST', '/v1/conversations/c-1/cancel'],
      ['DELETE', '/v1/conversations/c-1'],
      ['GET', EVENTS],
      ['HEAD', EVENTS],
      ['OPTIONS', CLOSE],
    ] as const)
      expect(await passes(app, { method, path, headers })).toBe(expected);
    if (!expected) expect(app.calls).toEqual([]);
  });

  it('on a default port has the origin without that port', async () => {
    const app = await withConversation();
    for (const [origin, host, expected] of [
      ['http://localhost', 'localhost:80', true],
      ['http://localhost:80', 'localhost', true],
      ['https://localhost', 'localhost:443', true],
      ['https://localhost', 'localhost:80', false],
      ['http://localhost', 'LOCALHOST', true],
    ] as const)
      expect(await passes(app, { headers: { origin, host } })).toBe(expected);
  });

  it('that follows a link passes; one that submits a form, or has another method, does not', async () => {
    const app = await withConversation();
    const headers = { 'sec-fetch-site': 'cross-site', ...NAVIGATION };
    expect(await passes(app, { method: 'GET', path: EVENTS, headers })).toBe(true);
    expect(await passes(app, { method: 'POST', headers })).toBe(false);
    expect(await passes(app, { method: 'DELETE', headers })).toBe(false);
    expect(app.calls).toEqual([]);
  });

  it('for an event stream or a socket follows the same rules', promise('G132'), async () => {
    const app = await withConversation();
    const stream = { accept: 'text/event-stream', origin: EVIL };
    expect(await passes(app, { method: 'GET', path: EVENTS, headers: stream })).toBe(false);
    const socket = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      origin: EVIL,
    };
    expect(await passes(app, { method: 'GET', path: EVENTS, headers: socket })).toBe(false);
  });

  it.each([
    ['HTTP/1.0 without a Host, a probe', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['an empty Host', 'GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 421],
  ])('of %s is answered', async (_what, request, status) => {
    const { server } = await withConversation();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(request);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('of another origin is not admitted by other headers with a host, nor by a token', async () => {
    const app = await withConversation();
    const names = { 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' };
    expect(await passes(app, { headers: { host: 'evil.example', ...names } })).toBe(false);
    const { host } = new URL(EVIL);
    expect(await passes(app, { headers: { origin: EVIL, 'x-forwarded-host': host } })).toBe(false);
    const headers = { 'sec-fetch-site': 'cross-site', origin: EVIL, authorization: 'Bearer x' };
    expect(await passes(app, { headers })).toBe(false);
  });

  it('of fetch in Node passes', async () => {
    const app = await withConversation();
    expect((await app.request('/healthz')).status).toBe(200);
    expect((await app.request(EVENTS)).status).toBe(200);
  });
});

describe('a refusal', () => {
  it('is a problem that names the header, the rule and the remedy', promise('G132'), async () => {
    const app = await withConversation();
    const host = await send(app.server.port, { headers: { host: 'evil.example' } });
    expect(host.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    const rule = 'must be localhost or a loopback address while no identity is configured';
    const message = `${rule}, got "evil.example"`;
    expect(JSON.parse(host.body)).toEqual({
      type: 'urn:colloquy:problem:host_not_allowed',
      title: 'Host not allowed',
      status: 421,
      code: 'host_not_allowed',
      detail: `Host ${message}. Another name is allowed by COLLOQUY_ALLOWED_HOSTS or createApp({ allowedHosts })`,
      errors: [{ path: 'Host', message }],
    });
    for (const [header, headers] of [
      ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
      ['Origin', { origin: EVIL }],
    ] as const) {
      const { status, body } = await send(app.server.port, { headers });
      expect(status).toBe(403);
      expect(JSON.parse(body)).toMatchObject({
        code: 'origin_not_allowed',
        errors: [{ path: header }],
      });
    }
    expect(app.calls).toEqual([]);
  });

  it('is logged once for each page, and for at most a hundred of them', async () => {
    const app = await withConversation();
    const { port } = app.server;
    const warned = (): object[] => app.logged.filter((line) => 'header' in line);
    const headers = { 'sec-fetch-site': 'cross-site', origin: EVIL };
    for (let time = 0; time < 3; time++) await send(port, { headers });
    expect(warned()).toEqual([
      {
        header: 'Sec-Fetch-Site',
        value: 'cross-site',
        method: 'POST',
        path: CLOSE,
        origin: EVIL,
      },
    ]);
    for (let page = 0; page < 120; page++)
      await send(port, { headers: { ...headers, origin: `http://${page}.evil.example` } });
    expect(warned()).toHaveLength(100);
    expect(app.logged.filter((line) => 'status' in line && line.status === 403)).toHaveLength(123);
  });
});
