/** `ToolRetry`: its arguments, and the report of a run that ends with it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, type ToolContext, ToolRetry } from '../../../src/index.js';
import type { Effects } from '../../../src/protocol/calls/executors.js';
import type { Duration } from '../../../src/protocol/values/durations.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('the pause of a ToolRetry', () => {
  it.each<[Duration, number]>([
    ['30s', 30_000],
    [0, 0],
    [1500, 1500],
    ['3 days', DAY_MS],
    [Number.MAX_SAFE_INTEGER, DAY_MS],
  ])('%s is %d ms, at most a day', (after, expected) => {
    expect(new ToolRetry({ after, message: 'busy' }).afterMs).toBe(expected);
  });

  it('may be left to the engine', () => {
    expect(new ToolRetry({ message: 'busy' }).afterMs).toBeUndefined();
  });

  it.each([-1, Number.NaN, Infinity, 'soon', '5'])('%s is refused', (after) => {
    expect(() => new ToolRetry({ after: after as Duration, message: 'busy' })).toThrow(RangeError);
  });
});

describe('a tool that throws a ToolRetry', () => {
  const conversationWith = (
    run: (input: unknown, ctx: ToolContext) => unknown,
    more: { effects?: Effects; maxAttempts?: number } = {},
  ) => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      input: z.object({}),
      ...more,
      run,
    });
    const model = script(calls('book', {}), says('Done.'));
    return testConversation(
      defineAgent({ name: 'a', instructions: 'Help.', model, tools: [tool] }),
    );
  };

  it('is run again under the same key, with the next attempt, until it ends otherwise', async () => {
    const seen: unknown[] = [];
    const conversation = conversationWith((_input, { attempt, idempotencyKey }) => {
      seen.push([attempt, idempotencyKey]);
      if (attempt < 3) throw new ToolRetry({ after: '1h', message: 'busy' });
      return { booked: true };
    });
    await conversation.send('Book it');
    const [, key] = seen[0] as [number, string];
    expect(seen).toEqual([1, 2, 3].map((attempt) => [attempt, key]));
    expect(conversation.result('book')).toEqual({ ok: true, result: { booked: true } });
  });

  it('on every run has as many attempts as its limit, and its last message is the result, unchanged', {
    ...promise('G121'),
  }, async () => {
    let runs = 0;
    const conversation = conversationWith(
      (_input, { attempt }) => {
        runs += 1;
        throw new ToolRetry({ message: `busy, try ${attempt}` });
      },
      { maxAttempts: 7 },
    );
    await conversation.send('Book it');
    expect(runs).toBe(7);
    expect(conversation.result('book')).toEqual({
      ok: false,
      error: { code: 'tool_error', message: 'busy, try 7' },
    });
    expect(conversation.text).toBe('Done.');
  });

  it('is not run again when its effects are "once"', async () => {
    let runs = 0;
    const conversation = conversationWith(
      () => {
        runs += 1;
        throw new ToolRetry({ message: 'busy' });
      },
      { effects: 'once' },
    );
    await conversation.send('Book it');
    expect(runs).toBe(1);
    expect(conversation.result('book')).toMatchObject({ error: { message: 'busy' } });
  });

  it('with an impossible pause fails: the model reads why', async () => {
    const conversation = conversationWith(() => {
      throw new ToolRetry({ after: 'soon' as Duration, message: 'busy' });
    });
    await conversation.send('Book it');
    expect(conversation.result('book')).toMatchObject({
      error: { code: 'tool_error', message: expect.stringContaining('after') as string },
    });
  });
});

describe('maxAttempts', () => {
  const define = (more: object) => () =>
    defineTool({ name: 'x', description: 'X.', input: z.object({}), run: () => 1, ...more });

  it.each([0, -1, 1.5, 101, Number.NaN, '3'])('of %s is refused', (maxAttempts) => {
    expect(define({ maxAttempts })).toThrow(/maxAttempts/);
  });

  it('above one is refused for effects "once"', () => {
    expect(define({ effects: 'once', maxAttempts: 2 })).toThrow(/has no reconcile/);
    expect(define({ effects: 'once', maxAttempts: 1 })).not.toThrow();
  });
});
