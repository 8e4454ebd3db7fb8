/**
 * Edited approvals as a user's test sees them: validated, judged by policies again, and exactly the input that runs.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import {
  type TestConversation,
  testConversation,
} from '../../../../src/testing/test-conversation.js';
import { argsDigest } from '../../../../src/tools/shared/arguments.js';
import { promise } from '../../../support/promise.js';

interface Run {
  readonly input: unknown;
  readonly key: string;
}

async function asked(): Promise<{ t: TestConversation<unknown>; runs: Run[] }> {
  const runs: Run[] = [];
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.int().min(1), currency: z.string().default('EUR') }),
    approval: ({ cents }) => {
      if (cents === 13) throw new Error('unlucky');
      if (cents > 1000) return { deny: 'At most 1000' };
      return { ask: cents > 100 ? { audience: { roles: ['lead'] } } : {} };
    },
    run: (input, ctx) => {
      runs.push({ input, key: ctx.idempotencyKey });
      return 'done';
    },
  });
  const model = script(calls('refund', { cents: 50 }), says('Done.'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [refund] });
  const t = testConversation(agent);
  await t.send('Refund me');
  return { t, runs };
}

describe('an approver who edits the input', () => {
  it('has exactly the edited input run, validated, with its defaults, under its own digest', {
    ...promise('G62'),
  }, async () => {
    const { t, runs } = await asked();
    const edit = { cents: 40, currency: 'USD', extra: true };
    expect((await t.resolve('refund', { type: 'approve', input: edit })).verdict).toBe('accepted');
    const input = { cents: 40, currency: 'USD' };
    expect(runs).toMatchObject([{ input }]);
    expect(runs[0]?.key).toContain(argsDigest(input).slice(7, 23));
    expect(t.text).toBe('Done.');
  });

  it('after its call was detached has the policy called in the name of the requester', async () => {
    const askers: string[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ cents: z.int() }),
      approval: (_input, { requester }) => {
        askers.push(requester.id);
        return { ask: {} };
      },
      run: () => 'paid',
    });
    const model = script(calls('pay', { cents: 5 }), says('Asked.'), says('Paid.'));
    const t = testConversation(
      defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [pay] }),
    );
    await t.send('Pay', { actor: { id: 'ann' } });
    await t.send('And?', { actor: { id: 'bob' } });
    await t.approve('pay', { input: { cents: 4 } });
    expect(askers).toEqual(['ann', 'ann']);
    expect(t.text).toBe('Paid.');
  });

  it.each<[string, Json, RegExp]>([
    ['breaks the schema', { cents: 0 }, /^\/resolution\/input\/cents: /],
    ['is no object', 'all of it', /^\/resolution\/input: /],
    ['is denied by the policy', { cents: 2000 }, /At most 1000/],
    ['makes the policy throw', { cents: 13 }, /could not be evaluated/],
    ['needs another approver', { cents: 500 }, /not in the audience/],
  ])('has it reverted when it %s; the call is open as it was', async (_title, input, rule) => {
    const { t, runs } = await asked();
    const [before] = t.pending;
    await t.resolve('refund', { type: 'approve', input });
    const reverted = t.events.findLast((event) => event.type === 'resolution_reverted');
    const [{ path, message } = { path: '', message: '' }] = reverted?.problems ?? [];
    expect(`${path}: ${message}`).toMatch(rule);
    const problems = reverted?.problems;
    expect(t.pending).toMatchObject([{ ...before, reverted: { problems } }]);
    expect(runs).toEqual([]);
    await t.resolve('refund', { type: 'approve' });
    expect(runs).toMatchObject([{ input: { cents: 50 } }]);
  });
});
