/** The model call as the workflow schedules it: answers, streams, cancellation and failures. */
import { ActivityCancellationDetails, ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { FAILURES } from '../../../src/protocol/failures/failures.js';
import { MAX_MODEL_ANSWER_BYTES } from '../../../src/protocol/limits/service-limits.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const work = defineTool({
  name: 'work.do',
  description: 'Works.',
  usage: 'Use it twice.',
  input: z.object({ a: z.int().default(1) }),
  run: () => null,
});

/** The shape of an adapter's error. */
function modelFailure(code: string, more: object = {}): Error {
  return Object.assign(new Error(`provider said ${code}`), { name: 'ModelFailure', code, ...more });
}

async function failureOf(promise: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApplicationFailure);
  return error as ApplicationFailure;
}

const textsOf = (events: readonly LiveEvent[]) =>
  events.map((event) =>
    event.type === 'text_delta' ? `${event.type} ${event.offset} ${event.text}` : event.type,
  );

const sleep = async (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a model call', () => {
  it('returns the answer with a plan for every call', promise('C36', 'X11', 'X34'), async () => {
    const requests: ModelRequest[] = [];
    const model = modelOf((request) => {
      requests.push(request);
      const calls = [
        { id: 'call_1', name: 'work.do', argumentsJson: '{}' },
        { id: 'call_2', name: 'nope', argumentsJson: '{}' },
      ];
      return Promise.resolve(answer({ calls, finishReason: 'tool_calls' }));
    });
    const { activities } = setUp({ model, tools: [work] });
    const result = await environment({ attempt: 2 }).run(activities.callModel, modelInput());
    expect(result).toMatchObject({
      parts: [{ type: 'text', text: 'Hello.' }],
      calls: [
        { plan: { toolCallId: 'call_1', input: { a: 1 } }, argumentsJson: '{}' },
        { plan: { toolCallId: 'call_2', error: { code: 'unknown_tool' } } },
      ],
      model: 'gpt-test-2026',
      finishReason: 'tool_calls',
      usage: { inputTokens: 3, outputTokens: 2 },
      attempt: 2,
    });
    expect(result).not.toHaveProperty('aborted');
    expect(requests).toMatchObject([
      {
        system: 'Help.\n\n# Tools\n\n## work__do\nUse it twice.',
        messages: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: [{ name: 'work.do', description: 'Works.', inputSchema: { type: 'object' } }],
      },
    ]);
  });

  it("shows the model's stream live, tied to its message and attempt", promise('H52'), async () => {
    const { activities, live } = setUp({
      model: modelOf((_request, { onEvent }) => {
        onEvent({ type: 'text', text: 'Hel' });
        onEvent({ type: 'text', text: 'lo.' });
        return Promise.resolve(answer());
      }),
    });
    await environment({ attempt: 3 }).run(activities.callModel, modelInput());
    expect(textsOf(live)).toEqual(['model_call_started', 'text_delta 0 Hel', 'text_delta 3 lo.']);
    const origin = { turnId: 'turn_1', step: 2, attempt: 3, messageId: 'turn_1.2' };
    for (const event of live) expect(event).toMatchObject(origin);
  });

  it('is not disturbed by failing watchers, and makes no events without watchers', async () => {
    const model = modelOf((_request, { onEvent }) => {
      onEvent({ type: 'text', text: 'Hello.' });
      return Promise.resolve(answer());
    });
    const failing = setUp({
      model,
      publish: () => {
        throw new Error('socket closed');
      },
    });
    const result = await environment().run(failing.activities.callModel, modelInput());
    expect(result.finishReason).toBe('stop');
    const unwatched = setUp({ model, watched: false });
    await environment().run(unwatched.activities.callModel, modelInput());
    expect(unwatched.live).toEqual([]);
  });

  it('drops streamed parts that arrive after its call has failed', async () => {
    const { activities, live } = setUp({
      model: modelOf((_request, { onEvent }) => {
        setTimeout(() => onEvent({ type: 'text', text: 'late' }), 5);
        return Promise.reject(modelFailure('model_stream_broken', { retryable: true }));
      }),
    });
    await failureOf(environment().run(activities.callModel, modelInput()));
    await sleep(45);
    expect(textsOf(live)).toEqual(['model_call_started', 'model_call_failed']);
  });

  it('heartbeats while the model thinks', async () => {
    const { activities } = setUp({
      model: modelOf(async () => {
        await sleep(50);
        return answer();
      }),
    });
    const env = environment({ heartbeatTimeoutMs: 30 });
    let beats = 0;
    env.onHeartbeat(() => {
      beats += 1;
    });
    await env.run(activities.callModel, modelInput());
    expect(beats).toBeGreaterThanOrEqual(3);
    const before = beats;
    await sleep(30);
    expect(beats).toBe(before);
  });
});

