/**
 * Model calls are sent only new messages; earlier ones are cached, queried or sent again, and the model always reads
 * everything.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { Model, ModelRequest } from '../../../src/protocol/model/model.js';
import type { CallModelInput } from '../../../src/protocol/workflow/activities.js';
import type { TranscriptDelta } from '../../../src/protocol/workflow/transcript-delta.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { transcriptQueries } from '../../support/engine/interceptors.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

/** Answers each message with its number, and collects the number of messages in each request. */
function counting(): Model & { readonly seen: number[] } {
  const seen: number[] = [];
  return {
    name: 'counting',
    seen,
    generate: async ({ messages }: ModelRequest) => {
      await Promise.resolve();
      seen.push(messages.length);
      return {
        parts: [{ type: 'text', text: `answer ${messages.length}` }],
        calls: [],
        finishReason: 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
        model: 'counting',
      };
    },
  };
}

/** The inputs of the model calls in the newest run, oldest first. */
async function sent(engine: Engine, talk: Conversation): Promise<readonly TranscriptDelta[]> {
  const events = await engine.history.events(engine.workflowId(talk));
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const [payload] = scheduled?.input?.payloads ?? [];
    if (scheduled?.activityType?.name !== 'callModel' || !payload) return [];
    return [defaultPayloadConverter.fromPayload<CallModelInput>(payload).transcript];
  });
}

async function threeTurns(engine: Engine): Promise<Conversation> {
  const { talk } = await engine.ask('one');
  await engine.say(talk, 'two');
  expect(await engine.say(talk, 'three')).toMatchObject({ text: 'answer 5' });
  return talk;
}

test('a model call is sent the new messages, and reads all of them', promise('G170'), async () => {
  const model = counting();
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const talk = await threeTurns(engine);
  expect(model.seen).toEqual([1, 3, 5]);
  expect((await sent(engine, talk)).map(({ base, append }) => [base, append.length])).toEqual([
    [0, 1],
    [1, 2],
    [3, 2],
  ]);
});

test('a worker with an empty cache queries the run', promise('G170'), async () => {
  const model = counting();
  let queries = 0;
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    transcriptCacheBytes: 0,
    connection: {
      interceptors: [
        transcriptQueries(() => {
          queries += 1;
        }),
      ],
    },
  });
  await threeTurns(engine);
  expect(model.seen).toEqual([1, 3, 5]);
  expect(queries).toBe(2);
});

test('a worker that replays a run is given its messages, and queries nothing', {
  ...promise('G170'),
}, async () => {
  const model = counting();
  let queries = 0;
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    connection: {
      interceptors: [
        transcriptQueries(() => {
          queries += 1;
        }),
      ],
    },
  });
  const talk = await threeTurns(engine);
  await engine.stopWorker();
  await engine.startWorker();
  expect(await engine.say(talk, 'four')).toMatchObject({ text: 'answer 7' });
  expect(model.seen).toEqual([1, 3, 5, 7]);
  expect(queries).toBe(0);
});

test(
  'when the run cannot be queried, all messages are sent once more',
  promise('G170'),
  async () => {
    const model = counting();
    const engine = await startEngine({
      agents: [shop(model)],
      services: ledger(),
      transcriptCacheBytes: 0,
      connection: {
        interceptors: [
          transcriptQueries(() => {
            throw new Error('no queries today');
          }),
        ],
      },
    });
    const talk = await threeTurns(engine);
    expect(model.seen).toEqual([1, 3, 5]);
    expect((await sent(engine, talk)).map(({ base }) => base)).toEqual([0, 1, 0, 3, 0]);
    expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
  },
);

test('after a change of workers and after a roll-over only new messages are sent, with a warm cache or an empty one', {
  ...promise('G180'),
}, async () => {
  const model = counting();
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const talk = await threeTurns(engine);
  await engine.stopWorker();
  await engine.startWorker();
  expect(await engine.say(talk, 'four')).toMatchObject({ text: 'answer 7' });
  await engine.signal(talk, 'rollOver');
  expect(await engine.say(talk, 'five')).toMatchObject({ text: 'answer 9' });
  expect(await engine.say(talk, 'six')).toMatchObject({ text: 'answer 11' });
  expect((await sent(engine, talk)).map(({ base, append }) => [base, append.length])).toEqual([
    [7, 2],
    [9, 2],
  ]);
  await engine.signal(talk, 'rollOver');
  await until('it rolled over', () => engine.history.runs(engine.workflowId(talk)), {
    holds: (runs) => runs.length === 3,
  });
  await engine.stopWorker();
  await engine.startWorker();
  expect(await engine.say(talk, 'seven')).toMatchObject({ text: 'answer 13' });
  expect((await sent(engine, talk)).map(({ base, append }) => [base, append.length])).toEqual([
    [11, 2],
  ]);
});

test('an agent can have the whole transcript sent every time', async () => {
  const model = counting();
  const engine = await startEngine({
    agents: [shop(model, { transcripts: 'full' })],
    services: ledger(),
  });
  const talk = await threeTurns(engine);
  expect((await sent(engine, talk)).map(({ append }) => append.length)).toEqual([1, 3, 5]);
});
