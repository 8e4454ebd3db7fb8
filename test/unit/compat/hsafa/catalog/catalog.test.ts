/** The catalog of agents that are documents: the objects that workers find, and how long they are the same. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  keptAgentDocuments,
  memoryAgentDocuments,
} from '../../../../../src/compat/hsafa/index.js';
import {
  agentTool,
  defineAgent,
  definePlugin,
  defineTool,
  handoffTool,
  jsonSchema,
  manifestOf,
} from '../../../../../src/index.js';
import { openSqliteStores } from '../../../../../src/store/sqlite/event-log.js';

const OF = { tenant: 'acme' };
const DOCUMENT = { name: 'assistant', systemPrompt: 'Help the team.', model: 'fast' };
const OPTIONS: HsafaStoredAgentOptions = {
  spaces: false,
  model: (name: string) => ({ name, generate: () => Promise.reject(new Error('not asked')) }),
};

const inMemoryStore = () => memoryAgentDocuments(() => new Date(0));
const inMemory = (options: HsafaStoredAgentOptions = OPTIONS) =>
  hsafaAgentDocuments(inMemoryStore(), options);

async function openedDocuments() {
  const { documents, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  return documents;
}

describe('the catalog', () => {
  const ctx = {
    port: () => {
      throw new Error('this worker has no documents');
    },
  };

  it('has the plugins and the settings of the agents in its template', () => {
    const tool = defineTool({
      ...{ name: 'enter_space', description: 'x', input: jsonSchema({ type: 'object' }) },
      run: () => 'ok',
    });
    const plugin = definePlugin({ id: 'own', tools: [tool] });
    const settings = { maxSteps: 3, budgets: { maxCost: 1 } } as never;
    const { catalog } = inMemory({ ...OPTIONS, plugins: [plugin], settings });
    expect(catalog.template.plugins).toContain(plugin);
    expect(manifestOf(catalog.template)).toMatchObject({
      ...{ name: 'hsafa.agents', tools: [{ name: 'enter_space' }] },
      settings: { maxSteps: 3, onBusy: 'queue' },
    });
  });

  it('has the same object for a version, and another one for the next', async () => {
    const agents = inMemory();
    const find = async (tenant = 'acme') =>
      await agents.catalog.find({ tenant, agent: 'assistant' }, ctx as never);
    expect(await find()).toBeUndefined();
    await agents.put(OF, DOCUMENT);
    const first = await find();
    expect(first).toMatchObject({ instructions: 'Help the team.', resultForm: 'bare' });
    expect(await find()).toBe(first);
    expect(await find('other')).toBeUndefined();
    await agents.put(OF, { ...DOCUMENT, systemPrompt: 'Help less.' });
    expect(await find()).toMatchObject({ instructions: 'Help less.' });
    await agents.delete(OF, 'assistant');
    expect(await find()).toBe('deleted');
  });

  it('makes an agent anew where its tenant was deleted, so that its versions begin again', async () => {
    const stores = [inMemoryStore(), inMemoryStore()];
    for (const [index, store] of stores.entries())
      await hsafaAgentDocuments(store, OPTIONS).put(OF, {
        ...DOCUMENT,
        systemPrompt: `Prompt ${index}.`,
      });
    const [before, after] = stores;
    let store = before!;
    const { catalog } = hsafaAgentDocuments(
      { ...before!, get: (...of) => store.get(...of) },
      OPTIONS,
    );
    const find = () => catalog.find({ ...OF, agent: 'assistant' }, ctx as never);
    expect(await find()).toMatchObject({ instructions: 'Prompt 0.' });
    store = after!;
    expect(await find()).toMatchObject({ instructions: 'Prompt 1.' });
  });

  it('does not mix the agents of two event logs', async () => {
    const catalog = hsafaAgentCatalog(OPTIONS);
    const logs = [await openedDocuments(), await openedDocuments()];
    for (const documents of logs)
      await hsafaAgentDocuments(keptAgentDocuments(documents), OPTIONS).put(OF, DOCUMENT);
    const find = (documents: unknown) =>
      catalog.find({ ...OF, agent: 'assistant' }, { port: () => documents } as never);
    const [one, other] = [await find(logs[0]), await find(logs[1])];
    expect(one).not.toBe(other);
    expect([await find(logs[0]), await find(logs[1])]).toEqual([one, other]);
    expect(await find(logs[0])).toBe(one);
  });

  it('remembers agents of 16 MiB of documents, and forgets the oldest use first', async () => {
    const store = inMemoryStore();
    const { put, catalog } = hsafaAgentDocuments(store, OPTIONS);
    const large = { ...DOCUMENT, systemPrompt: 'x'.repeat(120 * 1024) };
    const find = (tenant: string, n: number) =>
      catalog.find({ tenant, agent: `a${n}` }, ctx as never);
    const made = [];
    for (const tenant of ['one', 'two'])
      for (let n = 0; n < 70; n += 1) {
        await put({ tenant }, { ...large, name: `a${n}` });
        made.push(await find(tenant, n));
        await find('one', 0);
      }
    expect(await find('one', 0)).toBe(made[0]);
    expect(await find('two', 69)).toBe(made[139]);
    expect(await find('one', 1)).not.toBe(made[1]);
  });

  it.each(['agentTool', 'handoffTool'] as const)(
    'has no plugin with a tool of %s, whose agent no worker would have',
    (made) => {
      const helper = defineAgent({
        ...{ name: 'helper', instructions: 'Help.', model: OPTIONS.model('fast' as never) },
      });
      const about = { name: 'ask_helper', description: 'Asks.' };
      const tool = made === 'agentTool' ? agentTool(helper, about) : handoffTool(helper, about);
      const plugins = [definePlugin({ id: 'own' }), definePlugin({ id: 'team', tools: [tool] })];
      expect(() => inMemory({ ...OPTIONS, plugins })).toThrow(
        expect.objectContaining({
          problems: [
            {
              field: 'plugins[1].tools[0]',
              rule: expect.stringContaining('"ask_helper"') as string,
            },
          ],
        }),
      );
    },
  );

  it('has to have a store in the worker', () => {
    const { template } = hsafaAgentCatalog(OPTIONS);
    expect(() => template.plugins?.[0]?.ready?.(ctx as never)).toThrow('no documents');
  });
});
