/** Bounds of sub-agents: budgets, depth and number, and the definition of their tools. */
import { describe, expect, it } from 'vitest';
import { agentTool, defineAgent } from '../../../src/index.js';
import { calls, callsAll, says, script, scriptedBy } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';
import { lead, research } from './agents.js';

describe('a sub-agent', () => {
  it(
    'beyond the depth or the number of its agent is an error of the call',
    promise('G315'),
    async () => {
      const deep = research(script(says('x')), { name: 'deep' }, { name: 'deep' });
      const middle = research(
        script(calls('deep', { task: 'b' }), says('could not')),
        { name: 'middle' },
        { name: 'middle', tools: [deep], settings: { subAgents: { maxDepth: 1 } } },
      );
      const t = lead([middle], script(calls('middle', { task: 'm' }), says('done')));
      await t.send('go');
      expect(t.child('middle').result('deep')).toMatchObject({
        ok: false,
        error: { code: 'too_many_calls' },
      });

      const wide = lead(
        [research(scriptedBy(() => calls('files.remove', { path: 'a' })))],
        script(
          callsAll([1, 2].map((task) => ({ name: 'research', input: { task: String(task) } }))),
          says('x'),
        ),
        { subAgents: { maxOpen: 1 } },
      );
      await wide.send('go');
      expect(wide.children).toHaveLength(1);
      expect(wide.eventsOf('tool_result')).toHaveLength(1);
    },
  );
});

describe('the budget of a turn', () => {
  const settings = { budgets: { tokens: 100_000, calls: 10, time: '1 hour' } };

  it(
    'is shared by the sub-agents that begin together, and the rest comes back',
    promise('G314'),
    async () => {
      const tools = ['one', 'two'].map((name) =>
        research(
          script(calls('files.remove', { path: 'a' }), says('x')),
          { name, ...(name === 'two' ? { budgets: { tokens: 9 } } : {}) },
          { name },
        ),
      );
      const t = lead(
        tools,
        script(
          callsAll([
            { name: 'one', input: { task: '1' } },
            { name: 'two', input: { task: '2' } },
          ]),
          says('end'),
        ),
        settings,
      );
      await t.send('go');
      const [one, two] = t.eventsOf('child_changed').filter(({ status }) => status === 'starting');
      expect(one?.granted?.tokens).toBeGreaterThan(30_000);
      expect(one?.granted?.tokens).toBeLessThan(33_334);
      expect(two?.granted?.tokens).toBe(9);
      expect(one?.granted?.timeMs).toBe(3_600_000);
      const { settings: childs } = t.child('one').eventsOf('conversation_started')[0] ?? {};
      expect(childs?.budgets?.tokens).toBe(one?.granted?.tokens);
      await t.child('one').approve('files.remove');
      await t.child('two').approve('files.remove');
      expect(t.result('two')).toMatchObject({ ok: false, error: { code: 'external_error' } });
      expect(t.text).toBe('end');
    },
  );

  it(
    'is reserved: equal shares for those that begin together, and the rest for the next',
    promise('G314'),
    async () => {
      const tools = ['one', 'two'].map((name) =>
        research(
          scriptedBy(() => says('x')),
          { name },
          { name },
        ),
      );
      const both = callsAll(['one', 'two'].map((name) => ({ name, input: { task: name } })));
      const t = lead(tools, script(both, calls('one', { task: '3' }), says('end')), settings);
      await t.send('go');
      const granted = t
        .eventsOf('child_changed')
        .flatMap(({ granted: { tokens = 0 } = {}, status }) =>
          status === 'starting' ? [tokens] : [],
        );
      const [one = 0, two = 0, third = 0] = granted;
      expect(Math.abs(one - two)).toBeLessThanOrEqual(1);
      // The part that the first two did not spend has come back: half of nearly everything.
      expect(third).toBeGreaterThan(49_000);
      expect(t.text).toBe('end');
    },
  );

  it('of money and calls is reserved, and the rest comes back', async () => {
    const priced = <Scripted extends object>(model: Scripted) =>
      Object.assign(model, {
        prices: { currency: 'USD', inputPerMTok: 1, outputPerMTok: 1 },
      });
    const tools = ['one', 'two'].map((name) =>
      research(priced(scriptedBy(() => says('x'))), { name }, { name }),
    );
    const both = callsAll(['one', 'two'].map((name) => ({ name, input: { task: name } })));
    const t = lead(tools, priced(script(both, calls('one', { task: '3' }), says('end'))), {
      budgets: { cost: 1, calls: 10 },
    });
    await t.send('go');
    const granted = t
      .eventsOf('child_changed')
      .flatMap(({ granted: { costMicros, calls: count } = {}, status }) =>
        status === 'starting' ? [{ costMicros, calls: count }] : [],
      );
    // Each has its share of 1,000,000 less the model calls until then, 15 micros each, and less what others may spend.
    expect(granted).toEqual([
      { costMicros: 333_328, calls: 2 },
      { costMicros: 333_328, calls: 3 },
      { costMicros: 499_970, calls: 3 },
    ]);
    const { settings: childs } = t.child('two').eventsOf('conversation_started')[0] ?? {};
    expect(childs?.budgets).toMatchObject({ cost: { micros: 333_328 }, calls: 3 });
    expect(t.text).toBe('end');
  });

  it('that is used up starts no sub-agent', promise('G314'), async () => {
    const t = lead(
      [research(script(says('x')))],
      script(calls('research', { task: '1' }), says('end')),
      {
        budgets: { tokens: 3 },
      },
    );
    await t.send('go');
    expect(t.children).toEqual([]);
    expect(t.calls('research')[0]).toMatchObject({
      result: { error: { code: 'too_many_calls' } },
    });
  });

  it('of a sub-agent bounds all of its turns together', promise('G314'), async () => {
    const model = script(calls('files.remove', { path: 'a' }), says('1'), says('2'), says('3'));
    const t = lead(
      [research(model, { budgets: { tokens: 40 } })],
      script(calls('research', { task: '1' }), says('end')),
    );
    await t.send('go');
    const child = t.child('researcher');
    // Its call keeps it at work; each model call counts 15 tokens.
    await child.send('and?');
    await child.send('and?');
    await child.send('and?');
    const ends = child.eventsOf('turn_ended').map(({ text, reason }) => reason ?? text);
    expect(ends).toEqual(['1', '2', 'token_budget']);
  });
});

