/** Declarations of plugins: every broken rule is named. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineAgent, definePlugin, defineTool } from '../../../src/index.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';
import { offeredIn, watched } from '../kit/plugins/watched.js';

const tool = (name: string) =>
  defineTool({ name, description: 'x', input: z.object({}), run: () => null });

function problemsOf(define: () => unknown): DefinitionError['problems'] {
  try {
    define();
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
  }
  return [];
}

describe('definePlugin', () => {
  it('names each field that breaks a rule', () => {
    const define = () =>
      definePlugin({
        id: 'a b',
        state: 'x',
        version: 0,
        prepare: 1,
        tools: {},
        other: 1,
      } as never);
    expect(
      problemsOf(define)
        .map(({ field }) => field)
        .sort(),
    ).toEqual(['id', 'state', 'version', 'prepare', 'tools', 'other'].sort());
  });

  it('gives its state the type of its schema', () => {
    const plugin = definePlugin({ id: 'p', state: z.object({ n: z.number() }) });
    defineTool({
      name: 'x',
      description: 'x',
      input: z.object({}),
      run: (_, ctx) => {
        expectTypeOf(ctx.getState(plugin)).toEqualTypeOf<{ n: number }>();
        // @ts-expect-error -- the field is a number
        ctx.setState(plugin, { n: 'x' });
        return null;
      },
    });
    expect(plugin.version).toBe(1);
  });
});

describe('an agent with plugins', () => {
  const agent = (spec: object) =>
    defineAgent({ name: 'a', model: script(), instructions: 'x', ...spec });

  it(
    'has its own tools, then those of its plugins, in each request to the model',
    promise('C19', 'S36'),
    async () => {
      const plugin = definePlugin({ id: 'p', tools: [tool('p.one')] });
      const adding = definePlugin({
        id: 'q',
        prepare: ({ tools: prepared, turn }) => {
          if (turn.step === 1) prepared.add(tool('q.more'));
        },
      });
      const { model, requests } = watched(calls('p.one', {}), says('ok'), says('ok'));
      const own = agent({ model, tools: [tool('own')], plugins: [plugin, adding] });
      expect(own.tools.map(({ name }) => name)).toEqual(['own', 'p.one']);
      const t = testConversation(own);
      await t.send('Go');
      t.rollOver();
      await t.send('Again');
      const always = ['own', 'p.one'];
      expect(offeredIn(requests)).toEqual([[...always, 'q.more'], always, [...always, 'q.more']]);
    },
  );

  it.each([
    ['plugins', { plugins: {} }, 'must be a list of plugins'],
    ['plugins[0]', { plugins: [{}] }, 'must come from definePlugin'],
    [
      'plugins[1]',
      { plugins: [definePlugin({ id: 'p' }), definePlugin({ id: 'p' })] },
      'duplicate id "p"',
    ],
    [
      'plugins[0].tools[0]',
      { tools: [tool('x')], plugins: [definePlugin({ id: 'p', tools: [tool('x')] })] },
      'duplicate name "x"',
    ],
  ])('refuses a fault in %s', (field, spec, rule) => {
    const problems = problemsOf(() => agent(spec));
    expect(problems.find((problem) => problem.field === field)?.rule).toContain(rule);
  });
});
