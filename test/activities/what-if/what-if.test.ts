/** One model call of a what-if in a worker: its request, and all that it leaves alone. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createActivities } from '../../../src/activities/index.js';
import type { ActivityDeps } from '../../../src/activities/shared/deps.js';
import type { RecordedTurn } from '../../../src/core/what-if/recorded.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { definePlugin } from '../../../src/define/define-plugin.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { ModelRequest, ModelResponse } from '../../../src/protocol/model/model.js';
import type { WhatIfStepInput } from '../../../src/protocol/workflow/what-if.js';
import { promise } from '../../support/promise.js';
import { answer, environment, key, modelOf } from '../tools/fixtures.js';

const STARTED = '2026-01-01T00:00:00.000Z';
const TURN = 'turn_a_1';
const CALL = { name: 'stock', argumentsJson: '{"item":"tea"}' };
const recorded: RecordedTurn = {
  ...{ turnId: TURN, agent: 'support', startedAt: STARTED, isHandedOver: false, lastSeq: 9 },
  ...{ endingCalls: new Set<string>(), isWhole: true },
  before: [{ role: 'user', id: 'm', turnId: TURN, parts: [{ type: 'text', text: 'How much?' }] }],
  steps: [
    {
      parts: [{ type: 'tool_call', toolCallId: 'c-1', ...CALL }],
      results: {
        ...{ role: 'tool', id: 'r', turnId: TURN, step: 1 },
        parts: [
          {
            ...{ type: 'tool_result', toolCallId: 'c-1', name: 'stock' },
            envelope: { ok: true, result: 7 },
          },
        ],
      },
      added: [],
    },
    { parts: [{ type: 'text', text: 'Seven' }], added: [] },
  ],
};

function input(over: Partial<WhatIfStepInput> = {}): WhatIfStepInput {
  return {
    ...{ ...key, whatIfId: 'w-1', startedAt: STARTED, generation: 1, turnId: TURN },
    ...{ throughSeq: 9, agent: 'support', maxSteps: 10, step: 1, earlier: [] },
    actor: { id: 'dev', verified: true, channel: 'api' },
    ...over,
  };
}

const asks = (call = CALL): ModelResponse => answer({ parts: [], calls: [{ id: 'x', ...call }] });

/** An agent with a tool, a tool of the provider and a plugin, and a second one with another model. */
function setUp(response: ModelResponse | Error, deps: Partial<ActivityDeps<undefined>> = {}) {
  const requests: ModelRequest[] = [];
  const callers: unknown[] = [];
  const touched: string[] = [];
  const touch = (name: string) => () => {
    touched.push(name);
    return Promise.resolve(undefined);
  };
  const model = (name: string) => ({
    ...modelOf(async (request, { caller, files }) => {
      requests.push(request);
      callers.push({ ...caller, model: name });
      await files?.write(Buffer.from('x'));
      if (response instanceof Error) throw response;
      return response;
    }),
    ...{ name, providerToolProblem: () => undefined },
  });
  const stock = defineTool({
    ...{ name: 'stock', description: 'Stock.', input: z.object({ item: z.string() }) },
    run: () => {
      touched.push('tool');
      return 8;
    },
  });
  const search = defineTool({
    ...{ name: 'web.search', description: 'Search.', executor: 'provider' as const },
    provider: { type: 'web_search' },
  });
  const plugin = definePlugin({
    id: 'p',
    prepare: () => {
      touched.push('plugin');
    },
  });
  const support: Agent = defineAgent({
    ...{ name: 'support', model: model('first'), instructions: 'Help.' },
    ...{ tools: [stock, search], plugins: [plugin] },
  });
  const sales = defineAgent({ name: 'sales', model: model('second'), instructions: 'Sell.' });
  const quiet = () => undefined;
  const activities = createActivities<undefined>({
    agents: [support, sales] as readonly Agent<undefined>[],
    services: undefined,
    restoreState: () => Promise.reject(new Error('none')),
    flush: () => Promise.reject(new Error('none')),
    publish: () => {
      touched.push('live');
    },
    blobs: { put: touch('blobs') as never, get: () => Promise.resolve(undefined) },
    recordedTurn: () => Promise.resolve(recorded),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    ...deps,
  });
  const run = async (over?: Partial<WhatIfStepInput>) =>
    await environment().run(activities.whatIf, input(over));
  return { run, requests, callers, touched };
}

