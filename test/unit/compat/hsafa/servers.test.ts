/** Documents of MCP servers that change at run time: rules, versions, stores and routes. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CallerIdentity,
  type HsafaServerOptions,
  hsafaServerPlugin,
  hsafaServers,
  keptServerDocuments,
  memoryServerDocuments,
} from '../../../../src/compat/hsafa/index.js';
import { DefinitionError } from '../../../../src/index.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';

const OF = { tenant: 'acme', agent: 'a' };
const GITHUB = {
  ...{ name: 'github-tools', url: 'https://mcp.github.com', transport: 'http' as const },
  ...{ allowedTools: ['list_prs', 'create_issue'] },
  headers: { Authorization: { secret: 'github', prefix: 'Bearer ' }, Accept: 'text/plain' },
};
const AT = '1970-01-01T00:00:00.000Z';

async function storeIn(where: 'memory' | 'event log') {
  if (where === 'memory') return memoryServerDocuments(() => new Date(0));
  const { documents, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  return keptServerDocuments(documents, () => 0);
}

const inMemory = (options?: HsafaServerOptions) =>
  hsafaServers(
    memoryServerDocuments(() => new Date(0)),
    options,
  );

/** The faults of a document, by field. */
async function faultsOf(document: unknown, options?: HsafaServerOptions) {
  try {
    await inMemory(options).put(OF, document);
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a document of an MCP server', () => {
  it.each(['memory', 'event log'] as const)(
    'has versions, is listed for its agent and tenant alone, and is deleted (%s)',
    async (where) => {
      const store = await storeIn(where);
      const servers = hsafaServers(store);
      const has = async (version: number) => await store.has(OF, { name: GITHUB.name, version });
      const stored = { name: GITHUB.name, document: GITHUB, changedAt: AT };
      expect(await servers.put(OF, GITHUB)).toEqual({ ...stored, version: 1, warnings: [] });
      expect(await servers.put(OF, GITHUB)).toMatchObject({ version: 2 });
      expect(await servers.list(OF)).toEqual([{ ...stored, version: 2 }]);
      expect([await has(1), await has(2)]).toEqual([true, true]);
      expect(await servers.list({ ...OF, tenant: 'other' })).toEqual([]);
      expect(await servers.list({ ...OF, agent: 'b' })).toEqual([]);
      expect(await servers.delete(OF, GITHUB.name)).toBe(true);
      expect(await servers.delete(OF, GITHUB.name)).toBe(false);
      expect(await servers.list(OF)).toEqual([]);
      expect(await has(2)).toBe(false);
      expect(await servers.put(OF, GITHUB)).toMatchObject({ version: 3 });
      expect([await has(2), await has(3)]).toEqual([false, true]);
    },
  );

  it.each<[string, unknown, readonly string[]]>([
    ['no document', null, ['']],
    ['nothing in it', {}, ['name', 'url']],
    ['another transport', { ...GITHUB, transport: 'sse' }, ['transport']],
    ['no url', { ...GITHUB, url: 'mcp.github.com' }, ['url']],
    ['a process', { ...GITHUB, url: 'file:///bin/sh' }, ['url']],
    ['a password in its url', { ...GITHUB, url: 'https://a:b@mcp.github.com' }, ['url']],
    ['a name that no tool may have', { ...GITHUB, name: 'a b' }, ['name']],
    ['a name that is too long', { ...GITHUB, name: 'x'.repeat(25) }, ['name']],
    ['no tool allowed', { ...GITHUB, allowedTools: [] }, ['allowedTools']],
    [
      'credentials in headers',
      { ...GITHUB, headers: { Authorization: 'Bearer tok', 'X-Api-Key': 'k', Accept: 'a' } },
      ['headers.Authorization', 'headers.X-Api-Key'],
    ],
    [
      'faults of all sorts at once',
      { name: 7, url: 'x', allowedTools: 'all', headers: { cookie: 'c' } },
      ['name', 'allowedTools', 'headers.cookie', 'url'],
    ],
  ])('with %s is refused by each field', async (_title, document, fields) => {
    const faults = (await faultsOf(document)).map(({ field }) => field);
    expect(faults.toSorted()).toEqual([...fields].toSorted());
  });

  it('has warnings, which strict refuses', async () => {
    const document = { ...GITHUB, display: {}, url: 'https://mcp.github.com/?api_key=1' };
    const { warnings } = await inMemory().put(OF, document);
    expect(warnings.map(({ path }) => path)).toEqual(['display', 'url']);
    const faults = await faultsOf(document, { strict: true });
    expect(faults.map(({ field }) => field)).toEqual(['display', 'url']);
  });

  it('fits into the plan of a call, and is one of at most 32 of an agent', async () => {
    const many = { ...GITHUB, allowedTools: Array.from({ length: 400 }, (_, n) => `tool_${n}`) };
    expect(await faultsOf(many)).toMatchObject([{ rule: /at most 4032 bytes of JSON/ }]);
    const servers = inMemory();
    for (let n = 0; n < 32; n += 1) await servers.put(OF, { ...GITHUB, name: `server-${n}` });
    await expect(servers.put(OF, GITHUB)).rejects.toThrow('32 MCP servers already');
    expect(await servers.put(OF, { ...GITHUB, name: 'server-5' })).toMatchObject({ version: 2 });
  });

  it('has fields of code beside it, and never those that decide where secrets go', async () => {
    const where = { url: 'http://10.0.0.1', allowPrivate: true, token: 'tok', command: 'sh' };
    const mcp = () => ({
      ...{ approval: 'required' as const, prefix: false },
      ...{ ...where, name: 'other', identity: 'requester', headers: { 'X-A': 'b' }, args: [] },
    });
    const servers = inMemory({ mcp });
    const { url, allowedTools, name } = GITHUB;
    const document = { name, url, allowedTools };
    await servers.put(OF, document);
    const { make } = servers.plugin.servers!['document']!;
    const { spec } = make({ version: 1, document });
    const transport = { transport: 'http' };
    expect(spec).toEqual({ ...document, ...transport, approval: 'required', prefix: false });
  });

  it('has to have a store in the worker', () => {
    const { ready } = hsafaServerPlugin();
    const ctx = {
      port: () => {
        throw new Error('this worker has no documents');
      },
    };
    expect(() => ready!(ctx as never)).toThrow('this worker has no documents');
  });
});

