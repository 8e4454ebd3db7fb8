/** Documents of agents that change at run time: rules, versions, stores and routes. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CallerIdentity,
  type HsafaStoredAgentOptions,
  hsafaAgentDocuments,
  hsafaServers,
  hsafaToolbox,
  keptAgentDocuments,
  memoryAgentDocuments,
  memoryServerDocuments,
  memoryToolDocuments,
} from '../../../../src/compat/hsafa/index.js';
import type { Documents } from '../../../../src/define/plugin/documents.js';
import { DefinitionError } from '../../../../src/index.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';
import { promise } from '../../../support/promise.js';

const OF = { tenant: 'acme' };
const AT = '1970-01-01T00:00:00.000Z';
const TOOL = {
  ...{ name: 'confirmAction', description: 'Asks.', executionType: 'space' },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};
const DOCUMENT = {
  ...{ name: 'assistant', description: 'Helps.', systemPrompt: 'Help the team.', model: 'fast' },
  tools: [TOOL],
  mcp: {
    servers: [
      {
        ...{ name: 'github-tools', url: 'https://mcp.github.com', transport: 'http' },
        headers: { Authorization: { secret: 'github', prefix: 'Bearer ' } },
      },
    ],
  },
};

const OPTIONS: HsafaStoredAgentOptions = {
  spaces: false,
  model: (name: string) => {
    if (name !== 'fast') throw new Error(`no model "${name}"`);
    return { name, generate: () => Promise.reject(new Error('not asked')) };
  },
};

async function storeIn(where: 'memory' | 'event log') {
  if (where === 'memory') return inMemoryStore();
  return keptAgentDocuments(await openedDocuments(), () => 0);
}

async function openedDocuments() {
  const { documents, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  return documents;
}

const inMemoryStore = () => memoryAgentDocuments(() => new Date(0));
const inMemory = (options: HsafaStoredAgentOptions = OPTIONS) =>
  hsafaAgentDocuments(inMemoryStore(), options);

/** The faults of a document, by field. */
async function faultsOf(document: unknown, options?: Partial<HsafaStoredAgentOptions>) {
  try {
    await inMemory({ ...OPTIONS, ...options }).put(OF, document);
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a stored document of an agent', () => {
  it.each(['memory', 'event log'] as const)(
    'has versions, is listed for its tenant alone, and is deleted (%s)',
    async (where) => {
      const store = await storeIn(where);
      const agents = hsafaAgentDocuments(store, OPTIONS);
      const stored = { name: 'assistant', document: DOCUMENT, changedAt: AT };
      expect(await agents.put(OF, DOCUMENT)).toEqual({ ...stored, version: 1, warnings: [] });
      expect(await agents.put(OF, DOCUMENT)).toMatchObject({ version: 2 });
      expect(await agents.list(OF)).toEqual([{ ...stored, version: 2 }]);
      expect(await store.get(OF.tenant, 'assistant')).toMatchObject({ since: 1 });
      expect(await agents.list({ tenant: 'other' })).toEqual([]);
      expect(await store.get('other', 'assistant')).toBeUndefined();
      expect(await store.get(OF.tenant, 'never')).toBeUndefined();
      expect(await agents.delete({ tenant: 'other' }, 'assistant')).toBe(false);
      expect(await agents.delete(OF, 'assistant')).toBe(true);
      expect(await agents.delete(OF, 'assistant')).toBe(false);
      expect(await agents.list(OF)).toEqual([]);
      expect(await store.get(OF.tenant, 'assistant')).toBe('deleted');
      expect(await agents.put(OF, DOCUMENT)).toMatchObject({ version: 3 });
      expect(await store.get(OF.tenant, 'assistant')).toMatchObject({ since: 3 });
    },
  );

  it('is deleted with a warning where no more notes of deletions are kept', async () => {
    const documents = await openedDocuments();
    const full: Documents = {
      list: (...of) => documents.list(...of),
      get: (...of) => documents.get(...of),
      put: async (of, given) =>
        of.kind === 'agents.deleted' ? undefined : await documents.put(of, given),
      delete: (...of) => documents.delete(...of),
    };
    const warnings: string[] = [];
    const store = keptAgentDocuments(
      full,
      () => 0,
      (message) => void warnings.push(message),
    );
    const agents = hsafaAgentDocuments(store, OPTIONS);
    await agents.put(OF, DOCUMENT);
    expect(await agents.delete(OF, 'assistant')).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/10000 deleted agents .* "assistant"/)]);
    expect(await store.get(OF.tenant, 'assistant')).toBeUndefined();
  });

  it('has the manifest of an agent that a worker has from its start, for clients', async () => {
    const agents = inMemory();
    await agents.put(OF, DOCUMENT);
    const [manifest] = await agents.manifests({ ...OF, name: 'assistant' });
    expect(manifest).toMatchObject({
      ...{ name: 'assistant', description: 'Helps.', model: 'fast' },
      tools: [{ name: 'confirmAction', executor: 'human', metadata: { visible: true } }],
      mcpServers: [{ name: 'github-tools' }],
      settings: { onBusy: 'queue', toolExecution: 'sequential' },
    });
    expect(await agents.manifests(OF)).toEqual([manifest]);
    expect(await agents.manifests({ tenant: 'other' })).toEqual([]);
    expect(await agents.manifests({ ...OF, name: 'never' })).toEqual([]);
    expect(await agents.manifests({})).toEqual([]);
  });

  it.each<[string, unknown, readonly string[]]>([
    ['no document', null, ['']],
    ['nothing in it', {}, ['name', 'instructions', 'model']],
    ['the name of the catalog', { ...DOCUMENT, name: 'hsafa.agents' }, ['name']],
    ['a model that is unknown', { ...DOCUMENT, model: 'slow' }, ['model']],
    ['two prompts', { ...DOCUMENT, instructions: 'x' }, ['systemPrompt']],
    ['a tool by its name', { ...DOCUMENT, tools: ['other'] }, ['tools[0]']],
    ['two tools of a name', { ...DOCUMENT, tools: [TOOL, TOOL] }, ['tools[1]']],
    ['servers that are no list', { ...DOCUMENT, mcp: { servers: 'all' } }, ['mcp.servers']],
    [
      'two servers of a name',
      { ...DOCUMENT, mcp: { servers: [...DOCUMENT.mcp.servers, ...DOCUMENT.mcp.servers] } },
      ['mcp.servers[1]'],
    ],
    [
      'two servers of a name behind a bad one',
      {
        ...DOCUMENT,
        mcp: { servers: [{ name: 'bad' }, ...DOCUMENT.mcp.servers, ...DOCUMENT.mcp.servers] },
      },
      ['mcp.servers[0].url', 'mcp.servers[2]'],
    ],
    [
      'a tool that no plan has room for',
      { ...DOCUMENT, tools: [{ ...TOOL, description: 'x'.repeat(4_033) }] },
      ['tools[0]'],
    ],
    [
      'too many tools',
      { ...DOCUMENT, tools: Array.from({ length: 129 }, (_, n) => ({ ...TOOL, name: `t${n}` })) },
      ['tools'],
    ],
    ['too many bytes', { ...DOCUMENT, systemPrompt: 'x'.repeat(128 * 1024) }, ['']],
    [
      'faults of all sorts at once',
      {
        ...{ name: 'a b', model: 7, instructions: 'x' },
        tools: [{ name: 'x' }, { ...TOOL, timeout: 0 }],
        mcp: { servers: [{ name: 'kit', url: 'x', headers: { cookie: 'c' } }] },
      },
      [
        ...['name', 'model', 'tools[0].executionType', 'tools[1].timeout'],
        ...['mcp.servers[0].url', 'mcp.servers[0].headers.cookie'],
      ],
    ],
  ])('with %s is refused by each field', promise('G406'), async (_title, document, fields) => {
    const faults = (await faultsOf(document)).map(({ field }) => field);
    expect(faults.toSorted()).toEqual([...fields].toSorted());
  });

  it('has warnings, which strict refuses', async () => {
    const document = {
      ...DOCUMENT,
      display: {},
      tools: [{ ...TOOL, inputSchema: {} }],
      mcp: { servers: [{ ...DOCUMENT.mcp.servers[0], colour: 'red' }] },
    };
    const paths = ['display', 'mcp.servers[0].colour', 'tools[0].inputSchema'];
    const { warnings } = await inMemory().put(OF, document);
    expect(warnings.map(({ path }) => path).toSorted()).toEqual(paths);
    const faults = await faultsOf(document, { strict: true });
    expect(faults.map(({ field }) => field).toSorted()).toEqual(paths);
  });

  it('must be servable: settings of all agents name no tool of one document', async () => {
    const settings = { budgets: { callsOf: { confirmAction: 1 } } };
    expect(await faultsOf(DOCUMENT, { settings })).toMatchObject([
      { field: 'settings.budgets.callsOf.confirmAction' },
    ]);
  });

  it('is one of at most 100 of a tenant', async () => {
    const agents = inMemory();
    for (let n = 0; n < 100; n += 1) await agents.put(OF, { ...DOCUMENT, name: `a${n}` });
    await expect(agents.put(OF, DOCUMENT)).rejects.toThrow('100 agents already');
    expect(await agents.put(OF, { ...DOCUMENT, name: 'a5' })).toMatchObject({ name: 'a5' });
    await agents.put({ tenant: 'other' }, DOCUMENT);
  });
});

