/** The linter of tools: its advice, and its silence about a complete tool. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkTools, defineAgent, defineTool } from '../../../../src/index.js';
import { says, script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const good = {
  name: 'payments.refund',
  description: 'Refunds a payment, in whole or in part.',
  input: z.object({ cents: z.int().describe('How much, in cents.') }),
  output: z.object({ refunded: z.int() }),
  run: () => ({ refunded: 1 }),
};
const tool = (over: object = {}) => defineTool({ ...good, ...over });
const rulesOf = (...tools: Parameters<typeof checkTools>[0][]) =>
  tools.flatMap((entry) => checkTools(entry)).map(({ level, rule }) => `${level} ${rule}`);

describe('checkTools', () => {
  it('has no advice for a tool that is named, described and shaped', () => {
    expect(checkTools([tool()])).toEqual([]);
    const held = { effects: 'once', onOutcomeUnknown: 'hold', audience: { roles: ['operator'] } };
    expect(checkTools([tool({ ...held, approval: 'required' })])).toEqual([]);
  });

  const cases: readonly [string, object, string][] = [
    ['a name without a namespace', { name: 'refund' }, 'advice plain_name'],
    ['a description that says nothing', { description: 'Refunds.' }, 'advice short_description'],
    [
      'a description that repeats the name',
      { name: 'payments.refund-in-part', description: 'Payments refund in part' },
      'advice short_description',
    ],
    [
      'a field without a description',
      { input: z.object({ cents: z.int() }) },
      'advice undescribed_field',
    ],
    [
      'a field without a description deep inside',
      {
        input: z.object({
          lines: z.array(z.object({ id: z.string(), of: z.int().describe('X.') })).describe('All.'),
        }),
      },
      'advice undescribed_field',
    ],
    [
      'a browser that may submit anything',
      { executor: 'client', run: undefined, output: undefined },
      'advice unchecked_answer',
    ],
    [
      'a backend that may submit anything',
      { executor: 'external', run: undefined, output: undefined },
      'advice unchecked_answer',
    ],
    [
      'too many fields',
      {
        input: z.object(
          Object.fromEntries(
            Array.from({ length: 16 }, (_, index) => [`f${index}`, z.int().describe('One.')]),
          ),
        ),
      },
      'advice many_fields',
    ],
    ['no output', { output: undefined }, 'advice no_output'],
    ['a text as output', { output: z.string(), run: () => 'x' }, 'advice text_output'],
    ['a gate without effects', { approval: 'required' }, 'advice undeclared_effects'],
    ['a policy without effects', { approval: () => 'allow' }, 'advice undeclared_effects'],
    ['effects once without reconcile', { effects: 'once' }, 'advice no_reconcile'],
    [
      'a held outcome for anybody',
      { effects: 'once', onOutcomeUnknown: 'hold' },
      'advice open_outcome',
    ],
  ];
  it.each(cases)('advises against %s', promise('C4', 'C40', 'X44'), (_title, over, expected) => {
    expect(rulesOf([tool(over)])).toEqual([expected]);
  });

  it('finds names that are taken, or easily confused', () => {
    const other = { description: 'Refunds another payment than that one.' };
    expect(rulesOf([tool(), tool(other)])).toEqual(['error duplicate_name']);
    expect(rulesOf([tool(), tool({ ...other, name: 'Payments.Refund' })])).toEqual([
      'advice similar_name',
    ]);
    expect(rulesOf([tool(), tool({ name: 'payments.return' })])).toEqual([
      'advice same_description',
    ]);
  });

  it('takes an agent as well, and names the tool', () => {
    const tools = [tool(), tool({ name: 'refund', description: 'Refunds something else.' })];
    const model = script(says('x'));
    const agent = defineAgent({ name: 'a', instructions: 'Help.', model, tools });
    expect(checkTools(agent)).toMatchObject([{ tool: 'refund', rule: 'plain_name' }]);
  });

  it('names the path of a field that it does not understand', promise('C40'), () => {
    const input = z.object({
      lines: z.array(z.object({ id: z.string() })).describe('All of them.'),
      buyer: z.object({ name: z.string() }),
    });
    expect(checkTools([tool({ input })]).map(({ message }) => message)).toEqual([
      'input field "lines[].id" has no description',
      'input field "buyer" has no description',
      'input field "buyer.name" has no description',
    ]);
  });

  it('has no advice for a tool that the provider runs', () => {
    const search = { name: 'search', executor: 'provider', provider: { type: 'x' } } as const;
    expect(checkTools([defineTool(search)])).toEqual([]);
  });

  it("expects no outputs and effects where none of the author's code runs", () => {
    const human = { ...good, executor: 'human', run: undefined, output: undefined };
    expect(checkTools([defineTool(human as never)])).toEqual([]);
  });
});
