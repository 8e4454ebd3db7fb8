/** Tokens of an issuer, against a server that publishes its keys. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anyOf } from '../../../src/http/identity/any-of.js';
import { type JwtOptions, jwtIdentity } from '../../../src/http/identity/jwt.js';
import { promise } from '../../support/promise.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'colloquy';

interface Issuer {
  readonly jwks: string;
  /** Publishes another key, under this name, beside the others. */
  readonly add: (kid: string) => Promise<CryptoKey>;
  isDown: boolean;
}

async function issuer(): Promise<Issuer> {
  const keys: object[] = [];
  const made: Issuer = {
    jwks: '',
    isDown: false,
    add: async (kid) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256');
      keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' });
      return privateKey;
    },
  };
  const server = createServer((_request, response) => {
    if (made.isDown) response.writeHead(500);
    response.end(JSON.stringify({ keys }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return Object.assign(made, { jwks: `http://127.0.0.1:${port}/jwks.json` });
}

interface Claims {
  readonly kid?: string;
  readonly iss?: string;
  readonly aud?: string;
  /** Seconds from now. */
  readonly exp?: number | undefined;
  readonly sub?: string | undefined;
  readonly [claim: string]: unknown;
}

async function signed(key: CryptoKey | Uint8Array, claims: Claims = {}): Promise<string> {
  const { kid = 'k-1', iss = ISSUER, aud = AUDIENCE, alg = 'ES256', ...rest } = claims;
  const { exp, sub, ...more } = { exp: 60, sub: 'ann', tenant: 'acme', scope: 'read', ...rest };
  const now = Math.floor(Date.now() / 1_000);
  const payload = {
    ...{ iss, aud, ...more },
    ...(exp === undefined ? {} : { exp: now + exp }),
    ...(sub === undefined ? {} : { sub }),
  };
  return await new SignJWT(payload).setProtectedHeader({ alg: String(alg), kid }).sign(key);
}

async function served(by: Issuer, options: Partial<JwtOptions> = {}) {
  const scheme = jwtIdentity({ jwks: by.jwks, issuer: ISSUER, audience: AUDIENCE, ...options });
  const { request } = await startHttpApp({}, { identify: anyOf(() => undefined, scheme) });
  return async (token: string) => {
    const response = await request('/v1/session', {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

describe('a token of an issuer', promise('G349'), () => {
  it('identifies its subject, with tenants, roles and rights of its claims', async () => {
    const by = await issuer();
    const key = await by.add('k-1');
    const ask = await served(by, {
      claims: { roles: 'realm_access.roles', tenant: 'https://acme.example/org' },
    });
    const claims = {
      name: 'Ann',
      scope: 'openid read answer everything',
      realm_access: { roles: ['lead', 7] },
      'https://acme.example/org': ['acme', 'beta'],
    };
    const { body } = await ask(await signed(key, claims));
    expect(body).toMatchObject({
      tenants: ['acme', 'beta'],
      actor: { id: 'ann', name: 'Ann', roles: ['lead'] },
      verified: true,
      rights: ['read', 'answer'],
    });
    const defaults = await served(by, { tenant: 'default', rights: ['send'] });
    const { body: other } = await defaults(
      await signed(key, { tenant: undefined, scope: undefined }),
    );
    expect(other).toMatchObject({ tenants: ['default'], rights: ['send'], actor: { roles: [] } });
  });

  it('is refused for another issuer, audience, key, time or algorithm', async () => {
    const by = await issuer();
    const key = await by.add('k-1');
    const ask = await served(by);
    const { privateKey: other } = await generateKeyPair('ES256');
    const published = new TextEncoder().encode('what is published cannot sign a token');
    const unsigned = new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'ann', tenant: 'acme' });
    const tokens = {
      'another issuer': await signed(key, { iss: 'https://evil.example' }),
      'another audience': await signed(key, { aud: 'billing' }),
      'another key of the same name': await signed(other),
      'an unknown key': await signed(other, { kid: 'k-9' }),
      'the past': await signed(key, { exp: -31 }),
      'no end': await signed(key, { exp: undefined }),
      'no subject': await signed(key, { sub: undefined }),
      'an empty subject': await signed(key, { sub: '' }),
      'no tenant': await signed(key, { tenant: undefined }),
      'the future': await signed(key, { nbf: Math.floor(Date.now() / 1_000) + 60 }),
      'a shared secret': await signed(published, { alg: 'HS256' }),
      'no signature': unsigned.setExpirationTime('1 minute').encode(),
      'a cut token': (await signed(key)).slice(0, -3),
      nonsense: 'a.b.c',
    };
    for (const [name, token] of Object.entries(tokens))
      expect([name, (await ask(token)).status]).toEqual([name, 401]);
    // Within the difference of clocks that is allowed.
    expect((await ask(await signed(key, { exp: -20 }))).status).toBe(200);
  });

  it.each([
    ['more roles than an actor may have', { roles: Array.from({ length: 51 }, (_, n) => `r${n}`) }],
    ['a tenant that is no id', { tenant: 'acme:eu' }],
    ['a name of 300 characters', { name: 'x'.repeat(300) }],
    ['an empty tenant', { tenant: '' }],
    ['an empty list of tenants', { tenant: [] }],
  ])('with %s is refused, which is no failure of the API', async (_, claims) => {
    const by = await issuer();
    const key = await by.add('k-1');
    const ask = await served(by, { tenant: 'default' });
    expect(await ask(await signed(key, claims))).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
  });

  it('of a key that was published a moment ago is known; while no key can be read the answer is 503', async () => {
    const by = await issuer();
    const first = await by.add('k-1');
    by.isDown = true;
    const ask = await served(by);
    expect(await ask(await signed(first))).toMatchObject({
      status: 503,
      body: { code: 'identity_unavailable' },
    });
    by.isDown = false;
    expect((await ask(await signed(first))).status).toBe(200);
    const rotated = await served(by);
    const second = await by.add('k-2');
    expect((await rotated(await signed(second, { kid: 'k-2' }))).status).toBe(200);
  });
});
