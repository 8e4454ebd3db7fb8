/** Repeats: keys of requests on every route that changes something, and answers that a caller has already. */
import { expect, it } from 'vitest';
import { OPERATIONS } from '../../../src/http/openapi/operations.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const POSTS = OPERATIONS.filter(({ method }) => method === 'post');
const TOO_LONG = 'k'.repeat(300);

it.each(POSTS)(
  '$id takes an Idempotency-Key, and refuses one that is no key',
  async ({ path, idempotent }) => {
    expect(idempotent).toBeDefined();
    const app = await startHttpApp();
    const place = path
      .replace(':id', 'c-1')
      .replace(':callId', 'call_1')
      .replace(':stepId', 'turn_abc_1.1')
      .replace(':triggerId', 't-1');
    const response = await app.post(place, {}, { 'idempotency-key': TOO_LONG });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path: 'Idempotency-Key' }] });
  },
);

it('a conversation is sent again only when it has changed', async () => {
  const app = await startHttpApp();
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  const first = await app.request('/v1/conversations/c-1');
  const tag = first.headers.get('etag') ?? '';
  expect(tag).toMatch(/^"[\w-]+"$/);
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  const again = () => app.request('/v1/conversations/c-1', { headers: { 'if-none-match': tag } });
  const same = await again();
  expect([same.status, await same.text()]).toEqual([304, '']);
  app.reader.add('c-1', sampleLog('c-1'));
  const changed = await again();
  expect(changed.status).toBe(200);
  expect(changed.headers.get('etag')).not.toBe(tag);
});

it('the description is sent once', async () => {
  const { request } = await startHttpApp();
  const tag = (await request('/openapi.json')).headers.get('etag') ?? '';
  const same = await request('/openapi.json', { headers: { 'if-none-match': tag } });
  expect(same.status).toBe(304);
  const other = await request('/openapi.json', { headers: { 'if-none-match': '"other"' } });
  expect(other.status).toBe(200);
});

it('a stored value is sent once, to a caller that may still read it', async () => {
  const content = new TextEncoder().encode('whole');
  const ref = { id: 'b-1', bytes: content.byteLength, type: 'text/plain' };
  let isDeleted = false;
  const lengths: (number | undefined)[] = [];
  const blobs = {
    get: (_key: unknown, _id: string, range?: { readonly length: number }) => {
      lengths.push(range?.length);
      return Promise.resolve(isDeleted ? undefined : { ref, content });
    },
  };
  const app = await startHttpApp({}, {}, { blobs: blobs as never });
  const place = '/v1/conversations/c-1/blobs/b-1';
  const first = await app.request(place);
  expect([first.status, await first.text()]).toEqual([200, 'whole']);
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
  expect((await app.request(place, { headers })).status).toBe(304);
  // The content was read once.
  expect(lengths).toEqual([undefined, 0]);
  isDeleted = true;
  expect((await app.request(place, { headers })).status).toBe(404);
});
