/** Goals and memories of an entity, in all of its conversations. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { DOCUMENTS } from '../../../../src/define/plugin/documents.js';
import { defineAgent } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import {
  type AgentMemory,
  type MemoryOptions,
  SPACES,
  spacesPlugin,
} from '../../../../src/spaces/index.js';
import { memoryIn } from '../../../../src/spaces/plugin/memory.js';
import { notesProblem } from '../../../../src/spaces/plugin/state.js';
import { Spaces } from '../../../../src/spaces/service.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { calls, callsAll, says, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { watched } from '../../kit/plugins/watched.js';

async function stores() {
  const opened = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => opened.log.close());
  const ports = {
    [SPACES.id]: new Spaces({ store: opened.spaces }),
    [DOCUMENTS.id]: opened.documents,
  };
  /** A new conversation of the agent. */
  const conversation = (memory: MemoryOptions, ...answers: readonly ScriptedAnswer[]) => {
    const { model, requests } = watched(...answers);
    const agent = defineAgent({
      ...{ name: 'bot', model, instructions: 'Help.', plugins: [spacesPlugin({ memory })] },
      settings: { toolExecution: 'sequential' },
      resultForm: 'bare',
    });
    const t = testConversation(agent, { ports });
    const contexts = () => requests.map(({ messages }) => JSON.stringify(messages.at(-1)?.parts));
    const results = () =>
      t.events.flatMap((event) => {
        if (event.type !== 'tool_result') return [];
        const { envelope } = event.result;
        return [envelope.ok ? envelope.result : envelope.error.message];
      });
    return { t, contexts, results };
  };
  const kept = async (entity = 'bot', tenant = 'default') =>
    await memoryIn(opened.documents).read({ tenant, entity });
  return { ...opened, ports, conversation, kept };
}

const remember = (key: string, value: string) =>
  calls('set_memories', { memories: [{ key, value }] });

it('a goal and a memory of one conversation are in the context of the next, and deleted for all', {
  ...promise('G413'),
}, async () => {
  const { conversation, kept } = await stores();
  const first = conversation(
    {},
    callsAll([
      { name: 'set_goals', input: { goals: [{ id: 'g1', description: 'Ship it' }] } },
      { name: 'set_memories', input: { memories: [{ key: 'ann', value: 'likes tea' }] } },
    ]),
    says('noted'),
  );
  await first.t.send('Go');
  expect(first.contexts()[1]).toContain('- ann: likes tea');
  const second = conversation(
    {},
    calls('set_goals', { goals: [{ id: 'g1', status: 'completed' }] }),
    calls('delete_memories', { keys: ['ann', 'none', 'ann'] }),
    says('done'),
  );
  await second.t.send('Go');
  expect(second.contexts()[0]).toContain('- [active] g1: Ship it');
  expect(second.contexts()[0]).toContain('- ann: likes tea');
  expect(second.contexts()[1]).toContain('- [completed] g1: Ship it');
  expect(second.results()).toEqual([
    { success: true, goals: [{ id: 'g1', description: 'Ship it', status: 'completed' }] },
    { success: true, deleted: ['ann'] },
  ]);
  expect(await kept()).toEqual({
    goals: {
      g1: { description: 'Ship it', status: 'completed', at: expect.any(String) as string },
    },
    memories: {},
  });
});

it('entities share nothing, nor do tenants', async () => {
  const { conversation, kept, documents } = await stores();
  const memory = (entity: string): MemoryOptions => ({ entity: () => entity });
  await conversation(memory('ann'), remember('tea', 'yes'), says('noted')).t.send('Go');
  const other = conversation(memory('bob'), says('hi'));
  await other.t.send('Go');
  expect(other.contexts()[0]).not.toContain('tea');
  expect((await kept('ann')).memories).toHaveProperty('tea');
  expect(await kept('ann', 'acme')).toEqual({ goals: {}, memories: {} });
  const again = conversation(memory('ann'), says('hi'));
  await again.t.send('Go');
  expect(again.contexts()[0]).toContain('- tea: yes');
  await memoryIn(documents).put(
    { tenant: 'acme', entity: 'ann' },
    { goals: {}, memories: { x: { value: 'y', at: '' } } },
    () => undefined,
  );
  expect(await kept('ann')).not.toHaveProperty(['memories', 'x']);
});

it('a note that was stored by a lost worker and is set again is one note', async () => {
  const { conversation, kept } = await stores();
  const { t, results } = conversation(
    {},
    remember('tea', 'yes'),
    remember('tea', 'yes'),
    says('noted'),
  );
  t.loseRuns('set_memories', 1);
  await t.send('Go');
  expect(results()).toMatchObject(['tool crashed: the worker was lost', { success: true }]);
  expect((await kept()).memories).toMatchObject({ tea: { value: 'yes' } });
  expect(Object.keys((await kept()).memories)).toHaveLength(1);
});

it('bounds the notes of an entity, and stores none of those that are too many', async () => {
  const { conversation, kept } = await stores();
  const value = 'x'.repeat(4_000);
  const set = (from: number) =>
    calls('set_memories', {
      memories: Array.from({ length: 10 }, (_, index) => ({ key: `k${from + index}`, value })),
    });
  const { t } = conversation({}, set(0), says('noted'));
  await t.send('Go');
  const next = conversation({}, set(10), says('noted'));
  await next.t.send('Go');
  expect(next.results()[0]).toMatch(/^Your goals and memories would have \d+ bytes/);
  expect(Object.keys((await kept()).memories)).toHaveLength(10);
});

