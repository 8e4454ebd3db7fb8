/** The conformance suite of tools: passes good ones, and names the faults of others. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type Tool } from '../../../src/index.js';
import { describeTool, type ToolCase } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

interface Services {
  readonly rate: number;
}
type Run = (input: { a: number }, ctx: { services: Services }) => unknown;

const toolOf = (run: Run, more: object = {}): Tool<Services> =>
  defineTool({
    name: 'math.scale',
    description: 'Scales a number by the rate.',
    input: z.object({ a: z.int().describe('The number.') }),
    effects: 'none',
    ...more,
    run,
  });
const services = () => ({ rate: 3 });

describeTool(
  toolOf(({ a }, ctx) => ({ scaled: a * ctx.services.rate })),
  [
    {
      title: 'scales',
      input: { a: 2 },
      services,
      check: (result) => {
        expect(result).toEqual({ scaled: 6 });
      },
    },
    { title: 'refuses a text', input: { a: 'two' }, services, error: 'invalid_input' },
  ],
  { describe, it },
);

/** The messages of the tests that fail. */
async function failures(tool: Tool<Services>, entry: Partial<ToolCase<Services>> = {}) {
  const tests: (() => Promise<void>)[] = [];
  const runner = {
    describe: (_title: string, body: () => void) => {
      body();
    },
    it: (_title: string, body: () => Promise<void>) => {
      tests.push(body);
    },
  };
  describeTool(tool, [{ title: 'x', input: { a: 1 }, services, ...entry }], runner);
  const ends = await Promise.allSettled(tests.map(async (test) => test()));
  return ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : [])).join();
}

describe('describeTool', () => {
  it('fails a case that fails, or that should', promise('X1', 'X42', 'X50'), async () => {
    const throws = toolOf(() => {
      throw new Error('broken');
    });
    expect(await failures(throws)).toContain('failed with tool_error');
    expect(
      await failures(
        toolOf(() => 1),
        { error: 'timeout' },
      ),
    ).toContain('timeout was expected');
  });

  it('fails a tool without effects whose results change their shape', {
    ...promise('X4', 'X47'),
  }, async () => {
    let runs = 0;
    const moody = toolOf(() => {
      runs += 1;
      return runs % 2 === 0 ? { a: 1 } : { a: 'one' };
    });
    expect(await failures(moody)).toContain('and then');
    expect(await failures(toolOf(() => ({ at: Math.random() })))).toBe('');
  });

  it('approves a gated call as an actor whom its audience admits', promise('X50'), async () => {
    const once = { effects: 'once' } as const;
    const seen: unknown[] = [];
    const run: Run = (_input, ctx) => {
      const { approver } = ctx as unknown as { approver?: { id: string; roles?: string[] } };
      seen.push([approver?.id, approver?.roles]);
      return 1;
    };
    const audiences = [
      undefined,
      { roles: ['lead'], exclude: ['requester'] },
      { users: ['lena', 'ann'], exclude: ['lena'], requireVerified: true },
    ];
    for (const audience of audiences) {
      const approval = { ask: audience === undefined ? {} : { audience } };
      expect(await failures(toolOf(run, { approval, ...once }))).toBe('');
    }
    expect(seen).toEqual([
      ['approver', []],
      ['approver', ['lead']],
      ['ann', []],
    ]);
    const denies = toolOf(run, { approval: () => ({ deny: 'no' }), ...once });
    expect(await failures(denies)).toContain('failed with denied: no');
    expect(await failures(denies, { error: 'denied' })).toBe('');
    const locked = { ask: { audience: { users: ['tester'], exclude: ['requester'] } } };
    expect(await failures(toolOf(run, { approval: locked }))).toContain('no actor may give');
  });

  it('answers the questions of a tool, in their order', async () => {
    const asks = defineTool<Services>({
      name: 'math.sum',
      description: 'Adds what it is told.',
      input: z.object({}),
      run: async (_input, ctx) => {
        const before = (ctx.state as number[] | undefined) ?? [];
        const answers = [...before, await ctx.answerTo(z.number())].filter(Boolean);
        if (answers.length < 2)
          return ctx.ask({ form: z.number(), ...(answers.length > 0 && { state: answers }) });
        return answers;
      },
    });
    const check = (result: unknown): void => {
      expect(result).toEqual([1, 2]);
    };
    expect(await failures(asks, { input: {}, answers: [1, 2], check })).toBe('');
    expect(await failures(asks, { input: {}, answers: [1] })).toContain('it still waits');
  });

  it('checks the output of a preflight, twice, and its refusals', async () => {
    let runs = 0;
    const shaping = (preflight: (input: { a: number }) => unknown): Tool<Services> =>
      defineTool<Services>({
        name: 'cart.show',
        description: 'Shows the cart in the browser.',
        executor: 'client',
        approval: 'required',
        input: z.object({ a: z.number() }),
        preflight: preflight as never,
      });
    const shapes = shaping(({ a }) => {
      runs += 1;
      if (a < 0) throw new Error('not yours');
      return { shown: a };
    });
    const check = (result: unknown): void => {
      expect(result).toEqual({ shown: 1 });
    };
    expect(await failures(shapes, { check })).toBe('');
    expect(runs).toBe(2);
    expect(await failures(shapes, { input: { a: -1 }, error: 'tool_error' })).toBe('');
    const moody = shaping(() => (runs++ % 2 === 0 ? 1 : 'one'));
    expect(await failures(moody)).toContain('and then');
  });

  it('fails a tool that has no code in a worker', async () => {
    const human = defineTool<Services>({
      name: 'customer.ask',
      description: 'Asks the customer.',
      executor: 'human',
      input: z.object({}),
    });
    expect(await failures(human, { input: {} })).toContain('no code that runs in a worker');
  });
});
