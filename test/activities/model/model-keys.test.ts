/** Keys of models that the worker resolves before every request: resolvers receive the caller's identity. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { ApplicationFailure } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { aiSdkModel } from '../../../src/model/ai-sdk/adapter.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import type { Model, ModelCaller } from '../../../src/protocol/model/model.js';
import {
  startWireServer,
  type WireAnswer,
  type WireServer,
} from '../../support/networks/wire-server.js';
import { promise } from '../../support/promise.js';
import { chatEvents } from '../../support/samples/wire-events.js';
import { environment, key, modelInput, setUp } from '../tools/fixtures.js';

const SECRET = 'tenant-key-0123456789';
const REQUESTER = { id: 'ann', verified: true, channel: 'api' } as const;

async function serving(...answers: readonly WireAnswer[]): Promise<WireServer> {
  let asked = 0;
  const server = await startWireServer(() => {
    asked += 1;
    return answers[Math.min(asked, answers.length) - 1] ?? {};
  });
  onTestFinished(() => server.close());
  return server;
}

async function failureOf(running: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await running.catch((reason: unknown) => reason);
  if (error instanceof ApplicationFailure) return error;
  throw new Error('it was answered');
}

async function called(model: Model, input: Parameters<typeof modelInput>[0] = {}, attempt = 1) {
  const { activities } = setUp({ model });
  return await environment({ attempt }).run(activities.callModel, modelInput(input));
}

test('a resolver is called before every request, with the identity of the caller', {
  ...promise('G164', '2.A.7'),
}, async () => {
  const server = await serving(
    { events: chatEvents({ text: 'Twelve.' }) },
    { events: chatEvents({ text: '{"total":12}' }) },
  );
  const callers: ModelCaller[] = [];
  const model = openaiModel('gpt', {
    baseURL: server.url,
    apiKey: (caller) => {
      callers.push(caller);
      return `${SECRET}-${callers.length}-of-${caller.tenant ?? 'nobody'}`;
    },
  });
  const output = { type: 'object', properties: { total: { type: 'integer' } } };
  const result = await called(model, { output }, 2);
  expect(result.output).toEqual({ total: 12 });
  const about = {
    ...{ ...key, agent: 'support', turnId: 'turn_1', step: 2, attempt: 2 },
    requester: REQUESTER,
  };
  expect(callers).toEqual([
    { ...about, purpose: 'answer' },
    { ...about, purpose: 'correction' },
  ]);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${SECRET}-1-of-default`,
    `Bearer ${SECRET}-2-of-default`,
  ]);
  expect(JSON.stringify(result)).not.toContain(SECRET);
});

test('a resolver is also called for summaries, and without a conversation', {
  ...promise('G164'),
}, async () => {
  const server = await serving({ events: chatEvents({ text: 'They spoke.' }) });
  const callers: ModelCaller[] = [];
  const model = openaiModel('gpt', {
    baseURL: server.url,
    apiKey: (caller) => {
      callers.push(caller);
      return SECRET;
    },
  });
  const append = [1, 2, 3].map((turn) => ({
    ...({ role: 'user', id: `m${turn}`, turnId: `turn_${turn}` } as const),
    parts: [{ type: 'text', text: 'Hello' } as const],
  }));
  const transcript = { epoch: 0, base: 0, append };
  await environment().run(setUp({ model }).activities.summarize, {
    ...{ ...key, agent: 'support', ordinal: 1, transcript },
  });
  await model.generate(
    { system: '', messages: append, tools: [] },
    { signal: new AbortController().signal, onEvent: () => undefined },
  );
  expect(callers).toEqual([{ ...key, agent: 'support', purpose: 'summary', attempt: 1 }, {}]);
});

test("a failing resolver's text stays secret, and it is called again", {
  ...promise('G164'),
}, async () => {
  const model = openaiModel('gpt', {
    baseURL: 'http://127.0.0.1:9/v1',
    apiKey: () => Promise.reject(new Error(`vault refused ${SECRET}`)),
  });
  expect(await failureOf(called(model))).toMatchObject({
    ...{ type: 'model_unauthorized', message: 'The API key could not be read' },
    nonRetryable: false,
  });
});

function claude(url: string, headers: NonNullable<Parameters<typeof aiSdkModel>[1]>['headers']) {
  const anthropic = createAnthropic({ baseURL: url, apiKey: 'static-key' });
  return aiSdkModel(anthropic('claude-test'), {
    settings: { headers: { 'x-team': 'blue' } },
    ...(headers === undefined ? {} : { headers }),
  });
}

test("headers of an AI SDK model are resolved in the same way, take precedence, and are redacted from the provider's quotes", {
  ...promise('G164'),
}, async () => {
  const server = await serving({
    status: 400,
    body: { type: 'error', error: { type: 'invalid', message: `bad: ${SECRET} and ${SECRET}` } },
  });
  const callers: ModelCaller[] = [];
  const model = claude(server.url, (caller) => {
    callers.push(caller);
    return Promise.resolve({ 'x-api-key': SECRET, 'x-other': `Token ${SECRET}-b` });
  });
  const failure = await failureOf(called(model));
  expect(callers).toMatchObject([{ ...key, purpose: 'answer', requester: REQUESTER }]);
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': SECRET, 'x-team': 'blue' });
  expect(failure.type).toBe('model_bad_request');
  expect(failure.message).toContain('bad: [key] and [key]');
  expect(JSON.stringify(failure)).not.toContain(SECRET);
});

test('unreadable headers are resolved again, and their error is never repeated', async () => {
  const model = claude('http://127.0.0.1:9', () => {
    throw new Error(SECRET);
  });
  expect(await failureOf(called(model))).toMatchObject({
    ...{ type: 'model_unauthorized', message: 'The headers of the model could not be read' },
    nonRetryable: false,
  });
});
