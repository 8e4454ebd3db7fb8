/** Requests that create, rotate and remove one webhook at the same time, as repeats on another way do. */
import { expect, it, onTestFinished } from 'vitest';
import type { WebhookStore } from '../../../src/store/ports/webhooks.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import {
  createEndpoint,
  MAX_ENDPOINTS,
  RequestReused,
  rotateSecret,
} from '../../../src/webhooks/endpoints.js';
import { putEndpoint } from '../../support/webhooks/samples.js';

const FIELDS = { url: 'https://example.com/hook' };
const REQUEST = { tenant: 'default', requestId: 'k1' };

/** A store, and the same one for requests that all have read before one of them writes. */
async function stores() {
  const { webhooks: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        if (name === 'putEndpoint') await gate;
        return await (Reflect.apply(member, target, given) as Promise<unknown>);
      };
    },
  });
  const release = async (): Promise<void> => {
    // Each request has come to its write.
    await new Promise((resolve) => setImmediate(resolve));
    open();
  };
  const secretsOf = async (id: string) => (await store.endpoint(id))?.secrets;
  return { store, slow, release, secretsOf };
}

it('creations under one key at once have the one secret that signs', async () => {
  const { slow, release, secretsOf } = await stores();
  const both = [createEndpoint(slow, REQUEST, FIELDS), createEndpoint(slow, REQUEST, FIELDS)];
  await release();
  const [first, second] = await Promise.all(both);
  expect(first).toEqual(second);
  expect(await secretsOf(first?.endpoint.id ?? '')).toEqual({ current: first?.secret });
});

it('a creation that another one under its key has overtaken is refused where it differs', async () => {
  const { slow, release, secretsOf } = await stores();
  const first = createEndpoint(slow, REQUEST, FIELDS);
  const other = createEndpoint(slow, REQUEST, { url: 'https://example.com/other' });
  const refused = expect(other).rejects.toThrow(RequestReused);
  await release();
  const { endpoint, secret } = await first;
  await refused;
  expect(endpoint).toMatchObject(FIELDS);
  expect(await secretsOf(endpoint.id)).toEqual({ current: secret });
});

it('creations at once do not pass the number that a tenant may have', async () => {
  const { store, slow, release } = await stores();
  const create = (from: WebhookStore, requestId: string) =>
    createEndpoint(from, { tenant: 'default', requestId }, FIELDS);
  for (let nth = 1; nth < MAX_ENDPOINTS; nth += 1) await create(store, `k${nth}`);
  const more = ['a', 'b', 'c'].map((requestId) => create(slow, requestId));
  await release();
  const settled = await Promise.allSettled(more);
  const refused = settled.filter(({ status }) => status === 'rejected');
  const left = await store.endpoints({ tenant: 'default' });
  expect(left).toHaveLength(MAX_ENDPOINTS - 1 + settled.length - refused.length);
  expect(left.length).toBeLessThanOrEqual(MAX_ENDPOINTS);
  for (const each of refused) expect(each).toHaveProperty('reason.name', 'TooManyEndpoints');
  expect(await create(store, left.length < MAX_ENDPOINTS ? 'd' : 'k1')).toBeDefined();
});

it('a repeat does not remove the webhook that its first request has created', async () => {
  const { store, slow, release } = await stores();
  for (let nth = 1; nth < MAX_ENDPOINTS; nth += 1)
    await createEndpoint(store, { tenant: 'default', requestId: `k-${nth}` }, FIELDS);
  const repeat = createEndpoint(slow, REQUEST, FIELDS);
  const { endpoint } = await createEndpoint(store, REQUEST, FIELDS);
  // By a version that counts only before it writes.
  await putEndpoint(store, { id: 'beyond' });
  await release();
  expect((await repeat).endpoint.id).toBe(endpoint.id);
  expect(await store.endpoint(endpoint.id)).toBeDefined();
});

it('rotations under one key at once have the one secret that signs, beside the one before', async () => {
  const { store, slow, release, secretsOf } = await stores();
  const { endpoint, secret } = await createEndpoint(store, REQUEST, FIELDS);
  const both = [rotateSecret(slow, endpoint, 'k2'), rotateSecret(slow, endpoint, 'k2')];
  await release();
  const [first, second] = await Promise.all(both);
  expect(first).toEqual(second);
  expect(await secretsOf(endpoint.id)).toMatchObject({
    current: first?.secret,
    previous: [{ secret, untilMs: Date.parse(first?.previousUntil ?? '') }],
  });
});

it('a rotation of a webhook that is removed meanwhile creates none', async () => {
  const { store, slow, release } = await stores();
  const { endpoint } = await createEndpoint(store, REQUEST, FIELDS);
  const rotating = rotateSecret(slow, endpoint, 'k2');
  await store.removeEndpoint(endpoint.id);
  await release();
  expect(await rotating).toBeUndefined();
  expect(await store.endpoint(endpoint.id)).toBeUndefined();
});
