/** Model calls are sent what is new; the rest is remembered, asked for, or sent again: the model always reads everything. */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { Model, ModelRequest } from '../../../src/protocol/model/model.js';
import type { CallModelInput, TranscriptDelta } from '../../../src/protocol/workflow/activities.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { interceptor } from '../../support/engine/interceptors.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

/** Answers each message with its number, and keeps how many messages each request had. */
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

/** What the model calls of the newest run were sent, oldest first. */
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

test('a model call is sent what is new, and reads everything', promise('G170'), async () => {
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

test('a worker that remembers nothing asks the run', promise('G170'), async () => {
  const model = counting();
  const asked: string[] = [];
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    transcriptCacheBytes: 0,
    connection: { interceptors: [interceptor((name) => asked.push(name))] },
  });
  await threeTurns(engine);
  expect(model.seen).toEqual([1, 3, 5]);
  expect(asked.filter((name) => name === 'QueryWorkflow')).toHaveLength(2);
});

test('where the run cannot be asked, everything is sent once more', promise('G170'), async () => {
  const model = counting();
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    transcriptCacheBytes: 0,
    connection: {
      interceptors: [
        interceptor((name) => {
          if (name === 'QueryWorkflow') throw new Error('no queries today');
        }),
      ],
    },
  });
  const talk = await threeTurns(engine);
  expect(model.seen).toEqual([1, 3, 5]);
  expect((await sent(engine, talk)).map(({ base }) => base)).toEqual([0, 1, 0, 3, 0]);
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});

test('another worker goes on, and after a roll-over only what is new is sent, to a worker that remembers and to one that does not', {
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

test('an agent may have everything sent every time', async () => {
  const model = counting();
  const engine = await startEngine({
    agents: [shop(model, { transcripts: 'full' })],
    services: ledger(),
  });
  const talk = await threeTurns(engine);
  expect((await sent(engine, talk)).map(({ append }) => append.length)).toEqual([1, 3, 5]);
});