it('conversations that write at the same time keep the bounds of their entity', async () => {
  const { documents, kept } = await stores();
  const of = { tenant: 'default', entity: 'bot' };
  const at = '';
  const written = await Promise.all(
    Array.from({ length: 5 }, async (_each, n) => {
      const memories = Object.fromEntries(
        Array.from({ length: 5 }, (_, m) => [`k${n}.${m}`, { value: 'x'.repeat(4_000), at }]),
      );
      return await memoryIn(documents).put(of, { goals: {}, memories }, notesProblem);
    }),
  );
  expect(written.filter((problem) => problem === undefined)).toHaveLength(3);
  expect(written.at(-1)).toMatch(/^Your goals and memories would have \d+ bytes/);
  expect(notesProblem(await kept())).toBeUndefined();
  expect(Object.keys((await kept()).memories)).toHaveLength(15);
});

it('a store of an application whose judge gets the new notes alone takes a goal', async () => {
  const { documents, conversation, kept } = await stores();
  const store = memoryIn(documents);
  const put: AgentMemory['put'] = (given, notes, problemOf) =>
    store.put(given, notes, (then) => problemOf(then));
  const goals = [{ id: 'g1', description: 'Ship it' }];
  const { t } = conversation(
    { store: { ...store, put } },
    calls('set_goals', { goals }),
    says('done'),
  );
  await t.send('Go');
  expect((await kept()).goals).toMatchObject({ g1: { description: 'Ship it' } });
});

describe('between the read and the write of set_goals, another conversation', () => {
  const of = { tenant: 'default', entity: 'bot' };
  const goal = (description: string) => ({
    ...{ goals: { g1: { description, status: 'active', at: '' } }, memories: {} },
  });
  /** Sets the status of g1 in a conversation, while `other` writes behind each of its first reads. */
  async function completed(other: (store: AgentMemory) => Promise<unknown>, times = 1) {
    const { documents, conversation, kept } = await stores();
    const store = memoryIn(documents);
    await store.put(of, goal('Ship it'), notesProblem);
    let left = times;
    const read: AgentMemory['read'] = async (given) => {
      const notes = await store.read(given);
      // The context of a model call reads before a goal is set, and the tool afterwards.
      if (isSetting && left > 0) {
        left -= 1;
        await other(store);
      }
      return notes;
    };
    let isSetting = false;
    const { t, results } = conversation(
      { store: { ...store, read } },
      {
        type: 'computed',
        answer: () => {
          isSetting = true;
          return calls('set_goals', { goals: [{ id: 'g1', status: 'completed' }] });
        },
      },
      says('done'),
    );
    await t.send('Go');
    return { result: results()[0], goals: (await kept()).goals };
  }

  it('changes the goal: neither change is lost', promise('G413'), async () => {
    const { goals } = await completed((store) => store.put(of, goal('Sell it'), notesProblem));
    expect(goals).toMatchObject({ g1: { description: 'Sell it', status: 'completed' } });
  });

  it('deletes the goal: it stays deleted', promise('G413'), async () => {
    const { goals, result } = await completed((store) =>
      store.delete(of, [{ kind: 'goals', name: 'g1' }]),
    );
    expect(result).toBe('goals[0].description is required: there is no goal "g1" yet');
    expect(goals).toEqual({});
  });

  it('changes it again and again: the agent reads that it should try again', async () => {
    let count = 0;
    const { goals, result } = await completed((store) => {
      count += 1;
      return store.put(of, goal(`Ship ${count}`), notesProblem);
    }, 1_000);
    expect(result).toBe('Other conversations change the same goals at the moment. Try again.');
    expect(goals).toMatchObject({ g1: { description: `Ship ${count}`, status: 'active' } });
  });
});

it('an entity has two hundred memories at most, also with few goals', async () => {
  const { conversation, kept, documents } = await stores();
  const memories = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`k${n}`, { value: '', at: '' }]),
  );
  const of = { tenant: 'default', entity: 'bot' };
  const { put } = memoryIn(documents);
  expect(await put(of, { goals: {}, memories }, notesProblem)).toBeUndefined();
  const { t, results } = conversation({}, remember('more', 'x'), remember('k0', 'x'), says('ok'));
  await t.send('Go');
  expect(results()).toEqual([
    'You may have at most 200 memories. Delete some first.',
    { success: true, keys: ['k0'] },
  ]);
  expect(Object.keys((await kept()).memories)).toHaveLength(200);
});

it('is deleted with its tenant', async () => {
  const opened = await stores();
  await opened.conversation({}, remember('tea', 'yes'), says('noted')).t.send('Go');
  await createDeletions(opened).removeOfTenant('default');
  expect(await opened.kept()).toEqual({ goals: {}, memories: {} });
});

it('a faulty entity fails with the rule, and a foreign document is no note', async () => {
  const { conversation, documents } = await stores();
  for (const name of ['', 'x'.repeat(201), 'a\0', '\ud800']) {
    const faulty = conversation({ entity: () => name }, says('hi'));
    await faulty.t.send('Go').catch(() => undefined);
    expect(JSON.stringify(faulty.t.events)).toContain(
      'memory.entity must return 1 to 200 characters',
    );
  }
  const of = { tenant: 'default', kind: 'agent.memory', owner: 'bot' };
  const foreign = [
    { name: 'memories:a', document: { other: 1 } },
    { name: 'b', document: 1 },
  ];
  await documents.put(of, { documents: foreign, most: 9, nowMs: 1 });
  const { t } = conversation({}, says('hi'));
  await t.send('Go');
  expect(t.text).toBe('hi');
});
