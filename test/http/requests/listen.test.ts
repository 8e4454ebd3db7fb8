import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../src/http/listen.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

describe('the server', () => {
  it('reports a port that is taken and how to choose another', async () => {
    const { server } = await startHttpApp();
    await expect(serve(() => undefined, { port: server.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringMatching(
        new RegExp(`Port ${server.port} on 127.0.0.1 is taken.*PORT=${server.port + 1}`),
      ) as string,
    });
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org'])(
    'refuses to serve on %s without authentication',
    async (host) => {
      await expect(serve(() => undefined, { port: 0, host })).rejects.toMatchObject({
        code: 'not_loopback',
      });
    },
  );

  it('is closed as soon as its last request is answered, even if clients keep connections open', async () => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1'));
    const headers = { accept: 'text/event-stream' };
    const stream = await app.request('/v1/conversations/c-1/events', { headers });
    await (await app.request('/healthz')).text();
    const startedAt = performance.now();
    await app.server.close();
    expect(performance.now() - startedAt).toBeLessThan(400);
    expect(await stream.text()).toContain('id: 1-9');
  });

  it('closes once, also when asked twice', async () => {
    const { server } = await startHttpApp();
    await Promise.all([server.close(), server.close()]);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  it('is not ready from the begin of its end, and serves on for as long as it is given', async () => {
    const { server, request } = await startHttpApp({}, {}, { drainMs: 200 });
    expect((await request('/readyz')).status).toBe(200);
    const closed = server.close();
    const draining = await request('/readyz');
    expect([draining.status, await draining.json()]).toEqual([
      503,
      { status: 'not_ready', checks: { api: 'draining: the process stops' } },
    ]);
    expect((await request('/v1/conversations')).status).toBe(200);
    await closed;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});

describe('requests that cannot be read', () => {
  /** The whole answer to raw bytes. */
  async function answerTo(bytes: string): Promise<string> {
    const { server } = await startHttpApp();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(bytes);
    return await text(socket);
  }

  it.each([
    [
      'a header that is too large',
      `GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'malformed_request'],
  ])('get a problem document: %s', async (_what, bytes, status, code) => {
    const answer = await answerTo(bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain('Connection: close');
    expect(JSON.parse(body)).toMatchObject({ status, code, type: `urn:colloquy:problem:${code}` });
  });

  it('get none inside a stream that is open on the connection', async () => {
    const { server, reader } = await startHttpApp();
    reader.add('c-1', sampleLog('c-1'));
    const socket = connect(server.port, '127.0.0.1');
    const head = [
      'GET /v1/conversations/c-1/events HTTP/1.1',
      'host: 127.0.0.1',
      'accept: text/event-stream',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.once('data', () => socket.write('hello\r\n\r\n'));
    const answer = await text(socket).catch(String);
    expect(answer).not.toContain('malformed_request');
  });
});
