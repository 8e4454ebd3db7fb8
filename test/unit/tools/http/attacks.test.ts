/** Attacks of a hostile service, or a hostile argument, on an HTTP tool, beyond those that HTTP itself rules out. */
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpTool, jsonSchema, secret } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import {
  envelopeOf,
  errorOf,
  json,
  runHttpTool,
  startPeer,
} from '../../../support/servers/http-peer.js';
import { until } from '../../../support/until.js';

const open = jsonSchema<Record<string, never>>({ type: 'object' });
afterEach(() => {
  vi.unstubAllEnvs();
});

function toolOf(url: string, over: Readonly<Record<string, unknown>> = {}) {
  const fields = { name: 'x.get', description: 'Gets x.', input: open } as const;
  return httpTool({ ...fields, allowPrivate: ['127.0.0.1'], method: 'GET', url, ...over });
}

/** Answers every request with these bytes, and hangs up where it says so. */
async function startRaw(answer: string | Buffer, thenEnds = false) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (thenEnds) socket.end(answer);
      else socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/`,
    sockets,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const head = (...lines: readonly string[]): string =>
  `${['HTTP/1.1 200 OK', 'content-type: application/json', ...lines].join('\r\n')}\r\n\r\n`;

describe("a redirect into the worker's network", () => {
  it.each([
    ['in decimal', 'http://2130706434/'],
    ['in octal', 'http://0177.0.0.2/'],
    ['in hexadecimal', 'http://0x7f.0.0.2/'],
    ['in short', 'http://127.2/'],
    ['in wide letters', 'http://\uff11\uff12\uff17.\uff10.\uff10.\uff12/'],
    ['in circles', 'http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2461/'],
    ['with a dot behind', 'http://127.0.0.2./'],
    ['mapped', 'http://[::ffff:127.0.0.2]/'],
    ['mapped, in hexadecimal', 'http://[::ffff:7f00:2]/'],
    ['by NAT64', 'http://[64:ff9b::7f00:2]/'],
    ['by 6to4', 'http://[2002:7f00:2::]/'],
    ['to nowhere', 'http://0.0.0.0/'],
    ['to the network itself', 'http://[::]/'],
    ['without a scheme', '//127.0.0.2/'],
    ['with backslashes', '\\\\127.0.0.2\\'],
    ['with a line end', 'http://127.0.\t0.2/'],
  ])('%s is refused', promise('G140'), async (_how, target) => {
    const location = target.replaceAll(/[\u0080-\uffff]/g, encodeURIComponent);
    await using service = await startRaw(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n`);
    expect(await errorOf(toolOf(service.url))).toMatch(/has no address that may be reached$/);
  });

  it('carries no secret along, also where it returns to the first origin', async () => {
    vi.stubEnv('X_TOKEN', 'hush-hush');
    let back = '';
    await using other = await startPeer((_request, response) => {
      response.writeHead(302, { location: back }).end();
    });
    await using service = await startPeer((request, response) => {
      if (request.target === '/there') json('seen')(request, response);
      else response.writeHead(302, { location: `${other.url}/` }).end();
    });
    back = `${service.url}/there`;
    const headers = { authorization: secret('X_TOKEN'), 'x-plain': 'mine' };
    expect(await envelopeOf(toolOf(service.url, { headers }))).toMatchObject({ result: 'seen' });
    expect(service.requests).toHaveLength(2);
    expect(service.requests[1]?.headers).not.toHaveProperty('authorization');
    expect(service.requests[1]?.headers).not.toHaveProperty('x-plain');
  });
});

