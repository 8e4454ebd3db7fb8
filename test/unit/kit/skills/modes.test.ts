/** Modes: one set of tools and instructions at a time, changed by the model or by the code of a tool. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineAgent,
  definePlugin,
  defineTool,
  type Json,
  jsonSchema,
  type ModeSpec,
  modes,
  type Tool,
  type ToolContext,
  toolError,
  withFiles,
} from '../../../../src/index.js';
import {
  calls,
  says,
  script,
  scriptedBy,
  testConversation,
} from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const tool = (name: string, run: () => unknown = () => `${name} ran`, more: object = {}) =>
  defineTool({ name, description: 'Does it.', input: z.object({}), run, ...more });

const SIZED = { type: 'object', properties: { size: { type: 'number' } } } as const;
const order: string[] = [];
const working = modes({
  initial: 'ask',
  modes: {
    ask: { description: 'Questions.', instructions: 'Only ask.', tools: [tool('docs.find')] },
    edit: {
      description: 'Changes.',
      instructions: 'Change files.',
      tools: [tool('docs.write')],
      bootstrap: [
        { tool: tool('docs.load', () => order.push('load') && 'loaded') },
        { tool: tool('docs.lock', () => order.push('lock') && 'locked') },
      ],
    },
    broken: {
      description: 'Fails.',
      instructions: 'Never.',
      bootstrap: [
        { tool: tool('docs.fail', () => toolError('no lock')) },
        { tool: tool('docs.never', () => order.push('never')) },
      ],
    },
  },
});

/** The tools, and whether instructions were there, at each call of the model. */
function agentBy(
  answers: readonly ReturnType<typeof says>[],
  own = [] as ReturnType<typeof tool>[],
) {
  const seen: { readonly tools: readonly string[]; readonly texts: string }[] = [];
  const model = scriptedBy(({ tools, messages }) => {
    seen.push({ tools: tools.map(({ name }) => name), texts: JSON.stringify(messages) });
    return answers[Math.min(seen.length, answers.length) - 1] ?? says('');
  });
  const agent = defineAgent({
    name: 'writer',
    model,
    instructions: 'Write.',
    tools: own,
    plugins: [working],
  });
  return { agent, seen };
}

