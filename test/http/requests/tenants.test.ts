/** The conversations that a request reaches if the application authenticates its callers. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { createApp } from '../../../src/http/app.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import { FakeReader } from '../../support/fakes/fake-reader.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { REQUEST_BODIES } from '../../support/samples/request-bodies.js';
import { SUPPORT, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

type Route = readonly [method: string, path: string, body?: object];
const ONE = '/v1/conversations/:id';
function routeOf({ id, method, path }: Operation): Route {
  const body = REQUEST_BODIES[id];
  const sent = method.toUpperCase();
  return body === undefined ? [sent, path] : [sent, path, body];
}

/** Every described route that names a conversation, with a valid body. */
const ALL_ROUTES = OPERATIONS.filter(({ path }) => path.startsWith(ONE)).map(routeOf);
/** A token is for a conversation that need not be there. */
const ROUTES = ALL_ROUTES.filter(([, path]) => !path.endsWith('/tokens'));

const none = Promise.resolve(undefined);

/**
 * An app for callers with access to `acme` and `beta`, in which every tenant has a `c-1`; records the conversations
 * that requests reach.
 */
async function tenants(allowed: readonly string[] = ['acme', 'beta']) {
  const reached = new Set<string>();
  const recorded = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (key: Partial<ConversationKey>, ...rest: unknown[]): unknown => {
          const { tenant = '', conversationId } = key;
          if (conversationId !== undefined) reached.add(`${tenant}:${conversationId}`);
          return Reflect.apply(member, target, [key, ...rest]);
        };
      },
    });
  const gone = (call: { workflowId: string }): never => {
    reached.add(call.workflowId.split(':').slice(1, 3).join(':'));
    throw new WorkflowNotFoundError('not found', call.workflowId, undefined);
  };
  const { client } = fakeTemporal({
    update: gone,
    updateWithStart: gone,
    signal: gone,
    query: gone,
    describe: gone,
  });
  const fake = new FakeReader();
  fake.add('c-1', sampleLog('c-1').slice(0, 5));
  const reader = recorded(fake);
  const deps: AppDeps = {
    client: new ConversationClient({
      temporal: client,
      agents: [SUPPORT],
      reader,
      blobs: recorded({ get: () => none, put: () => Promise.reject(new Error('full')) }),
      leases: recorded({ renew: () => none, show: () => undefined }),
      deletions: recorded({
        isKnown: () => Promise.resolve(true),
        isDeleted: () => Promise.resolve(false),
        isDeletedRun: () => Promise.resolve(false),
        begin: () => none,
        below: () => Promise.resolve([]),
        extend: () => none,
        finish: () => none,
        removeOfTenant: () => none,
        ofTenant: () => {
          throw new Error('no route deletes a tenant');
        },
      }),
    }),
    reader,
    conversations: { list: fake.list.bind(fake), checkWritable: () => Promise.resolve() },
    identify: () => ({ ...TESTING, tenants: allowed }),
  };
  const app = await startHttpApp({}, deps);
  const ask = async ([method, path, body]: Route, id: string, query = '') =>
    await app.request(
      path.replace(':id', id).replace(':seq', '5').replaceAll(/:\w+/g, 'x-1') + query,
      {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      },
    );
  return { app, deps, ask, reached };
}