describe('/api/agents/{agent}/mcp-servers', () => {
  const admin: Partial<CallerIdentity> = { rights: ['admin'] };

  async function request(base: string, method: string, path: string, body?: unknown) {
    const response = await fetch(`${base}/api/agents/${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  }

  it('puts a document with its next version, lists and deletes it, for the tenant of the caller', async () => {
    const servers = inMemory();
    const base = await servedRoutes({ servers, identity: admin });
    const path = `a/mcp-servers/${GITHUB.name}`;
    const stored = { name: GITHUB.name, version: 1, document: GITHUB, changedAt: AT };
    expect(await request(base, 'PUT', path, GITHUB)).toEqual([200, { ...stored, warnings: [] }]);
    expect(await request(base, 'GET', 'a/mcp-servers')).toEqual([200, { servers: [stored] }]);
    expect(await request(base, 'GET', 'a/mcp-servers?tenant=other')).toEqual([
      200,
      { servers: [] },
    ]);
    expect(await request(base, 'DELETE', path)).toEqual([200, { deleted: true }]);
    expect(await request(base, 'DELETE', path)).toEqual([
      404,
      { error: 'No such server document' },
    ]);
  });

  it.each<[string, Partial<CallerIdentity> | undefined, unknown, number]>([
    ['a caller without the right', { rights: ['answer', 'read'] }, GITHUB, 403],
    ['a caller who is unknown', undefined, GITHUB, 401],
    ['a caller who is bound to a conversation', { ...admin, conversation: 'c' }, GITHUB, 403],
    ['the name of another document', admin, { ...GITHUB, name: 'other' }, 400],
    ['a document with faults', admin, { ...GITHUB, url: 'x' }, 400],
  ])('refuses %s', async (_who, identity, document, status) => {
    const servers = inMemory();
    const base = await servedRoutes({ servers, identity });
    const path = `a/mcp-servers/${GITHUB.name}`;
    expect(await request(base, 'PUT', path, document)).toMatchObject([status, {}]);
    expect(await servers.list({ tenant: 'acme', agent: 'a' })).toEqual([]);
  });
});
