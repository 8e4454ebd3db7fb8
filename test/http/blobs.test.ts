/** Values that are too large for their events, over HTTP. */
import { describe, expect, it } from 'vitest';
import { openSqliteStores } from '../../src/store/sqlite.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

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
  it('is given whole, with its type, and never as a page to look at', async () => {
    const { app, path } = await withBlob();
    const response = await app.request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(await response.text()).toBe(TEXT);
  });

  it.each([
    ['bytes=0-7', '{"name":', 'bytes 0-7/32'],
    ['bytes=-3', '3]}', 'bytes 29-31/32'],
    ['bytes=29-999', '3]}', 'bytes 29-31/32'],
  ])('is given in part for Range: %s', async (range, text, contentRange) => {
    const { app, path } = await withBlob();
    const response = await app.request(path, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(await response.text()).toBe(text);
  });

  it('says how large it is when a range lies beyond it, and passes over what is no range of bytes', async () => {
    const { app, path } = await withBlob();
    const beyond = await app.request(path, { headers: { range: 'bytes=99-100' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */32']);
    const lines = await app.request(path, { headers: { range: 'lines=1-2' } });
    expect([lines.status, await lines.text()]).toEqual([200, TEXT]);
  });

  it('is 404 for every other conversation, for another id, and where no store is configured', async () => {
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

  it('is 503 while the store is away', async () => {
    const { blobs } = await openSqliteStores({ file: ':memory:' });
    const app = await startHttpApp({}, {}, { blobs });
    await blobs.close();
    const response = await app.request(`/v1/conversations/c-1/blobs/${'f'.repeat(64)}`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'store_unavailable' });
  });
});