describe('agentTool', () => {
  const agent = defineAgent({ name: 'other', model: script(says('x')), instructions: 'x' });
  const of =
    (spec: object, given: unknown = agent) =>
    () =>
      agentTool(given as never, { name: 'other', description: 'x', ...spec });

  it.each([
    [{ message: 'text' }, 'message: must be a function'],
    [{ timeout: 'soon' }, 'timeout: '],
    [{ whenParentCloses: 'stay' }, 'whenParentCloses: must be "close" or "continue"'],
    [{ budgets: { tokens: 0 } }, 'budgets.tokens: must be a whole number from 1'],
    [{ budgets: { cost: -1 } }, 'budgets.cost: must be a number from 0.000001'],
    [{ budgets: { time: 'x' } }, 'budgets.time: '],
    [{ budgets: 7 }, 'budgets: must be an object'],
    [{ run: () => 1 }, 'run: unknown field'],
    [{ lateResult: 'later' }, 'lateResult: must be one of'],
    [{ description: '' }, 'description: must be a non-empty text'],
  ])('names the field and the rule: %j', (spec, problem) => {
    expect(of(spec)).toThrow(problem);
  });

  it('takes an agent only', () => {
    expect(of({}, { name: 'x' })).toThrow('agent: must come from defineAgent');
  });

  it('counts costs in the currency of its caller', () => {
    const priced = (name: string, currency: string, more: object = {}) => {
      const model = Object.assign(script(says('x')), {
        prices: { currency, inputPerMTok: 1, outputPerMTok: 1 },
      });
      return defineAgent({ name, instructions: 'x', model, ...more });
    };
    const tools = [agentTool(priced('euro', 'EUR'), { name: 'euro', description: 'x' })];
    expect(() => priced('dollar', 'USD', { tools })).toThrow('counts costs in EUR');
    const bare = [agentTool(agent, { name: 'other', description: 'x' })];
    const settings = { budgets: { cost: 1 } };
    expect(() => priced('dollar', 'USD', { tools: bare, settings })).toThrow('has no prices');
  });

  it('is bounded in depth and number by whole numbers', () => {
    const settings = { subAgents: { maxDepth: 0, maxOpen: 1.5, other: 1 } };
    const define = () =>
      defineAgent({
        ...{ name: 'x', instructions: 'x', model: script(says('x')) },
        settings: settings,
      });
    expect(define).toThrow(/maxDepth.*from 1 to 10/s);
    expect(define).toThrow(/maxOpen.*from 1 to 100/s);
    expect(define).toThrow(/other.*unknown field/s);
  });
});
