/**
 * Every route, made from the rows of the description, against every kind of caller: a new route is in here without a
 * line. Each request has a valid body, so a refusal is that of the caller.
 */
import { describe, expect, it } from 'vitest';
import type { Identity, Right } from '../../../src/http/identity/identity.js';
import { RIGHTS } from '../../../src/http/identity/identity.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { REQUEST_BODIES } from '../../support/samples/request-bodies.js';
import { TURN } from '../../support/samples/sample-log.js';
import { CANARY, ROLE, TENANT } from '../../support/tenants/canaries.js';
import { type CanaryApp, startCanaryApp } from '../../support/tenants/canary-app.js';
import {
  granted,
  ofBound,
  ofNamedTenant,
  ofNoTenant,
  ofOtherTenant,
  VERDICTS,
} from '../../support/tenants/expected.js';

const SECRET = 'a secret of tokens with 32 characters';
const tokens = tokenSigner([SECRET]);
const ANN: Identity = { ...TESTING, actor: { id: 'ann', roles: [ROLE] }, verified: true };
const BOUND = { ...ANN, conversation: 'c-2' };
const READS = { ...ANN, rights: ['read'] } as const;

/** By bearer token, as a scheme of an application finds them. */
function identities(): ReadonlyMap<string, Identity> {
  return new Map<string, Identity>([
    ['all', ANN],
    ['none', { ...ANN, rights: [] }],
    ['no-role', { ...ANN, actor: { id: 'ann' } }],
    ['other-role', { ...ANN, actor: { id: 'ann', roles: ['leads', 'owner'] } }],
    ['other-tenant', { ...ANN, tenants: ['beta'] }],
    ['no-tenant', { ...ANN, tenants: [] }],
    ['bound', BOUND],
    ['bound-here', { ...ANN, conversation: 'c-1' }],
    ['expired', { ...ANN, expiresAt: new Date(Date.now() - 1) }],
    ...RIGHTS.map((right) => [`only-${right}`, { ...ANN, rights: [right] }] as const),
    ...RIGHTS.map((right) => {
      const rights = RIGHTS.filter((other) => other !== right);
      return [`not-${right}`, { ...ANN, rights }] as const;
    }),
  ]);
}

async function app(): Promise<CanaryApp> {
  const known = identities();
  return await startCanaryApp({
    identify: (request) => known.get(request.get('authorization')?.replace('Bearer ', '') ?? ''),
    tokens,
  });
}

/** An app of its own for a request that changes something. */
async function appFor([{ method }]: (typeof FORMS)[number], shared: CanaryApp): Promise<CanaryApp> {
  return method === 'get' ? shared : await app();
}

const signed = (identity: Identity): string =>
  tokens.sign({ ...identity, expiresAt: new Date(Date.now() + 3_600_000) });

const ALSO_READ = ['forkConversation', 'startWhatIf'];
const GUARDED = OPERATIONS.filter(({ right }) => right !== 'open');
const STREAM = 'text/event-stream';
/** Each operation in the forms that its answer may have. */
const FORMS = GUARDED.flatMap((operation): (readonly [Operation, string | undefined])[] => {
  if (operation.answers[200] === 'stream') return [[operation, STREAM]];
  return operation.streams === true
    ? [
        [operation, 'application/json'],
        [operation, STREAM],
      ]
    : [[operation, undefined]];
});

interface Asked {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Code of a problem, or the verdict of a refusal; `ok` for every other answer. */
  readonly code: string | undefined;
}

interface Sent {
  readonly bearer?: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
  /** Replaces the valid one. */
  readonly body?: object;
}

async function ask(
  { request, ids }: CanaryApp,
  [operation, accept]: (typeof FORMS)[number],
  { bearer, headers, query, body = bodyOf(operation) }: Sent,
): Promise<Asked> {
  const { id, method, path } = operation;
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'x-1');
  const queries = [query, id === 'readOffers' ? 'tools=render' : undefined];
  const search = queries.filter((one) => one !== undefined).join('&');
  const response = await request(search === '' ? url : `${url}?${search}`, {
    method: method.toUpperCase(),
    headers: {
      'content-type': 'application/json',
      ...(accept === undefined ? {} : { accept }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await textOf(response);
  const { status } = response;
  return { status, text, headers: response.headers, code: status < 300 ? 'ok' : codeIn(text) };
}

function bodyOf({ id, method }: Operation): object | undefined {
  if (method === 'get') return undefined;
  const body = REQUEST_BODIES[id];
  return method === 'delete' ? (body ?? {}) : body;
}

/** The heartbeats of the app come every 20 ms: a stream that has sent nothing else before some of them sends nothing. */
async function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith(STREAM) === true;
  if (!isStream) return await response.text();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk as Uint8Array);
    if (text.split(': ping').length > 3) break;
  }
  return text;
}

function codeIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  const { code, verdict } = JSON.parse(text) as { code?: string; verdict?: string };
  return code ?? verdict;
}

/** One request after the other, at every route. */
const TIMEOUT_MS = 120_000;

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

describe('a valid body', () => {
  it('is there for every operation that takes one', () => {
    const taking = OPERATIONS.filter(({ method, bodies }) => method === 'post' || bodies);
    const known = Object.keys(REQUEST_BODIES).filter((id) => id !== 'removeTrigger');
    expect(new Set(known)).toEqual(new Set(taking.map(({ id }) => id)));
    for (const { id, bodies } of taking)
      if (bodies !== undefined)
        expect([id, bodies.some((body) => body.safeParse(REQUEST_BODIES[id]).success)]).toEqual([
          id,
          true,
        ]);
  });
});

describe('without a valid identity', promise('G347'), () => {
  it('no route answers, with any headers and any body', {
    timeout: patient(TIMEOUT_MS),
  }, async () => {
    const started = await app();
    const sent = withoutIdentity();
    for (const form of FORMS)
      for (const request of sent) {
        const { id } = form[0];
        const { status, text, code, headers } = await ask(started, form, request);
        expect([id, request, status, code]).toEqual([id, request, 401, 'unauthenticated']);
        expect(headers.get('www-authenticate')).toBe('Bearer realm="colloquy"');
        expect(text).not.toContain(CANARY);
      }
    for (const form of FORMS.filter(([{ method }]) => method !== 'get')) {
      const { status } = await ask(started, form, { bearer: 'expired', body: { wrong: CANARY } });
      expect([form[0].id, status]).toEqual([form[0].id, 401]);
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

/** Asks every route, and expects neither a canary in an answer or the log, nor an effect for the tenant. */
async function expectApart(
  sent: Sent,
  expected: (operation: Operation) => readonly [unknown, unknown],
): Promise<void> {
  const started = await app();
  const before = await started.kept();
  for (const form of FORMS) {
    const [operation] = form;
    const { status, code, text } = await ask(started, form, sent);
    expect([operation.id, sent, status, code]).toEqual([
      operation.id,
      sent,
      ...expected(operation),
    ]);
    expect([operation.id, text]).not.toEqual([operation.id, expect.stringContaining(CANARY)]);
  }
  const reached = started.calls.filter(({ workflowId }) => workflowId.includes(`:${TENANT}:`));
  expect(reached).toEqual([]);
  expect(await started.kept()).toBe(before);
  expect(JSON.stringify(started.logged)).not.toContain(CANARY);
}

describe('a caller', { ...promise('G347'), timeout: patient(TIMEOUT_MS) }, () => {
  it('without the right of a route gets 403 with its name, with any body', async () => {
    const started = await app();
    for (const form of FORMS)
      for (const bearer of bearersWithout(form[0].right)) {
        const { id, right, method } = form[0];
        const wrong = bearer === 'none' && method !== 'get' ? { body: { wrong: CANARY } } : {};
        const { status, text } = await ask(started, form, { bearer, ...wrong });
        expect([id, bearer, status]).toEqual([id, bearer, 403]);
        const detail = `The caller lacks the right "${right}"`;
        expect(JSON.parse(text)).toMatchObject({ code: 'forbidden', detail });
      }
    expect(started.calls).toEqual([]);
    expect(JSON.stringify(started.logged)).not.toContain(CANARY);
  });

  it('with all rights and the role of the calls gets the answer of each route', async () => {
    const shared = await app();
    for (const form of FORMS) {
      const started = await appFor(form, shared);
      const { status, code } = await ask(started, form, { bearer: 'all' });
      expect([form[0].id, status, code]).toEqual([form[0].id, ...granted(form[0])]);
      expect(JSON.stringify(started.logged)).not.toContain(CANARY);
    }
  });

  it('with no other right than that of a route may use it', async () => {
    const shared = await app();
    for (const form of FORMS) {
      const { id, right } = form[0];
      const bearer = right === 'any' ? 'none' : `only-${right}`;
      const { status, code, text } = await ask(await appFor(form, shared), form, { bearer });
      // Two routes ask for the right "read", too.
      const also = ALSO_READ.includes(id) ? 'lacks the right \\"read\\"' : '';
      const expected = also === '' ? granted(form[0]) : [403, 'forbidden'];
      expect([id, status, code]).toEqual([id, ...expected]);
      expect([id, text]).toEqual([id, expect.stringContaining(also)]);
    }
  });

  it('with a token to read may read, and do nothing else', async () => {
    const started = await app();
    const before = await started.kept();
    for (const form of FORMS) {
      const { id, right } = form[0];
      const { status, code } = await ask(started, form, { bearer: signed(READS) });
      const expected = ['read', 'any'].includes(right) ? granted(form[0]) : [403, 'forbidden'];
      expect([id, status, code]).toEqual([id, ...expected]);
    }
    expect(started.calls.filter(({ kind }) => !['describe', 'query'].includes(kind))).toEqual([]);
    expect(await started.kept()).toBe(before);
    expect(JSON.stringify(started.logged)).not.toMatch(/canary|clt_/);
  });

  it('of another tenant learns nothing from any route, and changes nothing', async () => {
    await expectApart({ bearer: 'other-tenant' }, ofOtherTenant);
    await expectApart({ bearer: 'other-tenant', query: `tenant=${TENANT}` }, ofNamedTenant);
    await expectApart({ bearer: 'no-tenant' }, ofNoTenant);
  });

  it('bound to another conversation learns nothing from any route, and changes nothing', async () => {
    await expectApart({ bearer: 'bound' }, ofBound);
    await expectApart({ bearer: signed(BOUND) }, ofBound);
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

/** Routes with the calls that wait, which show only those that the caller's roles may answer. */
const LISTS_BY_ROLE = ['listWorklist', 'watchWorklist', 'readOffers'];

describe('the role of a caller', { ...promise('G347'), timeout: patient(TIMEOUT_MS) }, () => {
  it('decides at the routes of answers and of what waits, and at no other', async () => {
    const shared = await app();
    for (const form of FORMS)
      for (const bearer of ['no-role', 'other-role', 'all']) {
        const { id } = form[0];
        const started = await appFor(form, shared);
        const { status, code, text } = await ask(started, form, { bearer });
        const isOutside = bearer !== 'all' && VERDICTS.includes(id);
        const expected = isOutside ? [403, 'forbidden'] : granted(form[0]);
        expect([id, bearer, status, code]).toEqual([id, bearer, ...expected]);
        if (isOutside) expect(text).toContain('the actor is not in the audience of this call');
        if (LISTS_BY_ROLE.includes(id))
          expect([id, bearer, text.includes(CANARY)]).toEqual([id, bearer, bearer === 'all']);
        if (id === 'resolveMany')
          expect(JSON.parse(text)).toMatchObject({
            results: [{ verdict: bearer === 'all' ? 'accepted' : 'forbidden' }],
          });
      }
  });
});

const TAKING_ACTORS = FORMS.filter(
  ([{ id, bodies = [] }]) =>
    id === 'createTrigger' ||
    bodies.some((body) => 'actor' in ((body as { shape?: object }).shape ?? {})),
);

describe('an actor in a body', { ...promise('G348'), timeout: patient(TIMEOUT_MS) }, () => {
  it('acts with the right act-as at every route that takes one, and the log names both', async () => {
    expect(TAKING_ACTORS).toHaveLength(20);
    for (const form of TAKING_ACTORS) {
      const { id } = form[0];
      const actor = { id: 'bob', roles: [ROLE] };
      const body = { ...REQUEST_BODIES[id], actor };
      const started = await app();
      // The roles are those of the named actor, not of the caller.
      const { status, code } = await ask(started, form, { bearer: 'no-role', body });
      expect([id, status, code]).toEqual([id, ...granted(form[0])]);
      expect([id, started.logged.at(-1)]).toMatchObject([id, { caller: 'ann', actingAs: 'bob' }]);
      const inputs = started.calls.flatMap(({ input }) => (input === undefined ? [] : [input]));
      expect([id, JSON.stringify(inputs)]).not.toEqual([id, expect.stringContaining('"ann"')]);
    }
  });

  it('is refused without that right at every route, before any effect', async () => {
    const started = await app();
    const before = await started.kept();
    for (const form of TAKING_ACTORS) {
      const { id } = form[0];
      const body = { ...REQUEST_BODIES[id], actor: { id: 'bob', roles: [ROLE] } };
      const { status, text } = await ask(started, form, { bearer: 'not-act-as', body });
      expect([id, status]).toEqual([id, 422]);
      expect(JSON.parse(text)).toMatchObject({ errors: [{ path: '/actor' }] });
      expect([id, started.logged.at(-1)]).not.toHaveProperty('1.actingAs');
    }
    expect(started.calls.filter(({ kind }) => kind !== 'describe')).toEqual([]);
    expect(await started.kept()).toBe(before);
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