describe('a model call that is cancelled', () => {
  /** Streams a little, then never ends; heeds the abort signal if `heeds`. */
  function endless(heeds: boolean) {
    return modelOf(
      async (_request, { onEvent, signal }) =>
        new Promise((_resolve, reject) => {
          onEvent({ type: 'reasoning', text: 'Hm.' });
          onEvent({ type: 'text', text: 'Once ' });
          onEvent({ type: 'text', text: 'upon' });
          onEvent({ type: 'tool_arguments', index: 0, text: '{' });
          if (heeds)
            signal.addEventListener('abort', () => reject(modelFailure('model_unavailable')));
        }),
    );
  }

  it.each([true, false])(
    'by a cancel keeps the text so far (adapter heeds the signal: %s)',
    async (heeds) => {
      const { activities } = setUp({ model: endless(heeds) });
      const env = environment();
      const running = env.run(activities.callModel, modelInput());
      setTimeout(() => env.cancel(), 5);
      expect(await running).toEqual({
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Once upon' },
        ],
        calls: [],
        model: 'gpt-test',
        finishReason: 'cancelled',
        usage: { inputTokens: 8, outputTokens: 4, estimated: true },
        attempt: 1,
        aborted: true,
      });
    },
  );

  it('by a cancel keeps only as much text as an activity may return', async () => {
    const model = modelOf(
      async (_request, { onEvent }) =>
        new Promise(() => {
          onEvent({ type: 'text', text: '\u0001'.repeat(3_000_000) });
        }),
    );
    const env = environment();
    const running = env.run(setUp({ model }).activities.callModel, modelInput());
    setTimeout(() => env.cancel(), 5);
    const result = await running;
    expect(result.aborted).toBe(true);
    const bytes = JSON.stringify(result).length;
    expect(bytes).toBeGreaterThan(MAX_MODEL_ANSWER_BYTES / 2);
    expect(bytes).toBeLessThan(MAX_MODEL_ANSWER_BYTES + 1_000);
  });

  it.each(['workerShutdown', 'timedOut', 'paused', 'reset', 'notFound'])(
    'for another reason (%s) is retried',
    async (reason) => {
      const { activities } = setUp({ model: endless(true) });
      const env = environment();
      const running = env.run(activities.callModel, modelInput());
      const details = new ActivityCancellationDetails({ [reason]: true });
      setTimeout(() => env.cancel('WORKER_SHUTDOWN', details), 5);
      expect(await failureOf(running)).toMatchObject({
        type: 'model_unavailable',
        nonRetryable: false,
      });
    },
  );
});

describe('a model call that fails', () => {
  const codes = Object.entries(FAILURES).filter(
    ([code]) => code.startsWith('model_') || code === 'script_exhausted',
  );
  it.each(codes)(
    'with %s reports the code, and is retried as the failure table says',
    async (code, row) => {
      const model = modelOf(() => Promise.reject(modelFailure(code, { retryable: row.retryable })));
      const failure = await failureOf(
        environment().run(setUp({ model }).activities.callModel, modelInput()),
      );
      expect(failure).toMatchObject({
        type: code,
        nonRetryable: !row.retryable,
        message: `provider said ${code}`,
      });
      expect(failure.cause).toBeUndefined();
    },
  );

  it('waits as long as the provider asks, up to a limit', async () => {
    for (const [retryAfterMs, nextRetryDelay] of [
      [1_500, 1_500],
      [3_600_000, 60_000],
    ] as const) {
      const failure = modelFailure('model_rate_limited', { retryable: true, retryAfterMs });
      const { activities } = setUp({ model: modelOf(() => Promise.reject(failure)) });
      expect(await failureOf(environment().run(activities.callModel, modelInput()))).toMatchObject({
        nextRetryDelay,
      });
    }
  });

  it('without a code counts as unavailable, and its text, which may contain a key, is not repeated', async () => {
    const model = modelOf(() => {
      throw new Error('401 for header authorization: sk-secret');
    });
    expect(
      await failureOf(environment().run(setUp({ model }).activities.callModel, modelInput())),
    ).toMatchObject({
      type: 'model_unavailable',
      nonRetryable: false,
      message: 'The model call failed: Error',
    });
  });

  it('with an empty answer is retried', async () => {
    const blank = answer({
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: ' \n' },
      ],
    });
    const { activities } = setUp({ model: modelOf(() => Promise.resolve(blank)) });
    expect(await failureOf(environment().run(activities.callModel, modelInput()))).toMatchObject({
      type: 'model_empty_answer',
      nonRetryable: false,
    });
  });

  it('because this worker lacks the agent is retried: another may have it', async () => {
    const { activities } = setUp();
    const input = modelInput({ agent: 'sales' });
    const tried = (attempt: number) =>
      failureOf(environment({ attempt }).run(activities.callModel, input));
    expect(await tried(1)).toMatchObject({ type: 'unknown_agent', nonRetryable: false });
    // Soon at first, and then for about two minutes, because a worker with the agent may have to be started.
    expect((await tried(3)).nextRetryDelay).toBeUndefined();
    expect((await tried(4)).nextRetryDelay).toBe(20_000);
  });

  it('because it lacks a part of the transcript never sends an incomplete one', async () => {
    const { activities } = setUp();
    const input = modelInput({ transcript: { epoch: 0, base: 4, append: [] } });
    expect(await failureOf(environment().run(activities.callModel, input))).toMatchObject({
      type: 'transcript_miss',
    });
  });
});

describe('a policy that hangs', () => {
  const model = modelOf(() =>
    Promise.resolve(answer({ calls: [{ id: 'call_1', name: 'held', argumentsJson: '{}' }] })),
  );

  it('delays no cancellation, receives the requester, and the activity heartbeats meanwhile', {
    ...promise('G65'),
  }, async () => {
    let context: unknown;
    const held = defineTool<{ readonly rate: number }>({
      name: 'held',
      description: 'Held.',
      input: z.object({}),
      approval: (_input, ctx) => {
        context = ctx;
        return new Promise(() => undefined);
      },
      run: () => null,
    });
    const { activities } = setUp({ model, tools: [held] });
    const env = environment({ heartbeatTimeoutMs: 30 });
    let beats = 0;
    env.onHeartbeat(() => {
      beats += 1;
      if (beats === 3) env.cancel();
    });
    const result = await env.run(activities.callModel, modelInput());
    expect(result).toMatchObject({ aborted: true, calls: [] });
    expect(context).toMatchObject({
      agent: 'support',
      conversationId: 'c-1',
      turnId: 'turn_1',
      step: 2,
      toolCallId: 'call_1',
      requester: { id: 'ann' },
      services: { rate: 7 },
    });
  });
});
