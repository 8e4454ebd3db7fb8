/** API keys, from their making to their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiKeys, createKey, revokeKey, rotateKey } from '../../../src/http/identity/api-keys.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { RECHECK_MS } from '../../../src/http/request/streams.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const GIVEN = {
  name: 'billing',
  tenants: ['default'],
  roles: ['clerk'],
  rights: ['read', 'answer'],
} as const;

async function keyed() {
  const log: EventLog = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const store = log.apiKeys;
  const tokens = tokenSigner(['a secret of tokens with 32 characters']);
  const app = await startHttpApp({}, { identify: apiKeys(store, { cacheMs: 20 }), tokens });
  const statusOf = async (key: string): Promise<number> =>
    (await app.request('/v1/session', { headers: { authorization: `Bearer ${key}` } })).status;
  return { store, app, statusOf };
}

/** Moves the clock, by which keys expire. */
function passing(): (milliseconds: number) => void {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return (milliseconds) => {
    vi.setSystemTime(Date.now() + milliseconds);
  };
}

describe('an API key', promise('G349'), () => {
  it('identifies its holder as a verified actor, with roles and rights', async () => {
    const { store, app } = await keyed();
    const { key, record } = await createKey(store, GIVEN);
    expect(key).toMatch(/^clq_[0-9a-f]{16}_[\w-]{43}$/);
    expect(JSON.stringify([record, await store.list()])).not.toContain(key.slice(21));
    const headers = { authorization: `Bearer ${key}` };
    expect(await (await app.request('/v1/session', { headers })).json()).toEqual({
      tenants: ['default'],
      actor: { id: 'billing', roles: ['clerk'] },
      verified: true,
      rights: ['read', 'answer'],
    });
    expect(JSON.stringify(app.logged)).not.toContain(key.slice(21));
  });

  it.each([
    'clq_',
    'clq_0000000000000000_',
    `clq_0000000000000000_${'a'.repeat(43)}`,
    `clq_${"' OR 1=1 --".padEnd(16)}_${'a'.repeat(43)}`,
    `clq_0000000000000000_${'a'.repeat(100_00)}`,
    'clq_%00%0a',
  ])('of hostile characters identifies no caller: %s', async (key) => {
    const { statusOf } = await keyed();
    expect(await statusOf(key)).toBe(401);
  });

  it('is refused from its expiry on, and within seconds once it is revoked', async () => {
    const pass = passing();
    const { store, statusOf } = await keyed();
    const expiring = await createKey(store, { ...GIVEN, expiresAt: new Date(Date.now() + 1_000) });
    const revoked = await createKey(store, GIVEN);
    expect([await statusOf(expiring.key), await statusOf(revoked.key)]).toEqual([200, 200]);
    pass(1_000);
    expect(await statusOf(expiring.key)).toBe(401);
    await revokeKey(store, revoked.record.id);
    await until('the key is refused', () => statusOf(revoked.key), {
      holds: (status) => status === 401,
    });
    const first = await revokeKey(store, revoked.record.id);
    expect((await revokeKey(store, revoked.record.id))?.revokedAt).toBe(first?.revokedAt);
    await expect(rotateKey(store, revoked.record.id, { graceMs: 0 })).rejects.toThrow(
      'not revoked',
    );
    expect(await revokeKey(store, 'nowhere')).toBeUndefined();
  });

  it('gets a new secret that counts at once, while the old one lives on for its grace time', async () => {
    const pass = passing();
    const { store, statusOf } = await keyed();
    const { key: old, record } = await createKey(store, GIVEN);
    expect(await statusOf(old)).toBe(200);
    const { key: next = '' } = (await rotateKey(store, record.id, { graceMs: 60_000 })) ?? {};
    expect([await statusOf(next), await statusOf(old)]).toEqual([200, 200]);
    pass(60_001);
    expect([await statusOf(next), await statusOf(old)]).toEqual([200, 401]);
    const { key: third = '' } = (await rotateKey(store, record.id, { graceMs: 0 })) ?? {};
    expect([await statusOf(third), await statusOf(next)]).toEqual([200, 401]);
  });

  it('gets a new secret that counts also while an older read of it is under way', async () => {
    const { store } = await keyed();
    const { key, record } = await createKey(store, GIVEN);
    const reads: (() => void)[] = [];
    const find: typeof store.find = async (id) => {
      const found = await store.find(id);
      await new Promise<void>((resolve) => {
        reads.push(resolve);
      });
      return found;
    };
    const identify = apiKeys({ find } as never);
    const answer = async (given: string) =>
      await identify({ get: () => `Bearer ${given}` } as never);
    const older = answer(key);
    await until('the older read', () => reads.length === 1);
    const { key: next = '' } = (await rotateKey(store, record.id, { graceMs: 0 })) ?? {};
    const newer = answer(next);
    reads[0]?.();
    await older;
    await until('a read behind it', () => reads.length === 2);
    reads[1]?.();
    expect(await newer).toMatchObject({ actor: { id: 'billing' } });
  });

  it('ends the streams of its holder when it is revoked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { store, app } = await keyed();
    app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const { key, record } = await createKey(store, GIVEN);
    const stream = await app.request('/v1/conversations/c-1/events', {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${key}` },
    });
    expect(stream.status).toBe(200);
    const text = stream.text();
    await revokeKey(store, record.id);
    await sleep(30);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(await text).toContain('event: user_message');
  });

  it('begins no session, which would live on when it is revoked', async () => {
    const { store, app } = await keyed();
    const { key } = await createKey(store, GIVEN);
    const headers = { authorization: `Bearer ${key}` };
    const refused = await app.request('/v1/session', { method: 'POST', headers });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
  });

  it('that does not exist costs the store one read, and no more while it is remembered', async () => {
    let reads = 0;
    const find = async () => {
      reads += 1;
      return undefined;
    };
    const { request } = await startHttpApp({}, { identify: apiKeys({ find } as never) });
    const headers = { authorization: `Bearer clq_0000000000000000_${'a'.repeat(43)}` };
    expect((await request('/v1/session', { headers })).status).toBe(401);
    expect(reads).toBe(1);
  });

  it('that has expired gets no new secret, and a cache without an end is refused', async () => {
    const pass = passing();
    const { store } = await keyed();
    const { record } = await createKey(store, {
      ...GIVEN,
      expiresAt: new Date(Date.now() + 1_000),
    });
    pass(1_000);
    await expect(rotateKey(store, record.id, { graceMs: 0 })).rejects.toThrow('not expired');
    expect(() => apiKeys(store, { cacheMs: 0 })).toThrow(RangeError);
  });

  it('that a store cannot look up is answered 503, and lets no request in', async () => {
    const failing = { find: () => Promise.reject(new StoreUnavailable('the disk is gone')) };
    const { request } = await startHttpApp({}, { identify: apiKeys(failing as never) });
    const headers = { authorization: `Bearer clq_0000000000000000_${'a'.repeat(43)}` };
    expect((await request('/v1/session', { headers })).status).toBe(503);
  });

  it.each([
    ['no tenant', { tenants: [] }, '/tenants'],
    ['a tenant that is no id', { tenants: ['a:b'] }, '/tenants'],
    ['no right', { rights: [] }, '/rights'],
    ['a right that is none', { rights: ['everything'] }, '/rights'],
    ['an expiry in the past', { expiresAt: new Date(0) }, '/expiresAt'],
    ['a name of 300 characters', { name: 'x'.repeat(300) }, '/name/id'],
  ])('is not made with %s', async (_, wrong, path) => {
    const { store } = await keyed();
    await expect(createKey(store, { ...GIVEN, ...wrong } as never)).rejects.toMatchObject({
      problems: [{ path }],
    });
    expect(await store.list()).toEqual([]);
  });
});
