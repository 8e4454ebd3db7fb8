/** The development identity, and the sessions of pages. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  AUTHORIZATION_FILE,
  developmentIdentity,
  developmentSecret,
} from '../../../src/http/identity/development.js';
import { type Identity, RIGHTS } from '../../../src/http/identity/identity.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { RECHECK_MS } from '../../../src/http/request/streams.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { send } from '../../support/servers/browser-requests.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const SECRET = 'a-development-secret';
const BEARER = { authorization: `Bearer ${SECRET}` };
const CANCEL = '/v1/conversations/c-1/cancel';

async function development(): Promise<HttpApp> {
  const app = await startHttpApp(
    { update: () => ({ status: 'idle', seq: 1 }) },
    developmentIdentity({ secret: SECRET, roles: ['lead'] }),
  );
  app.reader.add('c-1', sampleLog('c-1'));
  return app;
}

/** An app whose callers show the secret, or the cookie of a session. */
async function configured(deps: Partial<AppDeps> = {}): Promise<HttpApp> {
  const app = await startHttpApp(
    { update: () => ({ status: 'idle', seq: 1 }) },
    {
      identify: (request) =>
        request.get('authorization') === BEARER.authorization ? TESTING : undefined,
      tokens: tokenSigner(['a secret of tokens with 32 characters']),
      ...deps,
    },
  );
  app.reader.add('c-1', sampleLog('c-1'));
  return app;
}

/** The cookie of a new session, as a browser sends it back. */
async function signIn({ request }: HttpApp): Promise<{ readonly cookie: string }> {
  const response = await request('/v1/session', { method: 'POST', headers: BEARER });
  expect(response.status).toBe(200);
  const [cookie = ''] = response.headers.getSetCookie();
  return { cookie: cookie.split(';')[0] ?? '' };
}

