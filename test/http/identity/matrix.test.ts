/**
 * Every route, made from the rows of the description, against every kind of caller: a new route is in here without a
 * line.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Identity, Right } from '../../../src/http/identity/identity.js';
import { RIGHTS } from '../../../src/http/identity/identity.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import { Spaces } from '../../../src/spaces/service.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { CALL, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

/** Words of another tenant's conversation, of its caller and of credentials. */
const CANARY = 'canary-of-acme';
const SECRET = 'a secret of tokens with 32 characters';
const tokens = tokenSigner([SECRET]);

/** By bearer token, as a scheme of an application finds them. */
function identities(): ReadonlyMap<string, Identity> {
  const ann: Identity = { ...TESTING, actor: { id: 'ann' }, verified: true };
  return new Map([
    ['all', ann],
    ['none', { ...ann, rights: [] }],
    ['other-tenant', { ...ann, tenants: ['beta'] }],
    ['no-tenant', { ...ann, tenants: [] }],
    ['bound', { ...ann, conversation: 'c-2' }],
    ['bound-here', { ...ann, conversation: 'c-1' }],
    ['expired', { ...ann, expiresAt: new Date(Date.now() - 1) }],
    ...RIGHTS.map((right) => [`only-${right}`, { ...ann, rights: [right] }] as const),
    ...RIGHTS.map((right) => {
      const rights = RIGHTS.filter((other) => other !== right);
      return [`not-${right}`, { ...ann, rights }] as const;
    }),
  ]);
}

/**
 * Tenant `default` has `c-1`, of which every event names the canary, as a space does; `/v1/turns` finds its turn.
 */
async function app(): Promise<HttpApp> {
  const known = identities();
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  // Not the caller, whose stream of it would never end.
  const creator = { kind: 'person', id: 'bob', name: CANARY } as const;
  const space = { tenant: 'default', spaceId: 'x-1', name: CANARY, access: 'open' } as const;
  await store.create({ ...space, creator, nowMs: 1 });
  const started = await startHttpApp(
    { signal: () => undefined },
    {
      identify: (request) => known.get(request.get('authorization')?.replace('Bearer ', '') ?? ''),
      tokens,
      spaces: new Spaces({ store }),
    },
  );
  const text = JSON.stringify(sampleLog('c-1')).replaceAll('Hello', CANARY);
  started.reader.tenant = 'default';
  started.reader.add('c-1', JSON.parse(text) as ReturnType<typeof sampleLog>);
  return started;
}

const VALUES: Readonly<Record<string, string>> = { id: 'c-1', turnId: TURN, callId: CALL };
const NO_BODY = ['get', 'delete'];
const ALSO_READ = ['forkConversation', 'startWhatIf'];
const GUARDED = OPERATIONS.filter(({ right }) => right !== 'open');

