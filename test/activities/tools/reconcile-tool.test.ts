/** A tool's answer about a lost run, as the workflow requests it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { Tool } from '../../../src/define/tool/types.js';
import { environment, setUp, toolInput } from './fixtures.js';

function refund(reconcile: (input: unknown, ctx: { idempotencyKey: string }) => unknown) {
  const tool: Tool<{ readonly rate: number }> = defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({ a: z.int() }),
    effects: 'once',
    run: () => 'ran',
    reconcile: reconcile as never,
  });
  return setUp({ tools: [tool] }).activities;
}
const input = toolInput({ effects: 'once' });

describe('reconciling a lost run with its tool', () => {
  it('passes the planned input and the idempotency key', async () => {
    const { reconcileTool } = refund((given, ctx) => ({
      happened: true,
      result: { given, key: ctx.idempotencyKey },
    }));
    expect(await environment().run(reconcileTool, input)).toEqual({
      outcome: 'happened',
      envelope: { ok: true, result: { given: { a: 1 }, key: 'default/c-1/chain/call_1' } },
    });
  });

  it('is retried when the tool throws, because its service may be down', async () => {
    const { reconcileTool } = refund(() => {
      throw new Error('bank is down');
    });
    await expect(environment().run(reconcileTool, input)).rejects.toMatchObject({
      type: 'tool_lost',
      nonRetryable: false,
      message: 'bank is down',
    });
  });

  it('has no answer if the tool is gone', async () => {
    const { activities } = setUp();
    expect(await environment().run(activities.reconcileTool, input)).toMatchObject({
      outcome: 'unknown',
    });
  });
});
