/** Runs of tools that ask, in the worker: questions, answers and refusals as data. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import type { AskedBefore } from '../../../src/protocol/calls/questions.js';
import type { RunToolInput } from '../../../src/protocol/workflow/activities.js';
import { environment, key, setUp, toolInput } from './fixtures.js';

const actor = { id: 'bo', verified: true, channel: 'api' } as const;
const Code = z.object({ code: z.string().regex(/^[A-Z]{3}$/) });
const FORM = {
  type: 'object',
  properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' } },
  required: ['code'],
  additionalProperties: false,
};

async function run(
  code: (ctx: ToolContext) => unknown,
  over: Partial<RunToolInput> = {},
): Promise<unknown> {
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({ a: z.int() }),
    run: (_input, ctx) => code(ctx) as never,
  });
  const { activities } = setUp({ tools: [tool] });
  return await environment().run(activities.runTool, toolInput(over));
}

const answered = (over: Partial<AskedBefore> = {}): Partial<RunToolInput> => ({
  run: 2,
  asked: { asks: 1, answer: { value: { code: 'ABC' } }, actor, ...over },
});

describe('a run of a tool that asks', () => {
  it('ends with the question as plain data, which any language can produce', async () => {
    const asked = await run((ctx) =>
      ctx.ask({
        form: Code,
        state: { step: 1 },
        reason: 'Which code?',
        audience: { roles: ['clerk'] },
        timeout: '2 days',
        onDecline: 'enter',
      }),
    );
    expect(asked).toEqual({
      ask: {
        form: FORM,
        state: { step: 1 },
        reason: 'Which code?',
        audience: { roles: ['clerk'] },
        timeoutMs: 172_800_000,
        onDecline: 'enter',
      },
      executionMs: expect.any(Number) as unknown,
    });
  });

  it('receives the answer and the state of the question', async () => {
    const seen = await run(
      async ({ run: entry, asks, state, answerTo, answeredBy, declined }) => ({
        ...{ entry, asks, state, by: answeredBy?.id, declined: declined === undefined },
        answer: await answerTo(Code),
      }),
      answered({ asks: 2, state: [1] }),
    );
    expect(seen).toMatchObject({
      envelope: {
        result: {
          entry: 2,
          asks: 2,
          state: [1],
          answer: { code: 'ABC' },
          by: 'bo',
          declined: true,
        },
      },
    });
  });

  it('of an older workflow is the first entry', async () => {
    const seen = await run(async ({ run: entry, asks, answerTo }) => [
      ...[entry, asks],
      (await answerTo(Code)) === undefined,
    ]);
    expect(seen).toMatchObject({ envelope: { result: [1, 0, true] } });
  });

  it('may refuse the answer, after a deploy with a stricter form', async () => {
    const Now = z.object({ code: z.string().max(2, 'is too long') });
    expect(await run(async (ctx) => ctx.answerTo(Now), answered())).toEqual({
      refused: [{ path: '/code', message: 'is too long' }],
      // The question has this form from then on.
      form: expect.objectContaining({
        properties: { code: { maxLength: 2, type: 'string' } },
      }) as unknown,
      executionMs: expect.any(Number) as unknown,
    });
  });

  it('that asks after its time limit has timed out', async () => {
    const late = await run(
      async (ctx) => {
        await new Promise((resolve) => {
          ctx.signal.addEventListener('abort', resolve);
        });
        return ctx.ask({ form: Code });
      },
      toolInput({ runMs: 20 }),
    );
    expect(late).toMatchObject({ envelope: { error: { code: 'timeout' } } });
  });
});

describe('the answer to a question of a tool', () => {
  it('is checked by the form of the question, whether or not the worker has the tool', async () => {
    const { activities } = setUp();
    const input = { ...key, agent: 'elsewhere', toolCallId: 'c', name: 'gone', form: FORM };
    const check = (value: { code: string }) =>
      environment().run(activities.checkAnswer, { ...input, value });
    expect(await check({ code: 'ABC' })).toEqual({ ok: true, value: { code: 'ABC' } });
    expect(await check({ code: 'abc' })).toMatchObject({
      ok: false,
      problems: [{ path: '/code' }],
    });
  });
});