describe('a mode', () => {
  it(
    'counts from the next step of the same turn, after its bootstrap tools',
    promise('G322'),
    async () => {
      order.length = 0;
      const { agent, seen } = agentBy([
        calls('docs.find', {}),
        calls('mode.change', { mode: 'edit' }),
        calls('docs.write', {}),
        says('written'),
        says('more'),
      ]);
      const t = testConversation(agent);
      await t.send('write it');
      expect(t.text).toBe('written');
      expect(seen.map(({ tools }) => tools)).toEqual([
        ['docs.find', 'mode.change'],
        ['docs.find', 'mode.change'],
        ['docs.write', 'mode.change'],
        ['docs.write', 'mode.change'],
      ]);
      expect(seen.map(({ texts }) => texts.includes('Change files.'))).toEqual([
        false,
        false,
        true,
        true,
      ]);
      expect(order).toEqual(['load', 'lock']);
      expect(t.result('mode.change')).toEqual({
        ok: true,
        result: { mode: 'edit', bootstrap: { 'docs.load': 'loaded', 'docs.lock': 'locked' } },
      });
      t.rollOver();
      await t.send('more');
      expect(seen.at(-1)?.tools).toEqual(['docs.write', 'mode.change']);
      expect(t.eventsOf('state_patch')).toMatchObject([
        { plugin: 'mode', changes: [{ op: 'set', path: '/mode', value: 'ask' }] },
        { plugin: 'mode', changes: [{ op: 'set', path: '/mode', value: 'edit' }] },
      ]);
    },
  );

  it(
    'whose bootstrap fails is not entered, and the tools behind the failure do not run',
    promise('G323'),
    async () => {
      order.length = 0;
      const { agent, seen } = agentBy([calls('mode.change', { mode: 'broken' }), says('stay')]);
      const t = testConversation(agent);
      await t.send('go');
      expect(t.result('mode.change')).toMatchObject({
        ok: false,
        error: { message: expect.stringContaining('docs.fail failed: no lock') as string },
      });
      expect(order).toEqual([]);
      expect(seen.at(-1)?.tools).toEqual(['docs.find', 'mode.change']);
    },
  );

  it('is changed by the code of a tool as well', promise('G322'), async () => {
    const start = defineTool({
      name: 'work.start',
      description: 'Starts.',
      input: z.object({ mode: z.string() }),
      run: async ({ mode }, ctx) => await working.enter(ctx as never, mode),
    });
    const { agent, seen } = agentBy(
      [calls('work.start', { mode: 'edit' }), calls('work.start', { mode: 'none' }), says('ok')],
      [start as never],
    );
    const t = testConversation(agent);
    await t.send('go');
    expect(seen[1]?.tools).toEqual(['work.start', 'docs.write', 'mode.change']);
    expect(t.calls('work.start')[1]?.result).toMatchObject({ ok: false });
  });

  it('is in the log from the first model call on', promise('G322'), async () => {
    const { agent } = agentBy([says('hello')]);
    const t = testConversation(agent);
    await t.send('hi');
    await t.send('again');
    expect(t.eventsOf('state_patch')).toMatchObject([
      { plugin: 'mode', changes: [{ op: 'set', path: '/mode', value: 'ask' }] },
    ]);
  });

  it.each([
    ['before the modes, for this model call', true, ['docs.write', 'docs.write']],
    ['behind the modes, for the next model call', false, ['docs.find', 'docs.write']],
  ])('is changed by `prepare` of a plugin %s', promise('G322'), async (_, isBefore, offered) => {
    order.length = 0;
    const read: string[] = [];
    const chooses = definePlugin({
      id: 'chooses',
      prepare: ({ state }) => {
        expect(() => {
          working.set(state, 'none');
        }).toThrow(new TypeError('there is no mode "none"; known are ask, edit, broken'));
        if (working.current(state) === 'ask') working.set(state, 'edit');
      },
    });
    const tells = defineTool({
      name: 'mode.tell',
      description: 'Returns the mode.',
      input: z.object({}),
      run: (_input, ctx) => read.push(working.current(ctx)),
    });
    const seen: string[][] = [];
    const model = scriptedBy(({ tools }) => {
      seen.push(tools.map(({ name }) => name).filter((name) => name.startsWith('docs')));
      return seen.length === 1 ? calls('mode.tell', {}) : says('done');
    });
    const plugins = isBefore ? [chooses, working] : [working, chooses];
    const t = testConversation(
      defineAgent({ name: 'writer', model, instructions: 'Write.', tools: [tells], plugins }),
    );
    await t.send('go');
    expect(seen).toEqual(offered.map((name) => [name]));
    expect(read).toEqual(['edit']);
    // No bootstrap tool has run.
    expect(order).toEqual([]);
  });

  it('that is no longer defined counts as the initial one, and the log has it', async () => {
    const before = modes({
      initial: 'old',
      modes: { old: { description: 'Old.', instructions: 'Old.' } },
    });
    const { agent } = agentBy([says('hello')]);
    const t = testConversation(
      defineAgent({
        ...{ name: 'writer', model: script(says('hi'), says('ok')) },
        instructions: 'Write.',
        plugins: [before],
      }),
    );
    await t.send('hi');
    await t.deploy(agent);
    await t.send('again');
    expect(t.eventsOf('state_patch').map(({ changes }) => changes)).toMatchObject([
      [{ value: 'old' }],
      [{ value: 'ask' }],
    ]);
  });

  it('is defined by rules that name the field', () => {
    const ask = { description: 'x', instructions: 'y' };
    const of = (spec: object) => () => modes({ initial: 'ask', modes: { ask }, ...spec });
    expect(of({ initial: 'other' })).toThrow('initial: must be one of ask');
    expect(of({ modes: {} })).toThrow('modes: must be an object with one mode or more');
    expect(of({ byModel: 1 })).toThrow('byModel: must be true or false');
    expect(of({ modes: { ask: { ...ask, instructions: '' } } })).toThrow('modes.ask.instructions');
    expect(of({ modes: { ask: { ...ask, tools: [1] } } })).toThrow(
      'modes.ask.tools[0]: must come from',
    );
    const rule = (name: string, more: object) => {
      const bootstrap = [{ tool: tool(name, () => 1, more) }];
      return of({ modes: { ask: { ...ask, bootstrap } } });
    };
    const place = 'modes.ask.bootstrap[0]: "a.b" must';
    expect(rule('a.b', { approval: 'required' })).toThrow(`${place} be a tool without a gate`);
    expect(rule('a.b', { approval: () => 'auto' })).toThrow(`${place} be a tool without a gate`);
    expect(rule('a.b', { effects: 'once' })).toThrow(`${place} not have effects 'once'`);
    expect(rule('a.b', { mode: 'detach' })).toThrow(`${place} not be detached`);
    expect(rule('a.b', { taskQueue: 'gpu' })).toThrow(`${place} not have a task queue`);
    expect(rule('a.b', { executor: 'human', run: undefined })).toThrow(
      `${place} be a server tool with \`run\`, got executor 'human'`,
    );
    const twice = [{ tool: tool('a.b') }, { tool: tool('a.b') }];
    expect(of({ modes: { ask: { ...ask, bootstrap: twice } } })).toThrow(
      'modes.ask.bootstrap[1]: "a.b" must be listed once',
    );
  });
});

