/** The check of an approver's edit, as the workflow schedules it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { CheckEditInput } from '../../../src/protocol/workflow/activities.js';
import { argsDigest } from '../../../src/tools/shared/arguments.js';
import { environment, key, setUp } from './fixtures.js';

const contexts: unknown[] = [];
const refund = defineTool<{ readonly rate: number }>({
  name: 'refund',
  description: 'Refunds.',
  input: z.object({ cents: z.int() }),
  approval: (_input, ctx) => {
    contexts.push(ctx);
    return { ask: { audience: { roles: ['lead'] } } };
  },
  run: () => null,
});

async function check(over: Partial<CheckEditInput>, attempt = 1): Promise<unknown> {
  const { activities } = setUp({ tools: [refund] });
  const requester = { id: 'ann', verified: true, channel: 'api' } as const;
  const about = { ...key, agent: 'support', turnId: 'turn_1', step: 2, toolCallId: 'c', requester };
  const input: CheckEditInput = { ...about, name: 'refund', input: { cents: 7 }, ...over };
  return await environment({ attempt }).run(activities.checkEdit, input);
}

describe('an edit', () => {
  it('is validated, and the policy is called with it and the same context as before', async () => {
    expect(await check({ input: { cents: 7, extra: 1 } })).toEqual({
      ok: true,
      input: { cents: 7 },
      argsDigest: argsDigest({ cents: 7 }),
      definition: expect.stringMatching(/^sha256:/) as string,
      approval: { needed: true, audience: { roles: ['lead'] } },
    });
    expect(contexts).toMatchObject([
      { toolCallId: 'c', turnId: 'turn_1', requester: { id: 'ann' }, services: { rate: 7 } },
    ]);
  });

  it('of a tool that is gone ends the call, after other workers had time to take it', async () => {
    await expect(check({ name: 'gone' })).rejects.toMatchObject({ nonRetryable: false });
    expect(await check({ name: 'gone' }, 4)).toEqual({
      ok: false,
      ended: { code: 'not_available', message: 'Tool "gone" no longer available' },
    });
  });

  it('of the wrong shape is refused with the path', async () => {
    expect(await check({ input: { cents: 'x' } })).toMatchObject({
      ok: false,
      problems: [{ path: '/resolution/input/cents' }],
    });
  });
});