describe('a route that names a conversation', () => {
  it('is described', promise('G241'), async () => {
    const { deps } = await tenants();
    const named = pathsOf(createApp(deps).router).filter((path) => path.includes(':id'));
    expect(new Set(named)).toEqual(new Set(ALL_ROUTES.map(([, path]) => path)));
  });

  it.each(ALL_ROUTES.map((route) => ({ route, name: `${route[0]} ${route[1]}` })))(
    '$name reveals nothing of another tenant',
    promise('G241'),
    async ({ route }) => {
      const { ask, reached } = await tenants();
      for (const query of [
        '?tenant=default',
        '?tenant=gamma',
        '?tenant=a:b',
        '?tenant=acme&tenant=x',
      ]) {
        const there = await ask(route, 'c-1', query);
        expect([query, there.status]).toEqual([query, expect.toBeOneOf([404, 422])]);
        const nowhere = await ask(route, 'c-9', query);
        expect(await nowhere.text()).toBe((await there.text()).replaceAll('c-1', 'c-9'));
      }
      const problem = await problemOf(await ask(route, 'c-1', '?tenant=default'));
      expect(problem).toMatchObject({ status: 404, code: 'unknown_conversation' });
      expect([...reached]).toEqual([]);
      const withoutTenants = await tenants([]);
      expect((await withoutTenants.ask(route, 'c-1')).status).toBe(404);
      expect([...withoutTenants.reached]).toEqual([]);
    },
  );

  it.each(ROUTES.map((route) => ({ route, name: `${route[0]} ${route[1]}` })))(
    '$name reaches the caller’s own conversation, and no other',
    promise('G241'),
    async ({ route }) => {
      for (const [query, tenant] of [
        ['', 'acme'],
        ['?tenant=acme', 'acme'],
        ['?tenant=beta', 'beta'],
      ] as const) {
        const { ask, reached } = await tenants();
        for (const id of ['c-1', 'c-9']) await ask(route, id, query);
        expect([...reached]).toEqual([`${tenant}:c-1`, `${tenant}:c-9`]);
      }
    },
  );
});

const QUERIED = OPERATIONS.filter(({ query }) => query !== undefined).map(routeOf);

it.each(QUERIED.map((route) => ({ route, name: `${route[0]} ${route[1]}` })))(
  '$name refuses a misspelt tenant by name, and reaches no conversation',
  async ({ route }) => {
    const { ask, reached } = await tenants();
    const { status, errors } = await problemOf(await ask(route, 'c-1', '?tennant=beta'));
    expect(status).toBe(422);
    expect(errors).toContainEqual(expect.objectContaining({ path: '?tennant' }));
    expect([...reached]).toEqual([]);
  },
);

it('a conversation begins under the tenant that its request may name, and its location includes it', {
  ...promise('G241'),
}, async () => {
  const { app, reached } = await tenants();
  const create = { agent: 'support', id: 'c-1', message: 'Hi' };
  expect((await app.post('/v1/conversations?tenant=default', create)).status).toBe(403);
  expect([...reached]).toEqual([]);
  const reply = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };
  const begins = await startHttpApp(
    { updateWithStart: () => reply },
    { identify: () => ({ ...TESTING, tenants: ['acme', 'beta'] }) },
  );
  for (const [query, tenant] of [
    ['', 'acme'],
    ['?tenant=beta', 'beta'],
  ] as const) {
    const response = await begins.post(`/v1/conversations${query}`, create);
    expect(response.headers.get('location')).toBe(`/v1/conversations/c-1${query}`);
    expect(begins.calls.at(-1)?.workflowId).toBe(`conversation:${tenant}:c-1`);
  }
});

it('a turn of another tenant is as unknown as a missing one', promise('G241'), async () => {
  const mine = await tenants(['default']);
  expect((await mine.app.request(`/v1/turns/${TURN}`)).status).toBe(200);
  const { app } = await tenants();
  const problem = await problemOf(await app.request(`/v1/turns/${TURN}`));
  const nowhere = await problemOf(await app.request('/v1/turns/none'));
  expect(problem).toEqual({ ...nowhere, detail: nowhere.detail.replace('none', TURN) });
});

/** The paths of an app's routes, including nested routers. */
function pathsOf(layer: unknown): readonly string[] {
  if (!isObject(layer)) return [];
  const { route, handle, stack } = layer;
  if (isObject(route) && typeof route['path'] === 'string') return [route['path']];
  const below = stack ?? (isObject(handle) ? handle['stack'] : undefined);
  return Array.isArray(below) ? below.flatMap(pathsOf) : [];
}

/** Routers are functions, which have to count as objects. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}
