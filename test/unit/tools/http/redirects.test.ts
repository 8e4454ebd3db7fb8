/** Redirects of HTTP tools. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpTool, jsonSchema, secret } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import {
  type Answer,
  envelopeOf,
  errorOf,
  json,
  startPeer,
} from '../../../support/servers/http-peer.js';

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

/** Answers `/n` with a redirect as the test sets it, and every other path with an echo of the request. */
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

  it('is an answer like any other where the tool follows none', async () => {
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
    '%i of a %s continues as a %s, with the body only where that stays the same',
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

  it('to another origin carries no secret, no key and no body along', async () => {
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
    ['no URL', 'http://[', 'redirects to an invalid URL'],
  ])('to %s is refused', promise('G136'), async (_what, target, rule) => {
    await using peer = await startPeer(once(target));
    expect(await errorOf(toolOf(peer.url, { allowPrivate: ['127.0.0.1'] }))).toContain(rule);
  });
});
