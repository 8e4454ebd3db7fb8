/** Repeats: keys of requests on every route that changes something, and answers that a caller has already. */
import { expect, it } from 'vitest';
import { forDevelopment } from '../../../src/http/identity/identity.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { refusal } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const POSTS = OPERATIONS.filter(({ method }) => method === 'post');
const TOO_LONG = 'k'.repeat(300);

/** A gate that a test opens. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

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

it('a repeat is refused while the first request under its key is answered', async () => {
  const { opened, open } = gate();
  let sent = 0;
  const app = await startHttpApp({
    updateWithStart: async () => {
      sent += 1;
      await opened;
      throw refusal('busy', {});
    },
  });
  app.reader.add('c-1', sampleLog('c-1'));
  const send = async (key: string) => {
    const headers = { 'idempotency-key': key };
    const response = await app.post('/v1/conversations/c-1/messages', { text: 'Hi' }, headers);
    return { response, problem: (await response.json()) as { readonly code: string } };
  };
  const first = send('k-1');
  await until('the first request', () => sent === 1);
  const repeat = await send('k-1');
  expect([repeat.response.status, repeat.problem.code]).toEqual([409, 'request_running']);
  expect(repeat.response.headers.get('retry-after')).toBe('1');
  const other = send('k-2');
  await until('the request under another key', () => sent === 2);
  open();
  for (const one of [first, other]) expect((await one).problem.code).toBe('busy');
  // The first one is over, so its repeat is judged like it.
  expect((await send('k-1')).problem.code).toBe('busy');
});

it('requests under one key for two tenants are two requests', async () => {
  const { opened, open } = gate();
  let sent = 0;
  const app = await startHttpApp(
    {
      updateWithStart: async () => {
        sent += 1;
        await opened;
        throw refusal('busy', {});
      },
    },
    { identify: forDevelopment(() => ({ ...TESTING, tenants: ['default', 'acme'] })) },
  );
  app.reader.add('c-1', sampleLog('c-1'));
  const send = (tenant: string) => {
    const place = `/v1/conversations/c-1/messages?tenant=${tenant}`;
    return app.post(place, { text: 'Hi' }, { 'idempotency-key': 'k-1' });
  };
  const both = [send('default'), send('acme')];
  await until('both', () => sent === 2);
  open();
  for (const one of both) expect(await (await one).json()).toMatchObject({ code: 'busy' });
});

it('an answer that is sent twice at once gets its verdict twice', async () => {
  const { opened, open } = gate();
  let sent = 0;
  const app = await startHttpApp({
    update: async () => {
      sent += 1;
      await opened;
      throw refusal('verdict', { verdict: 'stale', at: 'now' });
    },
  });
  app.reader.add('c-1', sampleLog('c-1'));
  const place = '/v1/conversations/c-1/tool-calls/call_1/resolution';
  const answer = () => app.post(place, { type: 'approve' }, { 'idempotency-key': 'k-1' });
  const both = [answer(), answer()];
  await until('both', () => sent === 2);
  open();
  for (const one of both) expect(await (await one).json()).toMatchObject({ verdict: 'stale' });
});

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
