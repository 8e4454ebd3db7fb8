/** A tool is changed while its call waits for an answer: one schema judges, and clients can see which. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { TestConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';
import { agentOf, BEFORE, expectViewsOfAll, waiting } from './deploys.js';

afterEach(expectViewsOfAll);

const EXECUTORS = ['human', 'client', 'external'] as const;
type Executor = (typeof EXECUTORS)[number];

function form(executor: Executor, output: unknown, more: object = {}): AnyTool {
  const fields = { name: 'order', description: 'Orders.', executor, input: BEFORE, output };
  return defineTool({ ...fields, ...more } as never);
}

interface FormChange {
  readonly what: string;
  readonly now: z.ZodType;
  /** An answer that fits the old form, and one that fits the new form. */
  readonly old: Json;
  readonly fresh: Json;
}

const day = z.string();
const old = { day: 'monday', hour: 9 };

const CHANGES: readonly FormChange[] = [
  {
    what: 'a field is added',
    now: z.strictObject({ day, hour: z.int(), place: z.string() }),
    old,
    fresh: { ...old, place: 'here' },
  },
  { what: 'a field is removed', now: z.strictObject({ day }), old, fresh: { day: 'monday' } },
  {
    what: 'a field is renamed',
    now: z.strictObject({ date: day, hour: z.int() }),
    old,
    fresh: { date: 'monday', hour: 9 },
  },
  {
    what: 'a field is narrowed',
    now: z.strictObject({ day, hour: z.int().min(10) }),
    old,
    fresh: { day: 'monday', hour: 11 },
  },
  {
    what: 'a field is narrowed by a pattern',
    now: z.strictObject({ day: z.string().regex(/^\d/), hour: z.int() }),
    old,
    fresh: { day: '1st', hour: 9 },
  },
  {
    what: 'a field has another type',
    now: z.strictObject({ day, hour: z.string() }),
    old,
    fresh: { day: 'monday', hour: 'nine' },
  },
];
/** The workflow judges all of it. */
const PLAIN = z.strictObject({ day, hour: z.int() });
/** A worker has to check, too. */
const RECHECKED = z.object({ day: day.min(1).refine((it) => it !== 'sunday'), hour: z.int() });

const answerOf = (executor: Executor, value: Json) =>
  ({ type: executor === 'human' ? 'answer' : 'result', value }) as const;

describe.each(EXECUTORS)('a %s call that waits for its answer', (executor) => {
  describe.each(CHANGES)('when $what', ({ now, old: before, fresh }) => {
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
        const judged = await t.resolve('order', answerOf(executor, before));
        // An answer that only a worker can judge is accepted first, and reverted with its problems.
        if (judged.verdict === 'accepted') expect(t.eventTypes).toContain('resolution_reverted');
        else expect(judged.verdict).toBe('invalid');
        expect(t.result('order')).toBeUndefined();
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
        expect((await t.resolve('order', answerOf(executor, before))).verdict).toBe('accepted');
      t.expectNothingOpen();
    });

    it('is offered anew with the first answer that the new form refuses', {
      ...promise('G217'),
    }, async () => {
      const t = await waiting([form(executor, RECHECKED)]);
      await t.deploy(agentOf([form(executor, now)]), { offers: false });
      const { verdict } = await t.resolve('order', answerOf(executor, before));
      expect(verdict).toBe('accepted');
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

  it('accepts an answer that fits the old form and the new one', async () => {
    const t = await waiting([form(executor, RECHECKED)]);
    const wider = RECHECKED.extend({ note: z.string().optional() });
    await t.deploy(agentOf([form(executor, wider)]), { offers: false });
    await t.resolve('order', answerOf(executor, old));
    expect(t.result('order')).toEqual({ ok: true, result: old });
    expect(t.eventTypes).not.toContain('suspension_changed');
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

describe('a detached call that waits for its answer', () => {
  it('is offered anew like any other, after a roll-over, too', async () => {
    const detached = { mode: 'detach' };
    const t = await waiting([form('external', PLAIN, detached)]);
    t.rollOver();
    await t.deploy(agentOf([form('external', z.strictObject({ date: z.string() }), detached)]));
    t.rollOver();
    expect(t.snapshot.pending).toMatchObject([
      { detached: true, answerSchema: { properties: { date: {} } } },
    ]);
    await t.answer('order', { date: 'monday' });
    expect(t.eventsOf('inbox_event')).toMatchObject([
      { result: { envelope: { ok: true, result: { date: 'monday' } } } },
    ]);
  });
});

describe('a question that the code of a tool asked', () => {
  const asking = (asked: z.ZodType) =>
    defineTool({
      ...{ name: 'order', description: 'Orders.', input: BEFORE },
      run: async (
        _input: unknown,
        ctx: {
          ask: (it: object) => never;
          answerTo: (it: z.ZodType) => Promise<unknown>;
        },
      ) => (await ctx.answerTo(asked)) ?? ctx.ask({ form: asked }),
    } as never) as AnyTool;

  it('is judged by the form of the question, and asked anew where the new code refuses the answer', {
    ...promise('G217'),
  }, async () => {
    const t = await waiting([asking(PLAIN)]);
    const [first] = t.snapshot.pending;
    await t.deploy(agentOf([asking(z.strictObject({ date: z.string() }))]));
    expect(t.snapshot.pending).toEqual([first]);
    expect((await t.answer('order', old)).verdict).toBe('accepted');
    expect(t.eventTypes.slice(-3)).toEqual([
      'resolution_reverted',
      'suspension_changed',
      'suspension',
    ]);
    const [second] = t.snapshot.pending;
    expect(second).toMatchObject({ ask: 1, answerSchema: { properties: { date: {} } } });
    expect(second?.argsDigest).not.toBe(first?.argsDigest);
    await t.answer('order', { date: 'monday' });
    expect(t.result('order')).toEqual({ ok: true, result: { date: 'monday' } });
    t.expectNothingOpen();
  });

  it('is not asked in another form where the same form refuses', async () => {
    const picky = z.object({ day: z.string().refine((it) => it !== 'monday'), hour: z.int() });
    const t = await waiting([asking(picky)]);
    await t.answer('order', old);
    expect(t.eventTypes).not.toContain('suspension_changed');
    await t.answer('order', { day: 'friday', hour: 9 });
    expect(t.result('order')).toMatchObject({ ok: true });
  });
});

describe('the offer of another form', () => {
  it('reaches a test conversation only with an agent of its name', async () => {
    const t = await waiting([form('human', PLAIN)]);
    expect(t).toBeInstanceOf(TestConversation);
    await expect(t.deploy({} as never)).rejects.toThrow('must be an agent named "shop"');
  });
});
