/** Modes: one set of tools and instructions at a time, changed by the model or by the code of a tool. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, modes, toolError } from '../../../../src/index.js';
import { calls, says, scriptedBy, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const tool = (name: string, run: () => unknown = () => `${name} ran`, more: object = {}) =>
  defineTool({ name, description: 'Does it.', input: z.object({}), run, ...more });

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
      expect(t.eventsOf('state_patch')[0]).toMatchObject({
        plugin: 'mode',
        changes: [{ op: 'set', path: '/mode', value: 'edit' }],
      });
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
    const gated = tool('a.b', () => 1, { approval: 'required' });
    expect(of({ modes: { ask: { ...ask, bootstrap: [{ tool: gated }] } } })).toThrow(
      'without a gate',
    );
  });
});