describe('an answer that lies', () => {
  it.each([
    ['says that it is longer than it is', `${head('content-length: 100')}{"a":1}`, 'was cut'],
    ['says two lengths', `${head('content-length: 7', 'content-length: 9')}{"a":1}`, 'is not HTTP'],
    ['says no length', `${head('content-length: -7')}{"a":1}`, 'is not HTTP'],
    [
      'says a length and comes in chunks',
      `${head('content-length: 7', 'transfer-encoding: chunked')}7\r\n{"a":1}\r\n0\r\n\r\n`,
      'is not HTTP',
    ],
    ['breaks off in its chunks', `${head('transfer-encoding: chunked')}7\r\n{"a"`, 'was cut'],
    ['has chunks that are none', `${head('transfer-encoding: chunked')}x\r\n`, 'is not HTTP'],
    ['is no HTTP', '-ERR unknown command\r\n', 'is not HTTP'],
    [
      'has headers without an end',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`,
      'headers are too large',
    ],
    ['says nothing at all', '', 'was cut'],
  ])('and %s is an error', promise('G140'), async (_how, answer, rule) => {
    await using service = await startRaw(answer, true);
    expect(await errorOf(toolOf(service.url, { effects: 'once' }))).toContain(rule);
  });

  it('and claims to be shorter than it is, ends at the stated length', async () => {
    await using service = await startRaw(`${head('content-length: 7')}{"a":1},{"b":2}`);
    expect(await envelopeOf(toolOf(service.url))).toEqual({ ok: true, result: { a: 1 } });
    expect(await envelopeOf(toolOf(service.url))).toEqual({ ok: true, result: { a: 1 } });
  });

  it('and claims to be huge, is not waited for', async () => {
    await using service = await startRaw(`${head('content-length: 99999999999')}{"a":`);
    expect(await errorOf(toolOf(service.url))).toMatch(/has more than 1048576 bytes$/);
    await until('it is hung up on', () => service.sockets.size === 0);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['gzip, gzip', (content: Buffer) => gzipSync(gzipSync(content))],
  ])(
    'and unfolds from %s without an end is not read past its bound',
    promise('G140'),
    async (encoding, fold) => {
      const bomb = fold(Buffer.alloc(32 * 1024 * 1024, 0x20));
      for (const status of [200, 400]) {
        await using peer = await startPeer((_request, response) => {
          const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
          response.writeHead(status, headers).end(bomb);
        });
        const said = await errorOf(toolOf(peer.url));
        expect(said).toBe(
          status === 200
            ? 'HTTP 200 OK, but its body has more than 1048576 bytes'
            : 'HTTP 400 Bad Request',
        );
      }
    },
  );

  it('and is nested without an end is an error, also where the worker searches it for a secret', {
    ...promise('G140'),
  }, async () => {
    vi.stubEnv('X_TOKEN', 'hush-hush');
    const depth = 400_000;
    await using service = await startRaw(
      `${head(`content-length: ${2 * depth}`)}${'['.repeat(depth)}${']'.repeat(depth)}`,
    );
    const headers = { authorization: secret('X_TOKEN') };
    expect(await errorOf(toolOf(service.url, { headers }))).toMatch(
      /^HTTP 200 OK, but its body is nested deeper than 64 levels/,
    );
  });

  it('and comes a byte at a time ends with the run', async () => {
    await using peer = await startPeer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(timer));
    });
    const end = await runHttpTool(toolOf(peer.url), { timeoutMs: 100 });
    expect(end).toMatchObject({ envelope: { ok: false, error: { code: 'timeout' } } });
    await until('it is hung up on', () => peer.sockets.open === 0);
  });
});

describe('an argument', () => {
  it.each([
    ['another host', '@evil.example/'],
    ['another host, with backslashes', '\\\\evil.example\\'],
    ['another path', '%2e%2e/admin'],
    ['a query', 'x?admin=1'],
    ['a fragment', 'x#y'],
    ['another request', 'x HTTP/1.1\r\nhost: evil.example\r\n\r\nGET /admin'],
    ['half a character', '\ud800'],
  ])('that would make %s stays one value, or is refused', promise('G140'), async (_what, id) => {
    await using peer = await startPeer(json('fine'));
    const tool = toolOf(`${peer.url}/orders/{id}/lines`, { query: [] });
    const envelope = await envelopeOf(tool, { input: { id } });
    expect(peer.requests.length).toBe(envelope.ok ? 1 : 0);
    for (const { target, headers } of peer.requests) {
      expect(target).toBe(`/orders/${encodeURIComponent(id)}/lines`);
      expect(headers.host).toBe(new URL(peer.url).host);
    }
  });
});

describe('a proxy', () => {
  it('with a malformed address is reported without its password', async () => {
    vi.stubEnv('PROXY_URL', 'not a url user:hush-hush');
    const tool = toolOf('http://127.0.0.1:9/', { proxy: secret('PROXY_URL') });
    const said = await errorOf(tool);
    expect(said).toBe('The request was not sent: the address of the proxy is not a URL');
  });
});