describe('the development identity', promise('G349'), () => {
  it('needs its secret, may do everything, and is never verified', async () => {
    const { request, logged } = await development();
    const whoami = await request('/v1/session', { headers: BEARER });
    expect(await whoami.json()).toEqual({
      tenants: ['default'],
      actor: { id: 'developer', roles: ['lead'] },
      verified: false,
      rights: [...RIGHTS],
    });
    for (const authorization of ['', SECRET, 'Bearer', `Bearer ${SECRET}x`, `Basic ${SECRET}`])
      expect((await request('/v1/session', { headers: { authorization } })).status).toBe(401);
    expect((await request(`/v1/session?token=${SECRET}`)).status).toBe(401);
    expect(JSON.stringify(logged)).not.toContain(SECRET);
  });

  it('has a secret of its own in each data folder, which only its owner can read', async () => {
    const folder = temporaryFolder();
    const file = join(folder, AUTHORIZATION_FILE);
    const made = await Promise.all(Array.from({ length: 5 }, () => developmentSecret(folder)));
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(1);
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
    const [{ secret } = { secret: '' }] = made;
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect(readFileSync(file, 'utf8')).toBe(`Authorization: Bearer ${secret}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(await developmentSecret(folder)).toEqual({ secret, file, isNew: false });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await developmentSecret(folder, 'one-of-my-own-words')).isNew).toBe(false);
    expect((await developmentSecret(folder)).secret).toBe('one-of-my-own-words');
    writeFileSync(file, 'nonsense');
    await expect(developmentSecret(folder)).rejects.toThrow('Delete it for a new one');
    expect((await developmentSecret(temporaryFolder())).secret).not.toBe(secret);
  });

  it('decodes payloads for Temporal’s UI without the secret, and a configured identity does not', async () => {
    const body = JSON.stringify({ payloads: [] });
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const codec = { codecs: [], origins: [], open: true };
    const open = await startHttpApp({}, { ...developmentIdentity({ secret: SECRET }), codec });
    expect((await open.request('/codec/decode', sent)).status).toBe(200);
    const rights = ['read'] as const;
    for (const [identity, status] of [
      [undefined, 401],
      [{ ...TESTING, rights }, 403],
      [{ ...TESTING, conversation: 'c-1' }, 403],
      [TESTING, 200],
    ] as const) {
      const closed = await startHttpApp(
        {},
        { identify: () => identity, codec: { ...codec, open: false } },
      );
      expect((await closed.request('/codec/decode', sent)).status).toBe(status);
    }
  });
});

describe('a session', promise('G349'), () => {
  it('is a cookie that scripts cannot read, without the secret in it, and ends', async () => {
    const { request } = await development();
    const begun = await request('/v1/session', { method: 'POST', headers: BEARER });
    const [cookie = ''] = begun.headers.getSetCookie();
    expect(cookie).toMatch(
      /^colloquy_session=clt_[\w-]+\.[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(Buffer.from(cookie, 'base64url').toString()).not.toContain(SECRET);
    const { expiresAt } = (await begun.json()) as { expiresAt: string };
    const hours = (Date.parse(expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    const ended = await request('/v1/session', { method: 'DELETE', headers: BEARER });
    expect(ended.headers.getSetCookie()[0]).toMatch(/^colloquy_session=; Path=\/; Expires=Thu, 01/);
  });

  it('never lasts longer than what began it, nor than itself', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const tokens = tokenSigner(['a secret of tokens with 32 characters']);
    const app = await startHttpApp({}, { identify: () => ({ ...TESTING, expiresAt }), tokens });
    const begun = await app.request('/v1/session', { method: 'POST' });
    expect(await begun.json()).toMatchObject({ expiresAt: expiresAt.toISOString() });
  });

  it('serves pages of the same origin, and no change that another page may have sent', async () => {
    const app = await development();
    const { cookie } = await signIn(app);
    const { port } = app.server;
    const own = `http://127.0.0.1:${port}`;
    const asked = async (headers: Record<string, string>, method = 'POST') =>
      (await send(port, { method, path: method === 'GET' ? '/v1/agents' : CANCEL, headers }))
        .status;
    expect(await asked({ cookie, origin: own })).toBe(200);
    expect(await asked({ cookie, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await asked({ cookie }, 'GET')).toBe(200);
    for (const headers of [
      { cookie },
      { cookie, origin: 'http://evil.example' },
      { cookie, origin: 'null' },
      { cookie, origin: `http://127.0.0.1:${port + 1}`, 'sec-fetch-site': 'same-site' },
      { cookie, 'sec-fetch-site': 'cross-site' },
      { cookie, origin: own, 'sec-fetch-site': 'same-origin, cross-site' },
      // A token beside the cookie does not excuse the page.
      { cookie, origin: 'http://evil.example', ...BEARER },
    ])
      expect([headers, await asked(headers)]).toEqual([headers, 403]);
    expect(await asked({ cookie: `${cookie}; ${cookie}`, origin: own })).toBe(401);
    expect(await asked({ cookie: `x=1; ${cookie}`, origin: own })).toBe(200);
    expect(await asked({ cookie: cookie.slice(0, -2), origin: own })).toBe(401);
  });

  it('has a cookie for secure connections alone with a configured identity, also behind a proxy that hides its name', async () => {
    const app = await configured();
    for (const host of ['agents.example.com', '127.0.0.1:8080']) {
      const headers = { host, ...BEARER };
      const answer = await send(app.server.port, { path: '/v1/session', headers });
      expect(answer.headers['set-cookie']?.[0]).toMatch(
        /^__Host-colloquy_session=clt_[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/,
      );
    }
    const { cookie } = await signIn(app);
    expect((await app.request('/v1/agents', { headers: { cookie } })).status).toBe(200);
  });

  it.each([
    [false, 403],
    [true, 200],
  ])(
    'serves changes of pages of listed origins where cookies are allowed: %s',
    async (credentials, status) => {
      const origin = 'https://shop.example';
      const app = await configured({ cors: { origins: [origin], credentials } });
      const { cookie } = await signIn(app);
      for (const headers of [
        { cookie, origin },
        { cookie, origin, 'sec-fetch-site': 'same-site' },
      ])
        expect((await send(app.server.port, { path: CANCEL, headers })).status).toBe(status);
    },
  );

  it('does not exist where no secret for it is configured', async () => {
    const { request } = await startHttpApp();
    expect((await request('/v1/session', { method: 'POST' })).status).toBe(404);
  });
});

it('a stream ends when the credentials of its caller do', promise('G349'), async () => {
  const expiresAt = new Date(Date.now() + 300);
  const app = await startHttpApp({}, { identify: () => ({ ...TESTING, expiresAt }) });
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  const stream = await app.request('/v1/conversations/c-1/events', {
    headers: { accept: 'text/event-stream' },
  });
  expect(stream.status).toBe(200);
  expect(await stream.text()).toContain('event: user_message');
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
  await until('the reader is left', () => app.reader.watchers, { holds: (count) => count === 0 });
});

it.each([
  ['loses a role', { actor: { id: 'ann' } }],
  ['is no longer verified', { verified: false }],
  ['loses a right', { rights: ['send'] as const }],
  ['loses a tenant', { tenants: ['other'] }],
  ['is bound to another conversation', { conversation: 'c-2' }],
  ['is another one', { actor: { id: 'bob', roles: ['lead'] } }],
])('a stream ends when its caller %s', promise('G349'), async (_, change) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const lead = { ...TESTING, verified: true, actor: { id: 'ann', roles: ['lead'] } };
  let identity: Identity = lead;
  const app = await startHttpApp({}, { identify: () => identity });
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  const stream = await app.request('/v1/conversations/c-1/events', {
    headers: { accept: 'text/event-stream' },
  });
  const text = stream.text();
  await vi.advanceTimersByTimeAsync(RECHECK_MS);
  expect(app.reader.watchers).toBe(1);
  identity = { ...lead, ...change };
  await vi.advanceTimersByTimeAsync(RECHECK_MS);
  expect(await text).toContain('event: user_message');
});