describe('a step of a what-if', promise('G389'), () => {
  it('runs no tool, asks no plugin, and stores and publishes nothing', async () => {
    const { run, requests, touched, callers } = setUp(asks());
    const first = await run({ instructions: 'Be brief.' });
    expect(first).toMatchObject({ step: { step: 1, compared: 'same' } });
    expect(first.end).toBeUndefined();
    await run({ instructions: 'Be brief.', step: 2, earlier: [first.answer] });
    expect(touched).toEqual([]);
    expect(requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['stock'],
      ['stock'],
    ]);
    expect(requests[0]?.system).toMatch(/^Be brief\./);
    expect(requests[1]?.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        parts: [{ toolCallId: 'what_if_1_1', argumentsJson: CALL.argumentsJson }],
      },
      { role: 'tool', parts: [{ toolCallId: 'what_if_1_1', envelope: { ok: true, result: 7 } }] },
    ]);
    expect(callers[1]).toMatchObject({
      ...{ ...key, purpose: 'what_if', requester: { id: 'dev' }, turnId: TURN, step: 2 },
    });
  });

  it('ends with the first call that has no recorded result, and with an answer', async () => {
    const other = { name: 'stock', argumentsJson: '{"item":"milk"}' };
    expect((await setUp(asks(other)).run()).end).toEqual({
      state: 'diverged',
      diverged: { step: 1, name: 'stock', arguments: '{"item":"milk"}', reason: 'not_recorded' },
    });
    const { run } = setUp(answer());
    expect(await run()).toMatchObject({
      ...{ end: { state: 'ended', reason: 'answered' } },
      step: { answer: { text: 'Hello.', usage: { inputTokens: 3, outputTokens: 2 } } },
    });
  });

  it.each([
    [{ agent: 'sales' }, 'Sell.', 'second'],
    [{ model: 'second' }, 'Help.', 'second'],
    [{ agent: 'sales', model: 'first', instructions: 'Sing.' }, 'Sing.', 'first'],
  ])('uses the definition that is asked for: %j', async (over, system, model) => {
    const { run, requests, callers } = setUp(answer());
    await run(over);
    expect(requests[0]?.system.split('\n')[0]).toBe(system);
    expect(callers).toMatchObject([{ model }]);
  });

  it.each([
    ['unknown_conversation', { recordedTurn: () => Promise.resolve(undefined) }, {}, true],
    ['unknown_conversation', {}, { startedAt: '2026-02-02T00:00:00.000Z' }, true],
    ['store_unavailable', { recordedTurn: () => Promise.reject(new Error('down')) }, {}, false],
    ['unknown_agent', {}, { agent: 'gone' }, false],
    ['model_not_found', {}, { model: 'gone' }, false],
  ] as const)('fails as %s', async (type, deps, over, nonRetryable) => {
    const { run, requests } = setUp(answer(), deps);
    await expect(run(over)).rejects.toMatchObject({ type, nonRetryable });
    expect(requests).toEqual([]);
  });

  it('fails as its model does, and without the words of other errors', async () => {
    const refused = new ModelFailure('model_unauthorized', 'no key', { retryable: false });
    await expect(setUp(refused).run()).rejects.toMatchObject({ type: 'model_unauthorized' });
    const quoted = await setUp(new Error('Bearer secret'))
      .run()
      .catch((error: unknown) => error);
    expect(quoted).toMatchObject({ type: 'model_unavailable' });
    expect(String(quoted)).not.toContain('secret');
    await expect(
      setUp(answer({ parts: [{ type: 'text', text: ' ' }] })).run(),
    ).rejects.toMatchObject({ type: 'model_empty_answer' });
    const long = answer({ parts: [{ type: 'text', text: 'x'.repeat(1_100_000) }] });
    await expect(setUp(long).run()).rejects.toMatchObject({ type: 'model_answer_too_large' });
  });
});