describe('a bootstrap tool', () => {
  const keys: string[] = [];
  const given: unknown[] = [];
  const noted = (name: string) =>
    defineTool({
      name,
      description: 'Notes.',
      input: z.object({ scope: z.string().default('all') }),
      output: z.object({ size: z.number() }),
      run: (input, ctx) => {
        keys.push(ctx.idempotencyKey);
        given.push(input);
        return { size: input.scope.length, more: 'dropped' };
      },
    });
  const entered = async (bootstrap: ModeSpec<unknown>['bootstrap']) => {
    keys.length = 0;
    given.length = 0;
    const mode = modes({
      initial: 'ask',
      modes: {
        ask: { description: 'Questions.', instructions: 'Ask.' },
        edit: { description: 'Changes.', instructions: 'Edit.', bootstrap: bootstrap ?? [] },
      },
    });
    const model = script(calls('mode.change', { mode: 'edit' }), says('done'));
    const t = testConversation(
      defineAgent({ name: 'writer', model, instructions: 'Write.', plugins: [mode] }),
    );
    await t.send('go');
    return { result: t.result('mode.change'), patches: t.eventsOf('state_patch'), t };
  };

  it('gets its input as parsed by its schema, and returns what its output keeps', async () => {
    const { result } = await entered([
      { tool: noted('a.one') },
      { tool: noted('a.two'), input: { scope: 'me', other: 1 } },
    ]);
    expect(given).toEqual([{ scope: 'all' }, { scope: 'me' }]);
    expect(result).toMatchObject({
      ok: true,
      result: { bootstrap: { 'a.one': { size: 3 }, 'a.two': { size: 2 } } },
    });
    expect(JSON.stringify(result)).not.toContain('dropped');
  });

  it('has a key of its own: that of the call, with the names of mode and tool', async () => {
    await entered([{ tool: noted('a.one') }, { tool: noted('a.two') }]);
    const [one = ''] = keys;
    const ofCall = one.slice(0, -'/edit/a.one'.length);
    expect(ofCall).toMatch(/^default\/.+\/[0-9a-f]{16}$/);
    expect(keys).toEqual([`${ofCall}/edit/a.one`, `${ofCall}/edit/a.two`]);
  });

  it.each<[string, Tool, Json, string]>([
    [
      'an input that its schema refuses',
      noted('a.one'),
      { scope: 7 },
      'a.one failed: invalid input: /scope: ',
    ],
    [
      'a result that its output refuses',
      tool('a.two', () => ({ size: 'big' }), { output: z.object({ size: z.number() }) }),
      {},
      'a.two failed: invalid result: /size: ',
    ],
    [
      'a result that its JSON Schema refuses',
      tool('a.four', () => ({ size: 'big' }), { output: jsonSchema(SIZED) }),
      {},
      'a.four failed: invalid result: /size: ',
    ],
    [
      'a question',
      tool('a.three', ((_: unknown, ctx: ToolContext) =>
        ctx.ask({ form: z.string() })) as unknown as () => unknown),
      {},
      'a.three failed: a bootstrap tool must not ask',
    ],
    [
      'files',
      tool('a.five', () => withFiles(1, [])),
      {},
      'a.five failed: a bootstrap tool must not show files',
    ],
  ])('keeps the mode before by %s, and the model reads tool and field', async (...row) => {
    const [, failing, input, message] = row;
    const { result, patches, t } = await entered([{ tool: failing, input }]);
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: 'tool_error',
        message: expect.stringContaining(`mode "edit" was not entered: ${message}`) as string,
      },
    });
    expect(given).toEqual([]);
    expect(patches).toMatchObject([{ changes: [{ value: 'ask' }] }]);
    expect(t.text).toBe('done');
  });

  it('whose results are untrusted makes those of the change untrusted', async () => {
    const { t } = await entered([{ tool: tool('a.page', () => 'x', { provenance: 'untrusted' }) }]);
    expect(t.eventsOf('tool_result')).toMatchObject([{ result: { provenance: 'untrusted' } }]);
  });
});
