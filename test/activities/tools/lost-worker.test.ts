/**
 * A worker that is lost while a model streams, for each kind of adapter: the text of the next attempt replaces the
 * first in every reader, although the first may still be streaming somewhere, and the usage of both is counted.
 */
import { createOpenAI } from '@ai-sdk/openai';
import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aiSdkModel } from '../../../src/model/ai-sdk/adapter.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import { detailsIn, type ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { LiveView } from '../../../src/protocol/log/live-view.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { startWireServer } from '../../support/networks/wire-server.js';
import { promise } from '../../support/promise.js';
import { chatEvents, responsesEvents } from '../../support/samples/wire-events.js';
import { until } from '../../support/until.js';
import { environment, modelInput, setUp } from './fixtures.js';

const KEY = 'sk-test-0123456789';
const LONG = 'one two three four five six seven eight nine ten. '.repeat(12);
const SHORT = 'eins zwei drei';

const WAYS: readonly [
  string,
  typeof chatEvents | typeof responsesEvents,
  (url: string) => Model,
][] = [
  ['Chat Completions', chatEvents, (baseURL) => openaiModel('gpt', { baseURL, apiKey: KEY })],
  [
    'Responses',
    responsesEvents,
    (baseURL) => openaiModel('gpt', { baseURL, apiKey: KEY, api: 'responses' }),
  ],
  [
    'the AI SDK',
    chatEvents,
    (baseURL) => aiSdkModel(createOpenAI({ baseURL, apiKey: KEY }).chat('gpt')),
  ],
];

const attemptOf = (event: LiveEvent | undefined): number | undefined =>
  event?.type === 'text_delta' ? event.attempt : undefined;

describe.each(WAYS)('a worker that is lost while a model streams through %s', (...way) => {
  const [, events, modelAt] = way;

  it('leaves an attempt whose text is replaced in every reader, including its late pieces; both are counted', {
    ...promise('G10', 'N29'),
  }, async () => {
    let asked = 0;
    const server = await startWireServer(() => {
      asked += 1;
      return asked === 1
        ? { events: events({ text: LONG }), delayMs: 15 }
        : { events: events({ text: SHORT }) };
    });
    onTestFinished(() => server.close());
    const { activities, live } = setUp({ model: modelAt(server.url) });
    const lost = environment({ heartbeatTimeoutMs: 60 });
    let lastBeat: ModelCallDetails = {};
    lost.onHeartbeat((details) => {
      lastBeat = detailsIn(details);
    });
    const first = lost.run(activities.callModel, modelInput());
    first.catch(() => undefined);
    onTestFinished(() => {
      const details = new ActivityCancellationDetails({ workerShutdown: true });
      lost.cancel('WORKER_SHUTDOWN', details);
    });
    await until(
      'a heartbeat knows of its text',
      () => (lastBeat.spent?.usage.outputTokens ?? 0) > 2,
    );
    // The server receives nothing from the lost worker from here on, but the worker streams on.
    const heartbeatDetails = JSON.parse(JSON.stringify(lastBeat)) as unknown;
    const outputTokens = lastBeat.spent?.usage.outputTokens ?? 0;

    const next = environment({ attempt: 2, heartbeatDetails });
    const result = await next.run(activities.callModel, modelInput());
    const begun = live.findIndex((event) => attemptOf(event) === 2);
    await until('a late piece of the first', () =>
      live.slice(begun).some((event) => attemptOf(event) === 1),
    );
    const view = new LiveView();
    const shown = live.flatMap((event) => view.take(event) ?? []);
    const attempts = shown.map(attemptOf).filter((attempt) => attempt !== undefined);
    expect(attempts).toEqual(attempts.toSorted());
    expect(new Set(attempts)).toEqual(new Set([1, 2]));
    expect(view.answer).toMatchObject({ attempt: 2, text: SHORT, isWhole: true });

    expect(textOf(result.parts)).toBe(SHORT);
    expect(result).toMatchObject({
      attempt: 2,
      usage: { inputTokens: 100, outputTokens: 20 },
      earlierUsage: { outputTokens, estimated: true },
      failedAttempts: [{ attempt: 1, code: 'no_worker' }],
    });
    expect(result.earlierUsage?.inputTokens).toBeGreaterThan(0);
    expect(result.usage).not.toHaveProperty('estimated');
    expect(server.requests).toHaveLength(2);
  });
});
