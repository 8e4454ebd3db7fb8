/** The messages that a model call gets of a long conversation, and its end if they are too many nevertheless. */
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

async function failureOf(promise: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApplicationFailure);
  return error as ApplicationFailure;
}

describe('a model call in a long conversation', () => {
  const turns = (count: number, chars: number): readonly Message[] =>
    Array.from({ length: count }, (_, index) => ({
      role: 'user',
      id: `m${index}`,
      turnId: `t${index}`,
      parts: [{ type: 'text', text: `${index} `.repeat(chars / 3) }],
    }));
  const given = (messages: readonly Message[]) => ({
    ...modelInput({ turnId: `t${messages.length - 1}` }),
    transcript: { epoch: 0, base: 0, append: messages },
  });
  const counted = { inputTokens: 2_000, outputTokens: 2 };

  it('gets the messages within the budget of its agent, and the outcome reports the omitted ones', async () => {
    const seen: number[] = [];
    const model = modelOf(({ messages }) => {
      seen.push(messages.length);
      return Promise.resolve(answer({ usage: counted }));
    });
    const { activities } = setUp({ model, context: { maxTokens: 4_000 } });
    const input = given(turns(20, 600));
    const first = await environment().run(activities.callModel, input);
    expect(first.context).toMatchObject({ budget: 4_000, compacted: 'budget', summaryDue: true });
    expect(first.context?.tokens).toBeLessThanOrEqual(2_000);
    expect(seen).toEqual([first.context?.messages]);
    // The next call starts at the same message.
    const mark = { ...first.context!, inputTokens: counted.inputTokens };
    const more = { ...given(turns(21, 600)), context: mark };
    const next = await environment().run(activities.callModel, more);
    expect(next.context?.messages).toBe(seen[0]! + 1);
    expect(next.context).not.toHaveProperty('compacted');
  });

  it('reports the stable prefix of the request, with a cache key that reveals nothing', {
    ...promise('G173'),
  }, async () => {
    const requests: ModelRequest[] = [];
    const model = modelOf((request) => {
      requests.push(request);
      return Promise.resolve(answer());
    });
    const { activities } = setUp({ model });
    const { transcript, ...input } = modelInput();
    const call = async (conversationId: string): Promise<unknown> =>
      environment().run(activities.callModel, { ...input, conversationId, transcript });
    for (const conversation of ['order-42', 'order-42', 'order-43']) await call(conversation);
    const [first, again, other] = requests;
    expect(first?.stableMessages).toBe(1);
    expect(first?.cacheKey).toMatch(/^[0-9a-f]{32}$/);
    expect(again?.cacheKey).toBe(first?.cacheKey);
    expect(other?.cacheKey).not.toBe(first?.cacheKey);
  });

  it('that its provider finds too long is shortened and repeated, once', {
    ...promise('G174'),
  }, async () => {
    const seen: number[] = [];
    const model = modelOf(({ messages }) => {
      seen.push(messages.length);
      const error = Object.assign(new Error('no'), {
        status: 400,
        error: { code: 'context_length_exceeded', message: 'too many tokens' },
      });
      return seen.length === 1 ? Promise.reject(error) : Promise.resolve(answer());
    });
    const { activities } = setUp({ model });
    const result = await environment().run(activities.callModel, given(turns(20, 600)));
    expect(seen[0]).toBe(20);
    expect(seen[1]).toBeLessThanOrEqual(10);
    expect(result.context).toMatchObject({ compacted: 'too_long', messages: seen[1] });
  });

  it('that is too long twice fails with a text that says so', {
    ...promise('G174'),
  }, async () => {
    let asked = 0;
    const model = modelOf(() => {
      asked += 1;
      return Promise.reject(
        Object.assign(new Error('too long'), {
          name: 'ModelFailure',
          code: 'model_context_too_long',
          retryable: false,
        }),
      );
    });
    const { activities } = setUp({ model });
    const failure = await failureOf(environment().run(activities.callModel, given(turns(9, 600))));
    expect(failure).toMatchObject({
      type: 'model_context_too_long',
      nonRetryable: true,
      message: expect.stringContaining('even with older turns left out') as string,
    });
    expect(asked).toBe(2);
  });

  it('whose last turn alone exceeds the budget fails without a request, unless the budget is an estimate', async () => {
    let asked = 0;
    const model = modelOf(() => {
      asked += 1;
      return Promise.resolve(answer());
    });
    const long = given(turns(1, 9_000));
    const bounded = setUp({ model, context: { maxTokens: 1_000 } });
    expect(await failureOf(environment().run(bounded.activities.callModel, long))).toMatchObject({
      type: 'model_context_too_long',
      message: expect.stringMatching(/about \d+ tokens; .* may have 1000/) as string,
    });
    expect(asked).toBe(0);
    const { activities } = setUp({ model });
    const guessed = { ...long, transcript: { epoch: 0, base: 0, append: turns(1, 600_000) } };
    await environment().run(activities.callModel, guessed);
    expect(asked).toBe(1);
  });
});