interface Asked {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(
  { request }: HttpApp,
  { method, path, answers }: Operation,
  { bearer, headers }: { readonly bearer?: string; readonly headers?: Record<string, string> },
): Promise<Asked> {
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => VALUES[name] ?? 'x-1');
  const response = await request(url, {
    method: method.toUpperCase(),
    headers: {
      'content-type': 'application/json',
      ...(answers[200] === 'stream' ? { accept: 'text/event-stream' } : {}),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(NO_BODY.includes(method) ? {} : { body: '{}' }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** One request after the other, at every route. */
const TIMEOUT_MS = 60_000;

/** Requests that prove nothing. */
function withoutIdentity(): readonly Parameters<typeof ask>[2][] {
  const lapsed = tokens.sign({ ...TESTING, expiresAt: new Date(Date.now() - 1) });
  const alive = { ...TESTING, expiresAt: new Date(Date.now() + 3_600_000) };
  const forged = tokenSigner([`${SECRET}!`]).sign(alive);
  const bearers = ['nobody', 'expired', lapsed, forged, `${forged}x`, 'clt_', 'clt_.'];
  return [
    {},
    ...bearers.map((bearer) => ({ bearer })),
    { headers: { authorization: 'Basic YWxsOmFsbA==' } },
    { headers: { authorization: '' } },
    // The header counts, beside any cookie.
    { bearer: 'nobody', headers: { cookie: `__Host-colloquy_session=${tokens.sign(alive)}` } },
    { headers: { cookie: `__Host-colloquy_session=${forged}` } },
    { headers: { cookie: `colloquy_session=${tokens.sign(alive)}` } },
    { headers: { 'x-forwarded-user': 'ann', 'x-tenant': 'default' } },
  ];
}

function bearersWithout(right: Operation['right']): readonly string[] {
  return right === 'any' ? [] : ['none', `not-${right}`, ...RIGHTS.flatMap(othersThan(right))];
}

function othersThan(right: Operation['right']): (other: Right) => string[] {
  return (other) => (other === right ? [] : [`only-${other}`]);
}

describe('without a valid identity', promise('G347'), () => {
  it('no route answers, with any headers', { timeout: patient(TIMEOUT_MS) }, async () => {
    const started = await app();
    const sent = withoutIdentity();
    for (const operation of GUARDED)
      for (const request of sent) {
        const { status, text, headers } = await ask(started, operation, request);
        expect([operation.id, request, status]).toEqual([operation.id, request, 401]);
        expect(headers.get('www-authenticate')).toBe('Bearer realm="colloquy"');
        expect(JSON.parse(text)).toMatchObject({ code: 'unauthenticated' });
        expect(text).not.toContain(CANARY);
      }
    expect(started.calls).toEqual([]);
    expect(JSON.stringify(started.logged)).not.toMatch(/canary|nobody|expired|clt_/);
  });

  it('the three open routes answer, and no other', async () => {
    const open = OPERATIONS.filter(({ right }) => right === 'open').map(({ path }) => path);
    expect(open).toEqual(['/healthz', '/readyz', '/openapi.json']);
    const { request } = await app();
    for (const path of open) expect((await request(path)).status).toBe(200);
    for (const path of ['/v1/nowhere', '/codec/decode', '/READYZ', '/healthz/..%2fv1/agents'])
      expect((await request(path)).status).toBe(401);
  });
});

describe('a caller', { ...promise('G347'), timeout: patient(TIMEOUT_MS) }, () => {
  it('without the right of a route gets 403 with its name', async () => {
    const started = await app();
    for (const operation of GUARDED)
      for (const bearer of bearersWithout(operation.right)) {
        const { id, right } = operation;
        const { status, text } = await ask(started, operation, { bearer });
        expect([id, bearer, status]).toEqual([id, bearer, 403]);
        const detail = `The caller lacks the right "${right}"`;
        expect(JSON.parse(text)).toMatchObject({ code: 'forbidden', detail });
      }
    expect(started.calls).toEqual([]);
  });

  it('with no other right than that of a route may use it', async () => {
    for (const operation of GUARDED) {
      const { id, right } = operation;
      const bearer = right === 'any' ? 'none' : `only-${right}`;
      const { status, text } = await ask(await app(), operation, { bearer });
      expect([id, status]).not.toEqual([id, 401]);
      // Two routes ask for the right "read", too.
      const also = ALSO_READ.includes(id) && right !== 'read' ? ' "(?!read")' : '';
      expect([id, text]).not.toEqual([id, expect.stringMatching(`lacks the right${also}`)]);
    }
  });

  it('of another tenant learns nothing from any route, and changes nothing', async () => {
    for (const operation of GUARDED) {
      const started = await app();
      for (const bearer of ['other-tenant', 'no-tenant']) {
        const { text } = await ask(started, operation, { bearer });
        expect([operation.id, text]).not.toEqual([operation.id, expect.stringContaining(CANARY)]);
      }
      const reached = started.calls.filter(({ workflowId }) => workflowId.includes(':default:'));
      expect([operation.id, reached]).toEqual([operation.id, []]);
    }
  });

  it('bound to another conversation learns nothing from any route, and changes nothing', async () => {
    for (const operation of GUARDED) {
      const { id, path, bound } = operation;
      const started = await app();
      const { status, text } = await ask(started, operation, { bearer: 'bound' });
      const expected = path.includes('/:id') ? [404, 422] : [403];
      if (bound !== true) expect([id, status]).toEqual([id, expect.toBeOneOf(expected)]);
      expect([id, text]).not.toEqual([id, expect.stringContaining(CANARY)]);
      expect([id, started.calls]).toEqual([id, []]);
    }
  });

  it('bound to a conversation reads it and its turns', async () => {
    const { request } = await app();
    const headers = { authorization: 'Bearer bound-here' };
    const log = await request('/v1/conversations/c-1/events', { headers });
    expect(await log.text()).toContain(CANARY);
    expect((await request(`/v1/turns/${TURN}`, { headers })).status).toBe(200);
    const other = { headers: { authorization: 'Bearer bound' } };
    expect((await request(`/v1/turns/${TURN}`, other)).status).toBe(404);
  });
});

describe('the description', () => {
  it('names the right of every route as its security requirement', promise('G347'), async () => {
    const { request } = await app();
    const { paths } = (await (await request('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { security: object }>>;
    };
    for (const { method, path, right } of OPERATIONS) {
      const rights = right === 'any' ? [] : [right];
      expect(paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method]?.security).toEqual(
        right === 'open' ? [] : [{ token: rights }, { session: rights }],
      );
    }
  });
});
