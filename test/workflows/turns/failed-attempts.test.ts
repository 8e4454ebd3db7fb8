/** Failed attempts of a model call: visible live, in the Temporal UI, and later in the log. */
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { startWireServer, type WireAnswer } from '../../support/networks/wire-server.js';
import { promise } from '../../support/promise.js';
import { responsesEvents } from '../../support/samples/wire-events.js';
import { until } from '../../support/until.js';

const HELLO: WireAnswer = { events: responsesEvents({ text: 'Hello.' }) };
const LIMITED: WireAnswer = {
  status: 429,
  headers: { 'retry-after': '3' },
  body: { error: { message: 'slow down', code: 'rate_limit_exceeded' } },
};
const REFUSED: WireAnswer = { status: 401, body: { error: { message: 'no', code: 'bad_key' } } };

/** An engine whose model is a server that gives these answers one after the other, and the times of its requests. */
async function served(...answers: readonly WireAnswer[]) {
  const askedAt: number[] = [];
  const server = await startWireServer(() => {
    askedAt.push(Date.now());
    return answers[askedAt.length - 1] ?? HELLO;
  });
  onTestFinished(() => server.close());
  const model = openaiModel('gpt', { baseURL: server.url, api: 'responses', apiKey: 'sk-x' });
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  return { engine, askedAt };
}

function follow(talk: Conversation): readonly LiveEvent[] {
  const live: LiveEvent[] = [];
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  void (async () => {
    for await (const frame of talk.subscribe({ signal: stop.signal }))
      if (frame.type === 'live') live.push(frame.event);
  })().catch(() => undefined);
  return live;
}

/** The model call that waits for its next attempt, as the Temporal UI shows it. */
async function pending(engine: Engine, talk: Conversation) {
  const { raw } = await engine.handle(talk).describe();
  const [activity] = raw.pendingActivities ?? [];
  return activity?.lastFailure == null ? undefined : activity;
}

const callOf = (log: readonly CanonicalEvent[]) =>
  log.filter(({ type }) => type === 'model_call').at(-1);

test('a rate-limited model is called again when its provider says; watchers, the UI and the log see why and when', {
  ...promise('G102', '2.A.7'),
}, async () => {
  const { engine, askedAt } = await served(LIMITED);
  const talk = engine.begin();
  const live = follow(talk);
  const turn = await engine.send(talk, 'hello');
  const waiting = await until('Temporal waits', () => pending(engine, talk));
  expect(waiting?.lastFailure).toMatchObject({
    message: 'The provider limits the rate of requests (429 rate_limit_exceeded): slow down',
    applicationFailureInfo: { type: 'model_rate_limited', nonRetryable: false },
  });
  expect(Number(waiting?.currentRetryInterval?.seconds)).toBe(3);
  const failed = { attempt: 1, code: 'model_rate_limited', httpStatus: 429, nextInMs: 3_000 };
  await until('watchers see it', () => live.find(({ type }) => type === 'model_call_failed'));
  expect(live.find(({ type }) => type === 'model_call_failed')).toMatchObject({
    ...failed,
    ...{ turnId: turn.turnId, step: 1 },
  });
  expect(await turn.result({ timeout: '20s' })).toMatchObject({ text: 'Hello.' });
  const [first = 0, second = 0] = askedAt;
  expect(second - first).toBeGreaterThan(2_800);
  expect(callOf(await engine.log(talk))).toMatchObject({
    ...{ attempt: 2, finishReason: 'stop', failedAttempts: [{ ...failed, model: 'gpt' }] },
  });
  const events = await engine.history.events(engine.workflowId(talk));
  const started = events.find(
    ({ activityTaskStartedEventAttributes: task }) => (task?.attempt ?? 0) === 2,
  );
  expect(started?.activityTaskStartedEventAttributes?.lastFailure).toMatchObject({
    applicationFailureInfo: { type: 'model_rate_limited' },
  });
});

test('a permanently failed call shows its reason in the history, on the page of the conversation and in the log, and the next message runs', {
  ...promise('G102'),
}, async () => {
  const { engine } = await served({ status: 503 }, REFUSED);
  const { talk, result } = await engine.ask();
  const error = {
    code: 'model_unauthorized',
    message: 'The provider refused the API key (401 bad_key)',
  };
  expect(result).toMatchObject({ status: 'failed', error });
  const call = callOf(await engine.log(talk));
  expect(call).toMatchObject({
    ...{ attempt: 2, finishReason: 'failed', usage: { inputTokens: 0, outputTokens: 0 } },
    failedAttempts: [
      { attempt: 1, code: 'model_unavailable', httpStatus: 503, nextInMs: 500 },
      { attempt: 2, ...error, httpStatus: 401 },
    ],
  });
  const events = await engine.history.events(engine.workflowId(talk));
  const failures = events.flatMap(({ activityTaskFailedEventAttributes: task }) =>
    task?.failure == null ? [] : [task.failure],
  );
  expect(failures).toMatchObject([
    {
      message: error.message,
      applicationFailureInfo: { type: error.code, nonRetryable: true },
    },
  ]);
  const page = async (): Promise<string> =>
    (await engine.query<{ currentDetails?: string }>(talk.id, '__temporal_workflow_metadata'))
      .currentDetails ?? '';
  expect(await page()).toContain(`failed: \`${error.code}\`, \`${error.message}\``);
  expect(await engine.say(talk, 'again')).toMatchObject({ status: 'completed', text: 'Hello.' });
  expect(await page()).not.toContain('failed');
});

test('a watcher that connects in the middle of an answer receives the text streamed before', {
  ...promise('G105', '2.A.2'),
}, async () => {
  const text = 'a long answer that takes its time, word by word, until it is said';
  const { engine } = await served({ events: responsesEvents({ text }), delayMs: 120 });
  const talk = engine.begin();
  const early = follow(talk);
  const turn = await engine.send(talk, 'hello');
  const textOf = (live: readonly LiveEvent[]): string =>
    live.map((event) => (event.type === 'text_delta' ? event.text : '')).join('');
  await until('it speaks', () => textOf(early).length > 20);
  const late = follow(talk);
  expect(await turn.result({ timeout: '20s' })).toMatchObject({ text });
  const firstOf = (live: readonly LiveEvent[]) => live.find(({ type }) => type === 'text_delta');
  expect(firstOf(late)).toMatchObject({ offset: 0, attempt: 1 });
  expect(textOf(late).length).toBeGreaterThan(20);
  expect(text.startsWith(textOf(late))).toBe(true);
  expect(text.startsWith(textOf(early))).toBe(true);
  const [begun] = late;
  expect(begun).toMatchObject({ type: 'model_call_started', attempt: 1 });
});
