/** Bodies that cannot be read: refused by the API, which stays up. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { JSON_TYPE, problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';

describe('a body that cannot be read', () => {
  const post = (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = JSON_TYPE,
  ): RequestInit => ({
    method: 'POST',
    headers,
    body,
  });
  it.each<[string, RequestInit, number, string, string]>([
    ['malformed JSON', post('{"agent":'), 400, 'malformed_json', 'The body is not JSON'],
    [
      'JSON of the wrong character set',
      post('{}', { 'content-type': 'application/json; charset=latin9' }),
      415,
      'unsupported_media_type',
      'unsupported charset',
    ],
    [
      'a form',
      post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
      '"application/x-www-form-urlencoded"',
    ],
    [
      'plain text',
      post('hello', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
      'application/json',
    ],
    ['bytes without a type', post(new Uint8Array([1, 2])), 400, 'malformed_json', 'not JSON'],
    [
      'an unknown encoding',
      post('{}', { ...JSON_TYPE, 'content-encoding': 'zstd-x' }),
      415,
      'unsupported_media_type',
      'encoding',
    ],
    [
      'a broken gzip',
      post('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      400,
      'malformed_json',
      'cannot be read',
    ],
    [
      '5 MB',
      post(JSON.stringify({ agent: 'support', message: 'x'.repeat(5_000_000) })),
      413,
      'body_too_large',
      '524288 bytes',
    ],
  ])('%s is refused', async (_what, init, status, code, detail) => {
    const app = await startHttpApp();
    const problem = await problemOf(await app.request('/v1/conversations', init));
    expect(problem).toMatchObject({ status, code });
    expect(problem.detail).toContain(detail);
    expect((await app.request('/healthz')).status).toBe(200);
  });
});

describe('a small body that becomes 64 MB', () => {
  const text = JSON.stringify({ agent: 'support', message: 'x'.repeat(64_000_000) });
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])(
    'by %s is refused at the size limit of its route',
    promise('G285'),
    async (encoding, compress) => {
      const app = await startHttpApp({}, { codec: { codecs: [], origins: [] } });
      const body = Uint8Array.from(compress(text));
      for (const [path, bound] of [
        ['/v1/conversations', '524288 bytes'],
        ['/codec/decode', '8388608 bytes'],
      ] as const) {
        const headers = { ...JSON_TYPE, 'content-encoding': encoding };
        const problem = await problemOf(await app.request(path, { method: 'POST', headers, body }));
        expect(problem).toMatchObject({ status: 413, code: 'body_too_large' });
        expect(problem.detail).toContain(bound);
      }
    },
  );
});

describe('a body with an unpaired surrogate', () => {
  const LONE = JSON.parse('"\\ud800"') as string;
  it.each<[string, string, object]>([
    ['/message', '/v1/conversations', { agent: 'support', message: `x${LONE}` }],
    ['/text', '/v1/conversations/c1/messages', { text: LONE }],
    ['/actor/name', '/v1/conversations/c1/cancel', { actor: { id: 'ann', name: LONE } }],
    [
      '/resolution/value/size',
      '/v1/conversations/c1/tool-calls/call_1/resolution',
      { resolution: { type: 'answer', value: { size: LONE } } },
    ],
    ['/payload/0', '/v1/conversations/c1/inbox', { eventId: 'e', kind: 'k', payload: [LONE] }],
  ])(
    'is refused by its field, and nothing is sent: %s',
    promise('G246'),
    async (path, url, body) => {
      const app = await startHttpApp();
      const problem = await problemOf(await app.post(url, body));
      expect(problem).toMatchObject({ code: 'invalid_request', errors: [{ path }] });
      expect(problem.detail).toContain('surrogate');
      expect(app.calls).toEqual([]);
    },
  );
});
