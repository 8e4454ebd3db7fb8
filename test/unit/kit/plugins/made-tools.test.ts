/** Tools that plugins make at run time: added by `prepare`, or made by a factory from pinned arguments. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { definePlugin, defineTool, type Plugin } from '../../../../src/index.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';
import { forecast } from '../../../../src/tools/definition/forecast.js';
import { promise } from '../../../support/promise.js';
import { agentWith, offeredIn, watched } from './watched.js';

const empty = z.object({});

/** Round one opens the shop, which gives round two a tool. */
const shop = definePlugin({
  id: 'shop',
  state: z.object({ isOpen: z.boolean().default(false) }),
  prepare: ({ state, tools }) => {
    if (!state.getState(shop).isOpen) return;
    tools.add(
      defineTool({ name: 'shop.buy', description: 'Buy', input: empty, run: () => 'bought' }),
    );
  },
  tools: (self) => [
    defineTool({
      name: 'shop.open',
      description: 'Open',
      input: empty,
      run: (_, ctx) => {
        ctx.setState(self, { isOpen: true });
        return 'open';
      },
    }),
  ],
});

const triggers = definePlugin({
  id: 'triggers',
  config: { prefix: 'run of' },
  factories: {
    finish: (args, { config }) => {
      const { id } = z.object({ id: z.string() }).parse(args);
      return defineTool({
        name: `trigger.finish.${id}`,
        description: `Finish trigger ${id}`,
        input: empty,
        approval: { ask: { reason: 'ends it' } },
        run: () => `${config.prefix} ${id} finished`,
      });
    },
  },
  prepare: ({ tools }) => {
    tools.make('finish', { id: 't1' });
  },
});

