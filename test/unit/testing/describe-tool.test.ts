/** The conformance suite of tools: passes good ones, and names what is wrong with others. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type Tool } from '../../../src/index.js';
import { describeTool, type ToolCase } from '../../../src/testing/index.js';

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

/** What the tests say that fail. */
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
  it('fails a case that fails, or that should', async () => {
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

  it('fails a tool without effects whose results change their shape', async () => {
    let runs = 0;
    const moody = toolOf(() => {
      runs += 1;
      return runs % 2 === 0 ? { a: 1 } : { a: 'one' };
    });
    expect(await failures(moody)).toContain('and then');
    expect(await failures(toolOf(() => ({ at: Math.random() })))).toBe('');
  });

  it('fails a tool that waits for an approval', async () => {
    expect(await failures(toolOf(() => 1, { approval: 'required' }))).toContain('no server tool');
  });
});
