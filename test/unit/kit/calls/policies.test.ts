/** Policies as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { initColloquy } from '../../../../src/index.js';
import { calls, says, script } from '../../../../src/model/scripted/scripted.js';
import {
  type TestConversation,
  testConversation,
} from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

interface Limits {
  readonly free: number;
  readonly most: number;
}
const { defineAgent, defineTool } = initColloquy<{ services: Limits }>();

async function refundOf(
  cents: number,
): Promise<{ t: TestConversation<Limits>; ran: number[]; asked: string[] }> {
  const ran: number[] = [];
  const asked: string[] = [];
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.int() }),
    approval: (input, { services, requester, toolCallId }) => {
      asked.push(toolCallId);
      if (input.cents > services.most) return { deny: `At most ${services.most}` };
      if (input.cents <= services.free) return 'allow';
      return { ask: { reason: `${requester.id} wants it`, audience: { exclude: ['requester'] } } };
    },
    run: (input) => {
      ran.push(input.cents);
      return 'done';
    },
  });
  const model = script(calls('refund', { cents }), says('So be it.'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [refund] });
  const t = testConversation(agent, { services: { free: 10, most: 1000 } });
  await t.send('Refund me', { actor: { id: 'ann' } });
  return { t, ran, asked };
}

describe('a tool with a policy', () => {
  it('runs at once where the policy allows it', promise('S5', 'A4', 'C24'), async () => {
    const { t, ran } = await refundOf(10);
    expect(ran).toEqual([10]);
    expect(t.eventTypes).not.toContain('suspension');
  });

  it('waits for an approval where it asks, by another person than the requester, and is not judged again', {
    ...promise('S5', 'C24', 'C25', 'C26'),
  }, async () => {
    const { t, ran, asked } = await refundOf(50);
    expect(t.pending).toMatchObject([
      { kind: 'approval', reason: 'ann wants it', audience: { exclude: ['requester'] } },
    ]);
    const own = await t.resolve('refund', { type: 'approve' }, { actor: { id: 'ann' } });
    expect(own.verdict).toBe('forbidden');
    t.rollOver();
    await t.resolve('refund', { type: 'approve' }, { actor: { id: 'ben' } });
    expect(ran).toEqual([50]);
    expect(asked).toHaveLength(1);
  });

  it('does not run where it denies: the model reads the reason, and the system denied it', {
    ...promise('S5', 'C24'),
  }, async () => {
    const { t, ran } = await refundOf(1001);
    expect(ran).toEqual([]);
    expect(t.result('refund')).toEqual({
      ok: false,
      error: { code: 'denied', message: 'At most 1000' },
    });
    expect(t.events.findLast((event) => event.type === 'tool_result')).toMatchObject({
      result: { status: 'denied', actor: { id: 'system' } },
    });
    expect(t.text).toBe('So be it.');
    expect((await t.resolve('refund', { type: 'approve' })).verdict).toBe('stale');
  });
});