describe('/api/agents', () => {
  const admin: Partial<CallerIdentity> = { rights: ['admin'] };

  async function request(base: string, method: string, path: string, body?: unknown) {
    const response = await fetch(`${base}/api/agents${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  }

  it('puts an agent with its next version, lists and deletes it, for the tenant of the caller', async () => {
    const base = await servedRoutes({ agents: inMemory(), identity: admin });
    const stored = { name: 'assistant', version: 1, document: DOCUMENT, changedAt: AT };
    expect(await request(base, 'PUT', '/assistant', DOCUMENT)).toEqual([
      200,
      { ...stored, warnings: [] },
    ]);
    expect(await request(base, 'GET', '')).toEqual([200, { agents: [stored] }]);
    expect(await request(base, 'GET', '?tenant=other')).toEqual([200, { agents: [] }]);
    expect(await request(base, 'DELETE', '/assistant')).toEqual([200, { deleted: true }]);
    expect(await request(base, 'DELETE', '/assistant')).toEqual([
      404,
      { error: 'No such agent document' },
    ]);
  });

  it.each<[string, Partial<CallerIdentity> | undefined, unknown, number]>([
    ['a caller without the right', { rights: ['answer', 'read'] }, DOCUMENT, 403],
    ['a caller who is unknown', undefined, DOCUMENT, 401],
    ['a caller who is bound to a conversation', { ...admin, conversation: 'c' }, DOCUMENT, 403],
    ['the name of another document', admin, { ...DOCUMENT, name: 'other' }, 400],
    ['a document with faults', admin, { ...DOCUMENT, model: 'slow' }, 400],
  ])('refuses %s', promise('G406'), async (_who, identity, document, status) => {
    const agents = inMemory();
    const base = await servedRoutes({ agents, identity });
    expect(await request(base, 'PUT', '/assistant', document)).toMatchObject([status, {}]);
    expect(await agents.list(OF)).toEqual([]);
  });

  it.each<[string, string, object]>([
    ['agents', '/assistant', DOCUMENT],
    ['tools', '/assistant/tools/confirmAction', TOOL],
    ['servers', '/assistant/mcp-servers/github-tools', DOCUMENT.mcp.servers[0]!],
  ])('refuses documents of %s that are nested too deep', async (_kind, path, document) => {
    const base = await servedRoutes({
      ...{ agents: inMemory(), identity: admin },
      toolbox: hsafaToolbox(memoryToolDocuments()),
      servers: hsafaServers(memoryServerDocuments()),
    });
    for (const [field, depth] of [['not', 2_000] as const, ['a', 20_000] as const]) {
      const nested = `${`{"${field}":`.repeat(depth)}{}${'}'.repeat(depth)}`;
      const body = JSON.stringify(document).replace(/\}$/, `,"inputSchema":${nested}}`);
      const response = await fetch(`${base}/api/agents${path}`, {
        ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body },
      });
      expect([response.status, await response.json()]).toMatchObject([
        ...[400, { problems: [{ field: '', rule: 'must be nested at most 64 deep' }] }],
      ]);
    }
  });

  it('is not there without documents of agents', async () => {
    expect((await fetch(`${await servedRoutes({ identity: admin })}/api/agents`)).status).toBe(404);
  });
});
