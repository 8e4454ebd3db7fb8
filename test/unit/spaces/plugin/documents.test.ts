/** Agents that are documents of Hsafa have the built-in tools without a plugin of the application. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  hsafaAgents,
  hsafaToolbox,
  hsafaTools,
  loadHsafaFile,
  memoryAgentDocuments,
  memoryToolDocuments,
} from '../../../../src/compat/hsafa/index.js';
import {
  type AnyAgent,
  DefinitionError,
  definePlugin,
  manifestOf,
  type Plugin,
} from '../../../../src/index.js';
import { spacesPlugin } from '../../../../src/spaces/index.js';
import { says, script, testConversation } from '../../../../src/testing/index.js';
import { startPlugins } from '../../../../src/tools/plugins/lifecycle.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';
import { promise } from '../../../support/promise.js';
import { BUILT_IN_NAMES } from '../../../support/spaces/built-in-names.js';
import { faultsOf } from '../../define/tool/faults.js';

const OF = { tenant: 'default' };
const CLERK = { name: 'clerk', model: 'any', instructions: 'Help.' };
const OPTIONS: HsafaStoredAgentOptions = { model: () => script() };
const documentOf = (name: string) => ({
  ...{ name, description: 'Mine.', executionType: 'internal', inputSchema: { type: 'object' } },
});

const builtInsOf = (agent: AnyAgent | undefined) =>
  (agent?.tools ?? [])
    .flatMap(({ name }) => (BUILT_IN_NAMES.includes(name) ? [name] : []))
    .toSorted();

/** The agent of a document, by each way in which an application gives it to workers. */
const WAYS: readonly (readonly [
  way: string,
  agentBy: (options: HsafaStoredAgentOptions) => AnyAgent | undefined | Promise<AnyAgent>,
])[] = [
  ['hsafaAgents', (options) => hsafaAgents(CLERK, options).agents[0]],
  ['loadHsafaFile', (options) => loadHsafaFile(fileOf(CLERK), options).agents[0]],
  ['the template of a catalog', (options) => hsafaAgentCatalog(options).template],
  [
    'a catalog',
    async (options) => {
      const { put, catalog } = hsafaAgentDocuments(memoryAgentDocuments(), options);
      await put(OF, CLERK);
      return (await catalog.find({ ...OF, agent: 'clerk' }, {} as never)) as AnyAgent;
    },
  ],
];

function fileOf(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'hsafa-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(document));
  return folder;
}

