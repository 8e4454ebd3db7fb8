/** The HTTP app with spaces in memory, for callers by name. */
import { expect, onTestFinished } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import type { Space } from '../../../src/protocol/spaces/spaces.js';
import { Spaces } from '../../../src/spaces/service.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import type { Script } from '../fakes/fake-temporal.js';
import { TESTING } from '../networks/test-identity.js';
import { SUPPORT } from '../samples/sample-log.js';
import { startHttpApp } from '../servers/http-app.js';

export type Json = Readonly<Record<string, unknown>>;

const MEMBER = { ...TESTING, verified: true, rights: ['read', 'send', 'delete'] } as const;

/** By bearer token; `other` has the id of no caller of `default`. */
const CALLERS: Readonly<Record<string, Identity>> = {
  ann: { ...MEMBER, actor: { id: 'ann', name: 'Ann' } },
  bob: { ...MEMBER, actor: { id: 'bob', name: 'Bob' } },
  eve: { ...MEMBER, actor: { id: 'eve' } },
  admin: { ...TESTING, actor: { id: 'root' } },
  other: { ...MEMBER, tenants: ['beta'], actor: { id: 'ann' } },
  'other-admin': { ...TESTING, tenants: ['beta'], actor: { id: 'ann' } },
};

export async function spacesApp(
  deps: Partial<AppDeps> = {},
  {
    kind = 'sqlite',
    script = {},
  }: { readonly kind?: 'sqlite' | 'none'; readonly script?: Script } = {},
) {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const agents = (): Promise<readonly (typeof SUPPORT)[]> => Promise.resolve([SUPPORT]);
  const spaces = new Spaces({ store, live: createLocalLiveChannel(), agents });
  const app = await startHttpApp(script, {
    ...(kind === 'none' ? {} : { spaces }),
    identify: (request) => CALLERS[request.get('authorization')?.replace('Bearer ', '') ?? ''],
    ...deps,
  });
  const as = (name: string) => {
    const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${name}`);
      return await app.request(path, { ...init, headers });
    };
    const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
      await request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const posted = async (path: string, body: unknown, status = 200): Promise<Json> => {
      const response = await post(path, body);
      const answer = (await response.json()) as Json;
      expect([response.status, answer]).toEqual([status, answer]);
      return answer;
    };
    return {
      ...{ request, post, posted },
      json: async (path: string) => (await (await request(path)).json()) as Json,
      created: async (body: unknown, key?: string): Promise<Space> => {
        const headers = key === undefined ? {} : { 'idempotency-key': key };
        const response = await post('/v1/spaces', body, headers);
        expect(response.status).toBe(201);
        return (await response.json()) as Space;
      },
    };
  };
  return { ...app, as, spaces, store };
}
