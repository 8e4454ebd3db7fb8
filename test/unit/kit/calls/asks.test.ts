/** Tools that ask in the middle of their run, from their own code to their result. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type CallContext,
  defineAgent,
  defineTool,
  jsonSchema,
  type ToolContext,
} from '../../../../src/index.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const Address = z.object({ city: z.string().min(1), zip: z.string().regex(/^\d{4}$/) });

type Run = (input: { item: string }, ctx: ToolContext) => unknown;

function shop(run: Run, more: object = {}) {
  const order = defineTool({
    name: 'order',
    description: 'Orders an item.',
    input: z.object({ item: z.string() }),
    ...more,
    run,
  });
  const model = script(calls('order', { item: 'tea' }), says('Done.'));
  const agent = defineAgent({ name: 'shop', instructions: 'Help.', model, tools: [order] });
  return testConversation(agent);
}

async function errorOf(run: Run): Promise<string> {
  const t = shop(run);
  await t.send('tea, please');
  const result = t.result('order');
  if (result === undefined || result.ok) throw new Error('an error was expected');
  expect(result.error.code).toBe('tool_error');
  expect(t.pending).toEqual([]);
  return result.error.message;
}

describe('a tool that asks in mid-run', () => {
  it('is entered again days later with the answer, the state and the answerer, under the same key', async () => {
    const entries: CallContext[] = [];
    const t = shop(async ({ item }, ctx) => {
      entries.push(ctx);
      const { state } = ctx;
      const answer = await ctx.answerTo(Address);
      if (answer === undefined)
        return ctx.ask({
          form: Address,
          reason: 'Where to?',
          state: { reserved: `${item}-1`, at: new Date(0) },
          timeout: '5 days',
        });
      return { to: answer, state };
    });
    await t.send('tea, please', { actor: { id: 'ann' } });
    expect(t.pending).toMatchObject([{ kind: 'elicitation', name: 'order', reason: 'Where to?' }]);
    await t.advance('4 days');
    t.rollOver();
    const value = { city: 'Oslo', zip: '0150' };
    const verdict = await t.resolve('order', { type: 'answer', value }, { actor: { id: 'bo' } });
    expect(verdict.verdict).toBe('accepted');
    expect(t.result('order')).toEqual({
      ok: true,
      result: { to: value, state: { reserved: 'tea-1', at: '1970-01-01T00:00:00.000Z' } },
    });
    expect(t.text).toBe('Done.');
    expect(entries).toMatchObject([
      { run: 1, asks: 0, requester: { id: 'ann' } },
      { run: 2, asks: 1, requester: { id: 'ann' }, answeredBy: { id: 'bo' } },
    ]);
    expect(new Set(entries.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(t.eventTypes.slice(5)).toEqual([
      ...['tool_call', 'tool_asked', 'suspension', 'rolled_over', 'resolution', 'answer_checked'],
      ...['tool_result', 'model_call', 'assistant_message', 'turn_ended'],
    ]);
  });

  it('gets no answer that its form refuses: neither shape, nor pattern, nor unknown keys', {
    ...promise('G54'),
  }, async () => {
    let entered = 0;
    const t = shop(async (_input, ctx) => {
      entered += 1;
      return (await ctx.answerTo(Address)) ?? ctx.ask({ form: Address });
    });
    await t.send('tea, please');
    const resolve = (value: never) => t.resolve('order', { type: 'answer', value });
    for (const value of ['Oslo', { city: 'Oslo' }, { city: 'Oslo', zip: '0150', admin: true }])
      expect(await resolve(value as never)).toMatchObject({ verdict: 'invalid' });
    // A worker judges a pattern, after the verdict.
    expect((await resolve({ city: 'Oslo', zip: 'x' } as never)).verdict).toBe('accepted');
    expect(t.pending).toHaveLength(1);
    expect(entered).toBe(1);
    await resolve({ city: 'Oslo', zip: '0150' } as never);
    expect(entered).toBe(2);
    expect(t.result('order')).toMatchObject({ ok: true });
  });

  it('reads answers that only code can check by their form: a refused one is asked again, a transformed one is read', {
    ...promise('G54'),
  }, async () => {
    const Budget = z
      .object({ cents: z.number(), note: z.string().default('none') })
      .refine(({ cents }) => cents < 100, { path: ['cents'], message: 'is too much' });
    const seen: unknown[] = [];
    const t = shop(async (_input, ctx) => {
      const budget = await ctx.answerTo(Budget);
      seen.push(budget);
      return budget?.cents ?? ctx.ask({ form: Budget });
    });
    await t.send('tea, please');
    const value = { cents: 500 };
    expect((await t.resolve('order', { type: 'answer', value })).verdict).toBe('accepted');
    const reverted = t.events.find((event) => event.type === 'resolution_reverted');
    expect(reverted).toMatchObject({
      problems: [{ path: '/resolution/value/cents', message: 'is too much' }],
    });
    expect(t.pending).toMatchObject([{ ask: 1 }]);
    await t.resolve('order', { type: 'answer', value: { cents: 5 } });
    expect(t.result('order')).toEqual({ ok: true, result: 5 });
    expect(seen).toEqual([undefined, { cents: 5, note: 'none' }]);
  });

  it('gets its answers only through its form, since the question may be one of the code before a deploy', {
    ...promise('G217'),
  }, async () => {
    const seen: string[] = [];
    const t = shop((_input, ctx) => {
      if (ctx.asks === 0) return ctx.ask({ form: z.string() });
      seen.push(JSON.stringify({ ...ctx, services: undefined }));
      return 'done';
    });
    await t.send('tea, please');
    await t.resolve('order', { type: 'answer', value: 'a certain answer' });
    expect(t.result('order')).toEqual({ ok: true, result: 'done' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toContain('a certain answer');
  });

  it('may ask by JSON Schema, and ask once more', async () => {
    const Size = jsonSchema<'s' | 'l'>({ enum: ['s', 'l'] });
    const t = shop(async ({ item }, ctx) => {
      const { asks, state } = ctx;
      const answer = await ctx.answerTo(Size);
      if (asks === 0) return ctx.ask({ form: Size, reason: 'Which size?' });
      if (asks === 1) return ctx.ask({ form: Size, reason: 'And the cup?', state: answer });
      return [item, state, answer];
    });
    await t.send('tea, please');
    await t.resolve('order', { type: 'answer', value: 'l' });
    expect((await t.resolve('order', { type: 'answer', value: 's' })).verdict).toBe('invalid');
    const [second] = t.pending;
    expect(second).toMatchObject({ ask: 2, reason: 'And the cup?' });
    const argsDigest = second?.argsDigest ?? '';
    await t.resolve('order', { type: 'answer', value: 's' }, { argsDigest });
    expect(t.result('order')).toEqual({ ok: true, result: ['tea', 'l', 's'] });
  });

  it('gets a refusal to answer only where it handles refusals', async () => {
    const run =
      (onDecline: 'end' | 'enter'): Run =>
      (_input, ctx) =>
        ctx.declined === undefined
          ? ctx.ask({ form: z.string(), onDecline })
          : ['released', ctx.declined.reason, ctx.answeredBy?.id];
    for (const [onDecline, result] of [
      ['end', { ok: false, error: { code: 'declined', message: 'no' } }],
      ['enter', { ok: true, result: ['released', 'no', 'tester'] }],
    ] as const) {
      const t = shop(run(onDecline));
      await t.send('tea, please');
      await t.resolve('order', { type: 'decline', reason: 'no' });
      expect(t.result('order')).toEqual(result);
    }
  });

  it('is not entered again without an answer: by default after a day, or by its own clock', async () => {
    let entered = 0;
    const ask: Run = (_input, ctx) => {
      entered += 1;
      return ctx.ask({ form: z.string() });
    };
    for (const [more, wait] of [
      [{}, '1 day'],
      [{ timeouts: { answer: '3 days' } }, '3 days'],
    ] as const) {
      const t = shop(ask, more);
      await t.send('tea, please');
      await t.advance(wait);
      expect(t.result('order')).toEqual({
        ok: false,
        error: { code: 'expired', message: 'user did not respond' },
      });
    }
    expect(entered).toBe(2);
  });

  it('behind an approval: approver and answerer are two, and an approval is never the answer', async () => {
    const t = shop(
      async (_input, ctx) => {
        const isSure = await ctx.answerTo(z.boolean());
        if (isSure === undefined) return ctx.ask({ form: z.boolean() });
        return [ctx.approver?.id, ctx.answeredBy?.id, isSure];
      },
      { approval: 'required' },
    );
    await t.send('tea, please');
    await t.resolve('order', { type: 'approve' }, { actor: { id: 'cleo' } });
    expect((await t.resolve('order', { type: 'approve' })).verdict).toBe('stale');
    await t.resolve('order', { type: 'answer', value: true }, { actor: { id: 'dora' } });
    expect(t.result('order')).toEqual({ ok: true, result: ['cleo', 'dora', true] });
  });

  it('that runs once has not been lost by asking, and is reconciled by its run when it is', async () => {
    const asked: (readonly [number, unknown])[] = [];
    const t = shop(
      async (_input, ctx) =>
        (await ctx.answerTo(z.string())) ?? ctx.ask({ form: z.string(), state: 'reserved' }),
      {
        effects: 'once',
        reconcile: (_input: unknown, ctx: CallContext) => {
          asked.push([ctx.run, ctx.state]);
          return { happened: false };
        },
      },
    );
    await t.send('tea, please');
    expect(t.pending).toHaveLength(1);
    t.loseRuns('order');
    await t.resolve('order', { type: 'answer', value: 'yes' });
    expect(t.result('order')).toEqual({ ok: true, result: 'yes' });
    expect(asked).toEqual([[2, 'reserved']]);
  });
});

describe('code that keeps its own question from being asked gets an error', () => {
  it('when it swallows what ctx.ask throws, and returns', async () => {
    const text = await errorOf((_input, ctx) => {
      try {
        return ctx.ask({ form: z.string() });
      } catch {
        return 'ordered anyway';
      }
    });
    expect(text).toContain(
      'caught the error that ctx.ask throws, and returned: the question was not asked',
    );
  });

  it('when it throws something else', async () => {
    const text = await errorOf((_input, ctx) => {
      try {
        return ctx.ask({ form: z.string() });
      } catch (error) {
        throw new Error('order failed', { cause: error });
      }
    });
    expect(text).toContain(
      'asked for input and then failed, so the question was not asked: order failed',
    );
  });

  it('when it asks two questions in one run', async () => {
    const text = await errorOf(async (_input, ctx) =>
      Promise.all([1, 2].map(async () => ctx.ask({ form: z.string() }))),
    );
    expect(text).toContain('asked two questions in one run');
  });

  it('when it asks what cannot be asked, with the field and its rule', async () => {
    const asks =
      (question: unknown): Run =>
      (_input, ctx) =>
        ctx.ask(question as never);
    const form = z.string();
    for (const [question, text] of [
      [{}, 'ctx.ask: form must be a zod type'],
      [{ form: z.object({ at: z.date() }) }, 'ctx.ask: form.at:'],
      [{ form, state: { big: 'x'.repeat(9_000) } }, 'ctx.ask: state has 90'],
      [{ form, timeout: 'soon' }, 'ctx.ask: timeout'],
      [{ form, audience: { users: [] } }, 'ctx.ask: audience.users must not be empty'],
      [{ form, onDecline: 'retry' }, 'ctx.ask: onDecline must be "end" or "enter"'],
    ] as const)
      expect(await errorOf(asks(question))).toContain(text);
  });
});

describe('a form as the answerer gets it', () => {
  const schemaOf = async (form: z.ZodType) => {
    const t = shop((_input, ctx) => ctx.ask({ form }));
    await t.send('tea, please');
    const asked = t.events.find((event) => event.type === 'tool_asked');
    return asked?.type === 'tool_asked' ? asked.question : undefined;
  };

  it('has all that the schema checks, where JSON Schema can: then no code has to check the answer', async () => {
    for (const form of [
      z.object({ to: z.email(), at: z.iso.date(), kind: z.enum(['a', 'b']).optional() }),
      z.array(z.object({ id: z.uuid() })).max(3),
      z
        .string()
        .startsWith('x')
        .regex(/^[a-z]+$/),
      z.union([z.object({ a: z.int() }), z.null()]),
      z.record(z.string(), z.number()),
    ])
      expect((await schemaOf(form))?.byCode).toBeUndefined();
  });

  it('is left to the tool’s code where it cannot', async () => {
    for (const form of [
      z.string().trim(),
      z.url(),
      z.string().regex(/^a$/i),
      z.number().default(3),
      z.number().refine((value) => value > 1),
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    ])
      expect((await schemaOf(form))?.byCode).toBe(true);
  });

  it('goes without patterns that no worker can judge in linear time: the tool’s code judges by them', async () => {
    const form = z.object({ a: z.string().regex(/^(?=.*x)y/), b: z.string().regex(/^b$/) });
    expect(await schemaOf(form)).toMatchObject({
      byCode: true,
      form: { properties: { a: { type: 'string' }, b: { pattern: '^b$' } } },
    });
    expect(JSON.stringify(await schemaOf(form))).not.toContain('?=');
  });
});
