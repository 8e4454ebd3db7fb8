/** Tool documents that change at run time: versions, and calls that keep theirs. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  hsafaAgents,
  hsafaToolbox,
  hsafaToolPlugin,
  keptToolDocuments,
  memoryToolDocuments,
  pendingToolCalls,
} from '../../../../src/compat/hsafa/index.js';
import { DOCUMENTS } from '../../../../src/define/plugin/documents.js';
import { DefinitionError } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';

const V1 = {
  ...{ name: 'lookup', description: 'Looks up.', executionType: 'external', timeout: 60_000 },
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
};
const V2 = {
  ...{ name: 'lookup', description: 'Returns the place.', executionType: 'internal' },
  inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};

type Kept = 'memory' | 'event log' | 'port';

/** `port`: the plugin has the documents of its worker, as a module of agents has. */
async function keptIn(kept: Kept) {
  if (kept === 'memory')
    return { store: memoryToolDocuments(() => new Date(0)), ports: {}, plugin: undefined };
  const { documents, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const store = keptToolDocuments(documents, () => 0);
  return kept === 'port'
    ? { store, ports: { [DOCUMENTS.id]: documents }, plugin: hsafaToolPlugin() }
    : { store, ports: {}, plugin: undefined };
}

async function talkingBy(kept: Kept, ...answers: readonly ScriptedAnswer[]) {
  const { store, ...rest } = await keptIn(kept);
  return { store, ...talkingWith({ store, ...rest }, ...answers) };
}

function talking(...answers: readonly ScriptedAnswer[]) {
  const store = memoryToolDocuments(() => new Date(0));
  return { store, ...talkingWith({ store, ports: {}, plugin: undefined }, ...answers) };
}

function talkingWith(
  { store, ports, plugin }: Awaited<ReturnType<typeof keptIn>>,
  ...answers: readonly ScriptedAnswer[]
) {
  const toolbox = hsafaToolbox(store);
  const model = script(...answers);
  const { agents } = hsafaAgents(
    {
      ...{ name: 'a', instructions: 'Help.', model: 'm' },
      tools: [{ name: 'own', executionType: 'internal' }],
    },
    { model: () => model, plugins: [plugin ?? toolbox.plugin], spaces: false },
  );
  const t = testConversation(agents[0]!, { ports });
  // The tenant of test conversations.
  return { toolbox, model, t, of: { tenant: 'default', agent: 'a' } };
}

const shown = (model: ReturnType<typeof script>) =>
  model.requests.map(({ tools }) =>
    tools.map((tool) => ('description' in tool ? tool.description : '')),
  );

describe('a document that changes at run time', () => {
  it('is read from the event log of the worker, which has to keep documents', async () => {
    const of = await keptIn('port');
    const { t } = talkingWith({ ...of, ports: {} }, says('Hi.'));
    await t.send('one').catch(() => undefined);
    expect(JSON.stringify(t.events)).toContain('this worker has no documents');
  });

  it.each<Kept>(['memory', 'event log', 'port'])(
    'is a tool from the next model call on; a call that waits keeps its version, also when it is deleted (%s)',
    async (kept) => {
      const { toolbox, model, t, of } = await talkingBy(
        kept,
        says('I cannot.'),
        calls('lookup', { q: 'x' }),
        calls('lookup', { place: 'here' }),
        says('Done.'),
        says('Gone.'),
      );
      await t.send('one');
      const first = await toolbox.put(of, V1);
      expect(first).toMatchObject({ name: 'lookup', version: 1, warnings: [] });
      await t.send('two');
      expect(t.pending).toMatchObject([{ name: 'lookup', kind: 'external_execution' }]);
      expect(await toolbox.put(of, V2)).toMatchObject({ version: 2 });
      t.rollOver();
      await t.resolve('lookup', { type: 'result', value: { found: 1 } });
      expect(pendingToolCalls('c', t.events)).toMatchObject([
        { status: 'resolved', result: { found: 1 } },
      ]);
      expect(t.result('lookup')).toEqual({
        ok: true,
        result: { success: true, args: { place: 'here' } },
      });
      expect(t.text).toBe('Done.');
      expect(await toolbox.delete(of, 'lookup')).toBe(true);
      expect(await toolbox.delete(of, 'lookup')).toBe(false);
      await t.send('three');
      expect(shown(model)).toEqual([
        ['own'],
        ['own', 'Looks up.'],
        ['own', 'Returns the place.'],
        ['own', 'Returns the place.'],
        ['own'],
      ]);
      expect(await toolbox.put(of, V1)).toMatchObject({ version: 3 });
    },
  );

  it('that was deleted is still answered by those who wait for it', async () => {
    const { toolbox, t, of } = talking(calls('lookup', { q: 'x' }), says('Found.'));
    await toolbox.put(of, V1);
    await t.send('go');
    await toolbox.delete(of, 'lookup');
    await t.resolve('lookup', { type: 'result', value: 7 });
    expect(t.result('lookup')).toEqual({ ok: true, result: 7 });
    expect(t.text).toBe('Found.');
  });

  it('belongs to one agent of one tenant', async () => {
    const { toolbox, model, t, of } = talking(says('Hm.'));
    await toolbox.put({ ...of, tenant: 'other' }, V1);
    await toolbox.put({ ...of, agent: 'b' }, V1);
    expect(await toolbox.list(of)).toEqual([]);
    expect(await toolbox.list({ ...of, agent: 'b' })).toEqual([
      { name: 'lookup', version: 1, document: V1, changedAt: '1970-01-01T00:00:00.000Z' },
    ]);
    await t.send('go');
    expect(shown(model)).toEqual([['own']]);
  });

  it('takes neither the name of a tool that the agent has, nor the others with it when it is broken', async () => {
    const { store, toolbox, model, t, of } = talking(says('Hm.'));
    await toolbox.put(of, { ...V1, name: 'own' });
    await store.put(of, { ...V1, name: 'broken', executionType: 'gateway' }, 9);
    await toolbox.put(of, V1);
    await t.send('go');
    expect(t.text).toBe('Hm.');
    expect(shown(model)).toEqual([['own', 'Looks up.']]);
  });

  it.each<[string, unknown, RegExp]>([
    ['faults', { ...V1, executionType: 'gateway', timeout: 0 }, /timeout/],
    ['no document', null, /must be an object/],
    ['a list', [V1], /one document/],
    ['more than a call can keep', { ...V1, description: 'x'.repeat(4_100) }, /at most 4032 bytes/],
  ])('with %s is refused, and the version before stays', async (_title, document, reason) => {
    const { toolbox, of } = talking();
    await toolbox.put(of, V1);
    await expect(toolbox.put(of, document)).rejects.toThrow(DefinitionError);
    await expect(toolbox.put(of, document)).rejects.toThrow(reason);
    expect(await toolbox.list(of)).toMatchObject([{ version: 1, document: V1 }]);
  });

  it('is one of at most 128 of an agent, which may still change', async () => {
    const { toolbox, of } = talking();
    for (let n = 0; n < 128; n += 1) await toolbox.put(of, { ...V1, name: `tool-${n}` });
    await expect(toolbox.put(of, V1)).rejects.toThrow('128 tool documents already');
    expect(await toolbox.put(of, { ...V1, name: 'tool-5' })).toMatchObject({ version: 2 });
  });
});
