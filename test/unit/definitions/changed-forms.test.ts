/** A tool is changed while its call waits for an answer: one schema judges, and clients can see which. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { TestConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';
import { agentOf, BEFORE, expectViewsOfAll, waiting } from './deploys.js';
import { FORM_CHANGES, OLD_ANSWER as old, PLAIN, RECHECKED } from './form-changes.js';

afterEach(expectViewsOfAll);

const EXECUTORS = ['human', 'client', 'external'] as const;
type Executor = (typeof EXECUTORS)[number];

function form(executor: Executor, output: unknown, more: object = {}): AnyTool {
  const fields = { name: 'order', description: 'Orders.', executor, input: BEFORE, output };
  return defineTool({ ...fields, ...more } as never);
}

const answerOf = (executor: Executor, value: Json) =>
  ({ type: executor === 'human' ? 'answer' : 'result', value }) as const;

describe.each(EXECUTORS)('a %s call that waits for its answer', (executor) => {
  describe.each(FORM_CHANGES)('when $what', ({ now, fresh, takesOld }) => {
    it('is offered in the new form by the watch, under a new digest, and judged by that alone', {
      ...promise('G217'),
    }, async () => {
      for (const was of [PLAIN, RECHECKED]) {
        const t = await waiting([form(executor, was)]);
        const [first] = t.snapshot.pending;
        await t.deploy(agentOf([form(executor, now)]));
        const [second] = t.snapshot.pending;
        expect(second).toMatchObject({ toolCallId: first?.toolCallId, deadline: first?.deadline });
        expect(second?.argsDigest).not.toBe(first?.argsDigest);
        expect(second?.definition).not.toBe(first?.definition);
        const stale = { argsDigest: first?.argsDigest ?? '' };
        expect(await t.resolve('order', answerOf(executor, fresh), stale)).toMatchObject({
          verdict: 'invalid',
          problems: [{ path: '/argsDigest' }],
        });
        if (!takesOld) {
          const judged = await t.resolve('order', answerOf(executor, old));
          // An answer that only a worker can judge is accepted first, and reverted with its problems.
          if (judged.verdict === 'accepted') expect(t.eventTypes).toContain('resolution_reverted');
          else expect(judged.verdict).toBe('invalid');
          expect(t.result('order')).toBeUndefined();
        }
        expect((await t.resolve('order', answerOf(executor, fresh))).verdict).toBe('accepted');
        expect(t.result('order')).toEqual({ ok: true, result: fresh });
        t.expectNothingOpen();
      }
    });

    it('is judged by the form that is shown, where it has not been offered anew', async () => {
      const t = await waiting([form(executor, PLAIN)]);
      const [shown] = t.snapshot.pending;
      await t.deploy(agentOf([form(executor, now)]), { offers: false });
      expect(t.snapshot.pending).toEqual([shown]);
      const isTaken = PLAIN.safeParse(fresh).success;
      const { verdict } = await t.resolve('order', answerOf(executor, fresh));
      expect(verdict).toBe(isTaken ? 'accepted' : 'invalid');
      if (!isTaken)
        expect((await t.resolve('order', answerOf(executor, old))).verdict).toBe('accepted');
      t.expectNothingOpen();
    });

    it('is offered anew with the first answer that the new form refuses, and ends with one that it takes', {
      ...promise('G217'),
    }, async () => {
      const t = await waiting([form(executor, RECHECKED)]);
      await t.deploy(agentOf([form(executor, now)]), { offers: false });
      const { verdict } = await t.resolve('order', answerOf(executor, old));
      expect(verdict).toBe('accepted');
      if (takesOld) {
        expect(t.result('order')).toEqual({ ok: true, result: old });
        expect(t.eventTypes).not.toContain('suspension_changed');
        return;
      }
      expect(t.eventTypes.slice(-3)).toEqual([
        'resolution_reverted',
        'suspension_changed',
        'suspension',
      ]);
      expect((await t.resolve('order', answerOf(executor, fresh))).verdict).toBe('accepted');
      expect(t.result('order')).toEqual({ ok: true, result: fresh });
      t.expectNothingOpen();
    });
  });

  describe.each(FORM_CHANGES.filter(({ takesOld }) => takesOld))('when $what', ({ now }) => {
    it('is offered in the new form, which takes an answer for the old one', {
      ...promise('G217'),
    }, async () => {
      const t = await waiting([form(executor, PLAIN)]);
      await t.deploy(agentOf([form(executor, now)]));
      expect((await t.resolve('order', answerOf(executor, old))).verdict).toBe('accepted');
      expect(t.result('order')).toEqual({ ok: true, result: old });
      t.expectNothingOpen();
    });
  });

  it('is not offered anew where only its input has changed', async () => {
    const t = await waiting([form(executor, PLAIN)]);
    const input = z.object({ orderId: z.string() });
    await t.deploy(agentOf([form(executor, PLAIN, { input })]));
    expect(t.eventTypes).not.toContain('suspension_changed');
    await t.answer('order', old);
    expect(t.result('order')).toEqual({ ok: true, result: old });
  });

  it('ends with a clear error when its tool is gone and a worker has to judge the answer', {
    ...promise('G222'),
  }, async () => {
    const t = await waiting([form(executor, RECHECKED)]);
    await t.deploy(agentOf([]));
    expect((await t.resolve('order', answerOf(executor, old))).verdict).toBe('accepted');
    expect(t.result('order')).toMatchObject({
      error: { code: 'not_available', message: 'Tool "order" no longer available' },
    });
    expect(await t.resolve('order', answerOf(executor, old))).toMatchObject({
      verdict: 'stale',
      code: 'not_available',
    });
    t.expectNothingOpen();
  });

  it('accepts its answer when its tool is gone and the form that is shown is complete', {
    ...promise('G222'),
  }, async () => {
    const t = await waiting([form(executor, PLAIN)]);
    await t.deploy(agentOf([]));
    await t.answer('order', old);
    expect(t.result('order')).toEqual({ ok: true, result: old });
  });

  it('gives the new default when it was offered anew and gets no answer', async () => {
    const t = await waiting([form(executor, PLAIN, { onExpire: { default: old } })]);
    const now = z.strictObject({ date: z.string() });
    const fallback = { onExpire: { default: { date: 'never' } } };
    await t.deploy(agentOf([form(executor, now, fallback)]));
    await t.advance('8 days');
    expect(t.result('order')).toEqual({ ok: true, result: { date: 'never' } });
  });
});

describe('a call that a client holds', () => {
  it('stays as its holder has it, and is offered anew once the lease is lost', async () => {
    const t = await waiting([form('external', PLAIN, { timeouts: { answer: '1 day' } })]);
    t.claim('order', { actor: { id: 'backend' }, lease: '1 minute' });
    const now = z.strictObject({ date: z.string() });
    await t.deploy(agentOf([form('external', now)]));
    expect(t.eventTypes).not.toContain('suspension_changed');
    await t.advance('2 minutes');
    await t.deploy(agentOf([form('external', now)]));
    await t.answer('order', { date: 'monday' });
    expect(t.result('order')).toEqual({ ok: true, result: { date: 'monday' } });
  });
});

describe.each(EXECUTORS)('a detached %s call that waits for its answer', (executor) => {
  it.each(FORM_CHANGES)(
    'is offered anew like any other when $what, after a roll-over, too',
    promise('G217'),
    async ({ now, fresh, takesOld }) => {
      const detached = { mode: 'detach' };
      const t = await waiting([form(executor, PLAIN, detached)]);
      const [first] = t.snapshot.pending;
      t.rollOver();
      await t.deploy(agentOf([form(executor, now, detached)]));
      t.rollOver();
      const [second] = t.snapshot.pending;
      expect(second).toMatchObject({ detached: true, deadline: first?.deadline });
      expect(second?.argsDigest).not.toBe(first?.argsDigest);
      if (!takesOld) {
        await t.resolve('order', answerOf(executor, old));
        expect(t.eventTypes).not.toContain('inbox_event');
      }
      await t.answer('order', fresh);
      expect(t.eventsOf('inbox_event')).toMatchObject([
        { result: { envelope: { ok: true, result: fresh } } },
      ]);
    },
  );
});

describe('the offer of another form', () => {
  it('reaches a test conversation only with an agent of its name', async () => {
    const t = await waiting([form('human', PLAIN)]);
    expect(t).toBeInstanceOf(TestConversation);
    await expect(t.deploy({} as never)).rejects.toThrow('must be an agent named "shop"');
  });
});