/** The faults of the options. */
async function refused(agentBy: () => unknown): Promise<unknown> {
  try {
    await agentBy();
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('an agent that is a document', () => {
  it.each(WAYS)(
    'has the twelve built-in tools, without a plugin (%s)',
    promise('G414'),
    async (_way, agentBy) => {
      expect(builtInsOf(await agentBy(OPTIONS))).toEqual(BUILT_IN_NAMES);
    },
  );

  it.each(WAYS)('shares one plugin object with every other one (%s)', async (_way, agentBy) => {
    const builtInOf = (agent: AnyAgent | undefined) =>
      agent?.plugins?.find(({ id }) => id === 'spaces');
    const builtIn = builtInOf(await agentBy(OPTIONS));
    expect(builtIn).toBeDefined();
    expect(builtIn).toBe(builtInOf(hsafaAgents(CLERK, OPTIONS).agents[0]));
  });

  it.each(WAYS)('has them by the plugin that it is given (%s)', async (_way, agentBy) => {
    const own = spacesPlugin({ memory: {} });
    const agent = await agentBy({ ...OPTIONS, plugins: [own] });
    expect(agent?.plugins?.filter(({ id }) => id === own.id)).toEqual([own]);
    expect(builtInsOf(agent)).toEqual(BUILT_IN_NAMES);
  });

  it.each(WAYS)(
    'is refused with a plugin of the id "spaces" that has not the twelve tools (%s)',
    promise('G414'),
    async (_way, agentBy) => {
      const { tools } = spacesPlugin();
      for (const kept of [[], tools.slice(1)]) {
        const plugins = [definePlugin({ id: 'own' }), definePlugin({ id: 'spaces', tools: kept })];
        expect(await refused(() => agentBy({ ...OPTIONS, plugins }))).toEqual([
          {
            field: 'plugins[1]',
            rule: 'has the id of spacesPlugin, "spaces", without the built-in tools',
          },
        ]);
      }
    },
  );

  it.each(WAYS)(
    'is refused with spaces: false beside a spacesPlugin (%s)',
    async (_way, agentBy) => {
      const options = {
        ...OPTIONS,
        plugins: [spacesPlugin({ memory: {} })],
        spaces: false,
      } as const;
      expect(await refused(() => agentBy(options))).toEqual([
        {
          field: 'plugins[0]',
          rule: 'gives agents the built-in tools, which spaces: false leaves out',
        },
      ]);
    },
  );

  it.each(WAYS)('has none of them with spaces: false (%s)', async (_way, agentBy) => {
    expect(builtInsOf(await agentBy({ ...OPTIONS, spaces: false }))).toEqual([]);
  });

  it('shows them to clients as soon as it is put', async () => {
    const { put, manifests } = hsafaAgentDocuments(memoryAgentDocuments(), OPTIONS);
    await put(OF, CLERK);
    const [manifest] = await manifests(OF);
    expect(manifest?.tools.map(({ name }) => name).toSorted()).toEqual(BUILT_IN_NAMES);
  });

  it.each(WAYS)(
    'needs a worker with spaces: another one does not start (%s)',
    promise('G414'),
    async (_way, agentBy) => {
      const agent = await agentBy(OPTIONS);
      const logger = { debug() {}, info() {}, warn() {}, error() {} };
      const deps = { services: undefined as never, logger, ports: { documents: {} } };
      await expect(startPlugins([agent!], deps)).rejects.toThrow(
        /worker does not start: this worker has no spaces; .*spaces: false/,
      );
    },
  );

  it('leaves another error of the start as it is, before the hint to the option', async () => {
    const [agent] = hsafaAgents(CLERK, OPTIONS).agents;
    const port = () => {
      throw new Error('the store is away');
    };
    const start = (plugin: Plugin | undefined) =>
      (async () => plugin?.ready?.({ port } as never))();
    await expect(start(spacesPlugin())).rejects.toThrow(/^the store is away$/);
    await expect(start(agent?.plugins?.at(-1))).rejects.toThrow(
      /^the store is away; .*spaces: false$/,
    );
  });
});

describe('a document with the name of a built-in tool', () => {
  it.each(BUILT_IN_NAMES)(
    'is refused by its field: "%s"',
    promise('G414', 'H34', 'S28'),
    (name) => {
      const tool = documentOf(name);
      const rule = `is that of a built-in tool, which no document replaces: "${name}"`;
      expect(faultsOf(() => hsafaTools(tool))).toEqual({ name: rule });
      const agent = { ...CLERK, tools: [documentOf('own'), tool] };
      expect(faultsOf(() => hsafaAgents(agent, OPTIONS))).toEqual({ 'tools[1].name': rule });
      expect(faultsOf(() => loadHsafaFile(fileOf([tool]), OPTIONS))).toEqual({
        'agent.json: [0].name': rule,
      });
    },
  );

  it('is refused by the API, for a tool and for an agent', promise('G414'), async () => {
    const toolbox = hsafaToolbox(memoryToolDocuments());
    const agents = hsafaAgentDocuments(memoryAgentDocuments(), OPTIONS);
    const base = await servedRoutes({ toolbox, agents, identity: { rights: ['admin'] } });
    const put = async (path: string, document: object) => {
      const response = await fetch(`${base}/api/agents/${path}`, {
        ...{ method: 'PUT', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify(document),
      });
      return [response.status, await response.json()];
    };
    expect(await put('clerk/tools/skip', documentOf('skip'))).toMatchObject([
      400,
      { problems: [{ field: 'name' }] },
    ]);
    expect(await put('clerk', { ...CLERK, tools: [documentOf('skip')] })).toMatchObject([
      400,
      { problems: [{ field: 'tools[0].name' }] },
    ]);
    expect(await toolbox.list({ ...OF, agent: 'clerk' })).toEqual([]);
    expect(await agents.list(OF)).toEqual([]);
  });

  it('is a tool like any other with spaces: false', async () => {
    const tools = [documentOf('skip')];
    const [agent] = hsafaAgents({ ...CLERK, tools }, { ...OPTIONS, spaces: false }).agents;
    expect(manifestOf(agent!).tools.map(({ name }) => name)).toEqual(['skip']);
    const { put } = hsafaToolbox(memoryToolDocuments(), { spaces: false });
    expect(await put({ ...OF, agent: 'clerk' }, documentOf('skip'))).toMatchObject({ version: 1 });
  });

  it('stays a tool where a store has had it from before, and the agent has no built-in ones', async () => {
    const store = memoryToolDocuments();
    await store.put({ ...OF, agent: 'clerk' }, documentOf('skip') as never, 1);
    const model = script(says('Hi.'));
    const plugins = [hsafaToolbox(store).plugin];
    const [agent] = hsafaAgents(CLERK, { model: () => model, plugins, spaces: false }).agents;
    await testConversation(agent!).send('Go');
    expect(model.requests[0]?.tools).toMatchObject([{ name: 'skip', description: 'Mine.' }]);
  });
});
