/** Values that are too large for their events, over HTTP. */
import { describe, expect, it } from 'vitest';
import { auditText } from '../../../src/protocol/model/audits.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const KEY = { tenant: 'default', conversationId: 'c-1' };
const TEXT = '{"name":"漢字","rows":[1,2,3]}';

async function withBlob(): Promise<{ app: HttpApp; id: string; path: string }> {
  const { blobs } = await openSqliteStores({ file: ':memory:' });
  const content = Buffer.from(TEXT);
  const { id } = await blobs.put(KEY, { type: 'application/json', content });
  const app = await startHttpApp({}, {}, { blobs });
  return { app, id, path: `/v1/conversations/c-1/blobs/${id}` };
}

describe('a stored value', () => {
  it(
    'is returned whole, with its type, and never as a page to display',
    promise('G271'),
    async () => {
      const { app, path } = await withBlob();
      const response = await app.request(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('content-disposition')).toBe('attachment');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('accept-ranges')).toBe('bytes');
      expect(await response.text()).toBe(TEXT);
    },
  );

  it.each([
    ['bytes=0-7', '{"name":', 'bytes 0-7/32'],
    ['bytes=-3', '3]}', 'bytes 29-31/32'],
    ['bytes=29-999', '3]}', 'bytes 29-31/32'],
  ])('is returned in part for Range: %s', async (range, text, contentRange) => {
    const { app, path } = await withBlob();
    const response = await app.request(path, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(await response.text()).toBe(text);
  });

  it('reports its size for a range beyond it, and ignores ranges that are not of bytes', async () => {
    const { app, path } = await withBlob();
    const beyond = await app.request(path, { headers: { range: 'bytes=99-100' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */32']);
    const lines = await app.request(path, { headers: { range: 'lines=1-2' } });
    expect([lines.status, await lines.text()]).toEqual([200, TEXT]);
  });

  it.each([{}, { range: 'bytes=0-7' }, { 'if-none-match': '"x"' }])(
    'that is the audit of a model call is unknown to a caller bound to the conversation: %j',
    promise('G397'),
    async (headers) => {
      const { blobs } = await openSqliteStores({ file: ':memory:' });
      const put = async (text: string) => {
        const content = Buffer.from(text);
        const { id } = await blobs.put(KEY, { type: 'application/json', content });
        return `/v1/conversations/c-1/blobs/${id}`;
      };
      const call = { turnId: 't', step: 1, attempt: 1, purpose: 'answer', outcome: 'answered' };
      const audit = await put(auditText(call, { request: { system: 'Instructions.' } }));
      const value = await put(TEXT);
      const bound = await startHttpApp(
        {},
        { identify: () => ({ ...TESTING, conversation: 'c-1' }) },
        { blobs },
      );
      const unbound = await startHttpApp({}, {}, { blobs });
      const refused = await bound.request(audit, { headers });
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({ code: 'unknown_blob' });
      expect((await bound.request(value, { headers })).status).toBeLessThan(300);
      expect((await unbound.request(audit, { headers })).status).toBeLessThan(300);
    },
  );

  it('is 404 for every other conversation, for another id, and without a store', {
    ...promise('G280'),
  }, async () => {
    const { app, id } = await withBlob();
    const unconfigured = await startHttpApp();
    const answers = await Promise.all([
      app.request(`/v1/conversations/c-2/blobs/${id}`),
      app.request(`/v1/conversations/c-1/blobs/${'f'.repeat(64)}`),
      app.request('/v1/conversations/c-1/blobs/..%2F..%2Fetc'),
      unconfigured.request(`/v1/conversations/c-1/blobs/${id}`),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'unknown_blob' });
    }
  });

  it('is 503 while the store is down', async () => {
    const { blobs } = await openSqliteStores({ file: ':memory:' });
    const app = await startHttpApp({}, {}, { blobs });
    await blobs.close();
    const response = await app.request(`/v1/conversations/c-1/blobs/${'f'.repeat(64)}`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a file', () => {
  const upload = async (app: HttpApp, body: Uint8Array | undefined, type = 'image/png') =>
    app.request('/v1/conversations/c-1/blobs', {
      method: 'POST',
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    });

  it('is stored for the messages of its conversation, once, with any type', async () => {
    const { blobs } = await openSqliteStores({ file: ':memory:' });
    const app = await startHttpApp({}, {}, { blobs });
    const bytes = Uint8Array.of(0x89, 0x50, 0x00, 0xff);
    const first = await upload(app, bytes);
    const { blob } = (await first.json()) as { blob: { id: string } };
    expect(first.status).toBe(201);
    expect(blob).toMatchObject({ bytes: 4, type: 'application/octet-stream' });
    const path = `/v1/conversations/c-1/blobs/${blob.id}`;
    expect(first.headers.get('location')).toBe(path);
    expect(new Uint8Array(await (await app.request(path)).arrayBuffer())).toEqual(bytes);
    // Not parsed, although its type is JSON.
    const second = await upload(app, bytes, 'application/json');
    expect(await second.json()).toEqual({ blob });
    expect((await app.request(`/v1/conversations/c-2/blobs/${blob.id}`)).status).toBe(404);
  });

  it.each([
    ['nothing', undefined, 422, 'invalid_request'],
    ['more than 16 MiB', new Uint8Array(16 * 1024 * 1024 + 1), 413, 'body_too_large'],
  ])('of %s is refused', async (_what, body, status, code) => {
    const { blobs } = await openSqliteStores({ file: ':memory:' });
    const app = await startHttpApp({}, {}, { blobs });
    const answer = await upload(app, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
  });

  it('cannot be stored without a store, and other methods on the path get the allowed ones', async () => {
    const app = await startHttpApp();
    const answer = await upload(app, Uint8Array.of(1));
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { code: 'store_unavailable', detail: 'No blob store is configured here' },
    ]);
    const listed = await app.request('/v1/conversations/c-1/blobs');
    expect([listed.status, listed.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});
