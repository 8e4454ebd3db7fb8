/** `testConversation`: the engine's core under a user's agent, on a virtual clock. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, callsAll, fails, says, script } from '../../../src/model/scripted/scripted.js';
import { MessageRefused } from '../../../src/testing/local/test-options.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';

interface Services {
  readonly refunds: string[];
}

const refund = defineTool<Services, z.ZodObject<{ cents: z.ZodNumber }>>({
  name: 'payments.refund',
  description: 'Refund a payment',
  input: z.object({ cents: z.number().int().positive() }),
  effects: 'once',
  approval: { ask: { reason: 'money' } },
  timeouts: { approval: '2 days' },
  run: ({ cents }, ctx) => {
    ctx.services.refunds.push(`${ctx.idempotencyKey}:${ctx.approver?.id ?? 'nobody'}`);
    return { refunded: cents };
  },
});
const ask = defineTool({
  name: 'customer.ask',
  description: 'Ask',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ size: z.string().regex(/^\d+$/) }),
});

function agent(model = script()) {
  return defineAgent<Services>({
    name: 'support',
    model,
    instructions: 'Help.',
    tools: [refund, ask],
  });
}

describe('a conversation under test', () => {
  it('names the field and the rule of a message or event that is refused', async () => {
    const t = testConversation(agent(), { services: { refunds: [] }, model: script(says('Hi')) });
    await expect(t.send(' ')).rejects.toThrow(
      new MessageRefused({
        code: 'invalid_request',
        message: 'The message breaks a rule',
        problems: [{ path: '/text', message: 'must not be blank' }],
      }),
    );
    await expect(t.sendEvent({ eventId: 'e', kind: 'a b', payload: 1 })).rejects.toThrow(
      /invalid_request: .+\(\/kind must be a word such as "payment\.settled"\)$/,
    );
  });

  it.each([undefined, {}, agent])('needs an agent, and %j is none', (given) => {
    const start = testConversation as (given: unknown) => unknown;
    expect(() => start(given)).toThrow(
      new TypeError('testConversation: the first argument must be an agent made by defineAgent'),
    );
  });

  it('runs a gated tool once, after its approval, with the approver in its context', {
    ...promise('C17', 'X50'),
  }, async () => {
    const services: Services = { refunds: [] };
    const model = script(calls('payments.refund', { cents: 100 }), says('Done.'));
    const t = testConversation(agent(), { model, services });
    await t.send('refund');
    expect(services.refunds).toEqual([]);
    const first = await t.resolve('payments.refund', { type: 'approve' }, { actor: { id: 'ada' } });
    const second = await t.resolve('payments.refund', { type: 'approve' });
    expect([first.verdict, second.verdict]).toEqual(['accepted', 'stale']);
    expect(services.refunds).toHaveLength(1);
    expect(services.refunds[0]).toMatch(
      /^default\/test\/turn_test_1\.1\/call_1\/[0-9a-f]{16}:ada$/,
    );
    expect(t.result('payments.refund')).toEqual({ ok: true, result: { refunded: 100 } });
    expect(t.text).toBe('Done.');
  });

  it('moves the clock only on request, and fires each deadline at its own time', async () => {
    const model = script(
      callsAll([
        { name: 'payments.refund', input: { cents: 1 } },
        { name: 'customer.ask', input: { question: 'Size?' } },
      ]),
      says('Sorry.'),
    );
    const t = testConversation(agent(), { model, services: { refunds: [] } });
    await t.send('refund');
    await t.advance('23 hours');
    expect(t.pending).toHaveLength(2);
    await t.advance('3 days');
    const expiries = t.events.filter((event) => event.type === 'expired');
    expect(expiries.map((event) => event.at)).toEqual([
      '2026-01-02T00:00:00.000Z',
      '2026-01-03T00:00:00.000Z',
    ]);
    expect(t.snapshot.status).toBe('idle');
  });

  it('re-opens a question whose answer passes the schema but not its pattern', async () => {
    const model = script(calls('customer.ask', { question: 'Size?' }), says('Thanks.'));
    const t = testConversation(agent(), { model, services: { refunds: [] } });
    await t.send('hi');
    expect(
      await t.resolve('customer.ask', { type: 'answer', value: { size: 'big' } }),
    ).toMatchObject({ verdict: 'accepted' });
    expect(t.eventTypes).toContain('resolution_reverted');
    expect(t.pending).toHaveLength(1);
    await t.resolve('customer.ask', { type: 'answer', value: { size: '42' } });
    expect(t.result('customer.ask')).toEqual({ ok: true, result: { size: '42' } });
  });

  it('keeps everything over a roll-over', async () => {
    const model = script(calls('payments.refund', { cents: 1 }), says('Done.'));
    const t = testConversation(agent(), { model, services: { refunds: [] } });
    await t.send('refund', { requestId: 'job-1' });
    t.rollOver();
    expect(t.pending).toHaveLength(1);
    await t.resolve('payments.refund', { type: 'approve' });
    expect(t.text).toBe('Done.');
  });

  it('ends the turn when the model fails, and continues with the next message', async () => {
    const model = script(fails('model_bad_request'), says('Better.'));
    const t = testConversation(agent(), { model, services: { refunds: [] } });
    await t.send('hi');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'failed' });
    await t.send('again');
    expect(t.text).toBe('Better.');
  });
});
