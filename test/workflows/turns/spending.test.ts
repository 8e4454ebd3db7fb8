/** Usage of failed attempts of model calls: in the log, the turn and the conversation. */
import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { ModelFailure, type ModelFailureCode } from '../../../src/model/shared/failure.js';
import type { Usage } from '../../../src/protocol/conversation/turns.js';
import type { CanonicalEvent, EventType } from '../../../src/protocol/log/events.js';
import type { Model, ModelCallOptions, ModelResponse } from '../../../src/protocol/model/model.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { transcriptQueries } from '../../support/engine/interceptors.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const PRICES = { inputPerMTok: 10, outputPerMTok: 100 };
const ANSWER: ModelResponse = {
  parts: [{ type: 'text', text: 'Here.' }],
  calls: [],
  finishReason: 'stop',
  usage: { inputTokens: 30, outputTokens: 3 },
  model: 'flaky',
};

type Try = (options: ModelCallOptions) => Promise<ModelResponse>;

const answers: Try = () => Promise.resolve(ANSWER);

/** Streams 40 bytes, which count as 13 tokens, and then fails. */
function breaksOff(code: ModelFailureCode, retryable: boolean): Try {
  return ({ onEvent }) => {
    onEvent({ type: 'text', text: 'forty bytes of an answer that is cut off' });
    return Promise.reject(new ModelFailure(code, 'broken off', { retryable }));
  };
}

/** Fails without any output. */
const refuses: Try = () =>
  Promise.reject(new ModelFailure('model_unavailable', 'refused', { retryable: true }));

/** Makes the tries one after the other, and repeats the last. */
function flaky(...tries: readonly Try[]): Model {
  let next = 0;
  return {
    name: 'flaky',
    prices: PRICES,
    generate: (_request, options) => {
      const attempt = tries[Math.min(next, tries.length - 1)] ?? answers;
      next += 1;
      return attempt(options);
    },
  };
}

async function only<Type extends EventType>(
  engine: Engine,
  talk: Conversation,
  type: Type,
): Promise<Extract<CanonicalEvent, { type: Type }>> {
  const found = (await engine.log(talk)).filter(
    (event): event is Extract<CanonicalEvent, { type: Type }> => event.type === type,
  );
  expect(found).toHaveLength(1);
  const [event] = found;
  if (event === undefined) throw new Error('unreachable');
  return event;
}

async function expectTaken(engine: Engine, talk: Conversation, taken: Usage): Promise<void> {
  expect((await only(engine, talk, 'turn_ended')).usage).toEqual(taken);
  expect((await engine.snapshot(talk)).usage).toEqual(taken);
  expect((await engine.client.conversation(talk.id).snapshot()).usage).toEqual(taken);
}

test('interrupted attempts count beside the successful one, also over an attempt without usage', {
  ...promise('G11'),
}, async () => {
  const broken = breaksOff('model_stream_broken', true);
  const model = flaky(broken, broken, refuses, answers);
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'Here.' });
  const { attempt, usage, earlierUsage } = await only(engine, talk, 'model_call');
  expect({ attempt, usage }).toEqual({
    attempt: 4,
    usage: { inputTokens: 30, outputTokens: 3, costMicros: 600 },
  });
  const { inputTokens = 0, costMicros = 0 } = earlierUsage ?? {};
  expect(earlierUsage).toMatchObject({ outputTokens: 26, estimated: true });
  expect(costMicros).toBe(inputTokens * 10 + 2_600);
  await expectTaken(engine, talk, {
    inputTokens: inputTokens + 30,
    outputTokens: 29,
    costMicros: costMicros + 600,
    estimated: true,
  });
});

test('a permanently failed model call counts the usage of all its attempts', {
  ...promise('G11'),
}, async () => {
  const model = flaky(
    breaksOff('model_stream_broken', true),
    breaksOff('model_content_filtered', false),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'failed', error: { code: 'model_content_filtered' } });
  const call = await only(engine, talk, 'model_call');
  expect(call).toMatchObject({ attempt: 2, model: 'flaky', finishReason: 'failed' });
  expect(call.usage).toMatchObject({ outputTokens: 26, estimated: true });
  await expectTaken(engine, talk, call.usage);
});

test('a model call that fails permanently while its response still runs counts the usage of that response', async () => {
  const leaves: Try = (options) => {
    options.onReport?.({ type: 'open', id: 'resp_1' });
    return breaksOff('model_stream_broken', true)(options);
  };
  const cannotResume: Try = ({ resume }) => {
    const message = `no key for ${resume ?? 'anything'}`;
    return Promise.reject(new ModelFailure('model_unauthorized', message, { retryable: false }));
  };
  const model = flaky(leaves, cannotResume);
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'failed', error: { message: 'no key for resp_1' } });
  const call = await only(engine, talk, 'model_call');
  expect(call).toMatchObject({ finishReason: 'failed', usage: { outputTokens: 13 } });
  expect(call).not.toHaveProperty('id');
  await expectTaken(engine, talk, call.usage);
});

test('a model call that lacks messages passes the usage of its attempts to the call that repeats it', async () => {
  let queries = 0;
  const model = flaky(answers, breaksOff('model_stream_broken', true), answers);
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    transcriptCacheBytes: 0,
    connection: {
      interceptors: [
        transcriptQueries(() => {
          queries += 1;
          if (queries > 1) throw new Error('no more queries');
        }),
      ],
    },
  });
  const { talk } = await engine.ask();
  expect(await engine.say(talk, 'and?')).toMatchObject({ status: 'completed' });
  const last = (await engine.log(talk)).findLast((event) => event.type === 'model_call');
  // The first attempt of the repeated activity counts after the two attempts of the activity before it.
  expect(last).toMatchObject({
    ...{ attempt: 3, earlierUsage: { outputTokens: 13, estimated: true } },
    failedAttempts: [{ attempt: 1, code: 'model_stream_broken', nextInMs: 500 }],
  });
});

test('a permanently refused model call counts no usage, and records why', async () => {
  const refused: Try = () =>
    Promise.reject(new ModelFailure('model_unauthorized', 'no', { retryable: false }));
  const engine = await startEngine({ agents: [shop(flaky(refused))], services: ledger() });
  const { talk } = await engine.ask();
  expect(await only(engine, talk, 'model_call')).toMatchObject({
    ...{ finishReason: 'failed', usage: { inputTokens: 0, outputTokens: 0 } },
    failedAttempts: [{ attempt: 1, code: 'model_unauthorized', message: 'no' }],
  });
  await expectTaken(engine, talk, { inputTokens: 0, outputTokens: 0 });
});

test('a model call that is cancelled half-way counts the text so far', async () => {
  const model = new HeldModel(script(says('never')), 'forty bytes of an answer that is cut off');
  model.held = true;
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  await until('the model speaks', () => model.started === 1);
  await turn.cancel();
  expect(await turn.result()).toMatchObject({ status: 'cancelled' });
  const call = await only(engine, talk, 'model_call');
  expect(call).toMatchObject({
    finishReason: 'cancelled',
    usage: { outputTokens: 13, estimated: true },
  });
  await expectTaken(engine, talk, call.usage);
});