describe('a tool that prepare adds', () => {
  it(
    'is offered and runs from the model call on whose state calls for it',
    promise('C18', 'S34'),
    async () => {
      const { model, requests } = watched(
        calls('shop.open', {}),
        calls('shop.buy', {}),
        says('done'),
      );
      const t = testConversation(agentWith(model, [shop]));
      await t.send('Buy');
      expect(offeredIn(requests)).toEqual([
        ['shop.open'],
        ['shop.open', 'shop.buy'],
        ['shop.open', 'shop.buy'],
      ]);
      expect(t.result('shop.buy')).toEqual({ ok: true, result: 'bought' });
    },
  );

  it('is unknown to a model call before', async () => {
    const { model } = watched(calls('shop.buy', {}), says('done'));
    const t = testConversation(agentWith(model, [shop]));
    await t.send('Buy');
    expect(t.result('shop.buy')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('runs in a sequential step, where its call is planned when its turn has come', async () => {
    const { model } = watched(
      calls('shop.open', {}),
      callsAll([
        { name: 'shop.open', input: {} },
        { name: 'shop.buy', input: {} },
      ]),
      says('done'),
    );
    const t = testConversation(agentWith(model, [shop], { toolExecution: 'sequential' }));
    await t.send('Buy');
    expect(t.result('shop.buy')).toEqual({ ok: true, result: 'bought' });
  });
});

describe('a tool of a factory', () => {
  it(
    'has its arguments in the plan, and runs after an approval',
    promise('C21', 'G307'),
    async () => {
      const { model, requests } = watched(calls('trigger.finish.t1', {}), says('done'));
      const t = testConversation(agentWith(model, [triggers]));
      await t.send('Finish');
      expect(offeredIn(requests)[0]).toEqual(['trigger.finish.t1']);
      expect(JSON.stringify(t.events)).toContain(
        '"made":{"plugin":"triggers","factory":"finish","args":{"id":"t1"}}',
      );
      await t.approve('trigger.finish.t1');
      expect(t.result('trigger.finish.t1')).toEqual({ ok: true, result: 'run of t1 finished' });
    },
  );

  it(
    'that a deploy has removed ends its call as no longer available',
    promise('G308'),
    async () => {
      const { model } = watched(calls('trigger.finish.t1', {}), says('done'));
      const t = testConversation(agentWith(model, [triggers]));
      await t.send('Finish');
      await t.deploy(agentWith(model, [definePlugin({ id: 'triggers' })]));
      await t.approve('trigger.finish.t1');
      expect(t.result('trigger.finish.t1')).toMatchObject({
        ok: false,
        error: {
          code: 'not_available',
          message: 'Tool "trigger.finish.t1" no longer available',
        },
      });
    },
  );
});

describe('a turn fails, naming plugin and rule, when prepare adds', () => {
  const tool = (name: string) =>
    defineTool({ name, description: 'd', input: empty, run: () => null });
  const big = 'x'.repeat(5_000);
  it.each<[string, Plugin, RegExp]>([
    [
      'a name that the agent has',
      definePlugin({
        id: 'p',
        tools: [tool('a.b')],
        prepare: ({ tools }) => tools.add(tool('a.b')),
      }),
      /Plugin "p" failed in prepare, so the turn fails .*: tool "a\.b": the agent has a tool "a\.b" already/,
    ],
    [
      'something else',
      definePlugin({ id: 'p', prepare: ({ tools }) => tools.add({ name: 'x' } as never) }),
      /tools\.add: must be a tool of defineTool/,
    ],
    [
      'a tool of a factory that does not exist',
      definePlugin({ id: 'p', prepare: ({ tools }) => tools.make('toString') }),
      /plugin "p" has no factory "toString"/,
    ],
    [
      'a tool of a factory that returns none',
      definePlugin({
        id: 'p',
        factories: { f: () => undefined as never },
        prepare: ({ tools }) => tools.make('f'),
      }),
      /factory "f" must return a tool of defineTool/,
    ],
    [
      'a tool with arguments that are too large',
      definePlugin({
        id: 'p',
        factories: { f: () => tool('x') },
        prepare: ({ tools }) => tools.make('f', big),
      }),
      /arguments of factory "f" have 5002 bytes; at most 4096/,
    ],
    [
      'too many',
      definePlugin({
        id: 'p',
        prepare: ({ tools }) => {
          for (let nth = 0; nth < 129; nth += 1) tools.add(tool(`t${nth}`));
        },
      }),
      /more than 128 tools added to one model call/,
    ],
  ])('%s', async (_, plugin, message) => {
    const t = testConversation(agentWith(script(says('never')), [plugin]));
    await t.send('Hi');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'failed' });
    expect(JSON.stringify(t.events.at(-1))).toMatch(
      new RegExp(message.source.replaceAll('"', '\\\\"')),
    );
  });
});

it('a later plugin may take an added tool away again', async () => {
  const { model, requests } = watched(says('ok'));
  const adds = definePlugin({
    id: 'adds',
    prepare: ({ tools }) => {
      for (const name of ['one', 'two'])
        tools.add(defineTool({ name, description: 'd', input: empty, run: () => null }));
    },
  });
  const hides = definePlugin({
    id: 'hides',
    prepare: ({ tools }) => tools.hide(tools.names[0] ?? ''),
  });
  await testConversation(agentWith(model, [adds, hides])).send('Hi');
  expect(offeredIn(requests)).toEqual([['two']]);
});

it('a forecast of a deploy judges calls of factories, and says that it cannot judge those of prepare', async () => {
  const model = script(calls('trigger.finish.t1', {}), says('done'));
  const t = testConversation(agentWith(model, [triggers]));
  await t.send('Finish');
  const [plan] = t.events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  if (plan === undefined) throw new Error('no plan');
  const asked = { plan, waits: 'approval' as const };
  const outcome = async (plugins: readonly Plugin[], call = asked): Promise<string> =>
    (await forecast(agentWith(model, plugins), 'a', call)).outcome;
  expect(await outcome([triggers])).toBe('continues');
  expect(await outcome([definePlugin({ id: 'triggers' })])).toBe('breaks');
  const added = { ...asked, plan: { ...plan, made: { plugin: 'triggers' } } };
  expect(await outcome([triggers], added)).toBe('not_checked');
});

it('a definition refuses factories that are no functions, by name', () => {
  expect(() => definePlugin({ id: 'p', factories: { 'a b': 1 } as never })).toThrow(
    /factories\.a b: .*\n.*factories\.a b: must be a function, got 1/,
  );
  expect(() => definePlugin({ id: 'p', factories: [] as never })).toThrow(
    /factories: must be an object/,
  );
});
