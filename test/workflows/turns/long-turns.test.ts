/**
 * One turn with megabytes of results: its finished steps are stored while it runs, and every model call reads all of
 * them.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import {
  callsAll,
  type ScriptedModel,
  says,
  scriptedBy,
} from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { MAX_TRANSCRIPT_BYTES } from '../../../src/protocol/limits/limits.js';
import type { BlobStore } from '../../../src/store/ports/blobs.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { lineOf } from '../../support/engine/history.js';
import { HeldModel } from '../../support/engine/models.js';
import { replays } from '../../support/engine/replays.js';
import { dig, KB } from '../../support/histories/digging.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

interface Dig {
  readonly steps: number;
  /** The number of calls in each step. */
  readonly calls: number;
  readonly bytes: number;
}

/**
 * Answers the first message with `steps` steps of digging and each later one with a single step, then says how many
 * results it has read.
 */
function digger({ steps, calls, bytes }: Dig): ScriptedModel {
  return scriptedBy(({ messages }) => {
    const from = messages.findLastIndex(({ role }) => role === 'user');
    const step = messages.slice(from).filter(({ role }) => role === 'assistant').length + 1;
    const isFirst = messages.findIndex(({ role }) => role === 'user') === from;
    if (step > (isFirst ? steps : 1)) return says(`read ${resultsIn(messages).length}`);
    const all = Array.from({ length: calls }, (_, call) => ({ at: `${step}.${call}`, bytes }));
    return callsAll(all.map((input) => ({ name: 'dig', input })));
  });
}

/** The first word of each result in the messages. */
function resultsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? message.parts.map(({ envelope }) =>
          envelope.ok
            ? (JSON.stringify(envelope.result).slice(1).split(':', 1)[0] ?? '')
            : envelope.error.code,
        )
      : [],
  );
}

function agentOf(model: Agent['model'], maxSteps = 100): Agent {
  return defineAgent({
    name: 'digger',
    model,
    instructions: 'Dig.',
    tools: [dig],
    settings: { maxSteps },
    context: { maxTokens: 8_000_000, summarize: false, retention: 'never_evict' },
  });
}

/** The expected results, in call order. */
function expected({ steps, calls }: Dig): readonly string[] {
  return Array.from({ length: steps }, (_, step) =>
    Array.from({ length: calls }, (_call, call) => `${step + 1}.${call}`),
  ).flat();
}

function given(model: ScriptedModel, nth = -1): readonly string[] {
  return resultsIn(model.requests.at(nth)?.messages ?? []);
}

async function rollOvers(engine: Engine, talk: Conversation) {
  return (await engine.log(talk)).flatMap((event) =>
    event.type === 'rolled_over' ? [{ reason: event.reason, dropped: event.droppedMessages }] : [],
  );
}

test('a turn of sixty results of 56 KB continues over as many roll-overs as necessary, and the model reads all of them in order', {
  ...promise('G189'),
}, async () => {
  const job = { steps: 60, calls: 1, bytes: 56 * KB };
  // Even where the store is slow, one roll-over is not enough.
  expect(job.steps * job.bytes).toBeGreaterThan(2.2 * MAX_TRANSCRIPT_BYTES);
  const model = digger(job);
  const engine = await startEngine({ agents: [agentOf(model)] });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'dig');
  expect(await turn.result({ timeout: '50s' })).toMatchObject({
    status: 'completed',
    text: 'read 60',
  });
  expect(given(model)).toEqual(expected(job));
  const rolled = await rollOvers(engine, talk);
  expect(rolled.length).toBeGreaterThan(1);
  expect(rolled.map(({ dropped }) => dropped)).toEqual(rolled.map(() => 0));
  expect(rolled.map(({ reason }) => reason)).toContain('turn_size');
  // The next turn has all of them, and so has the one after the conversation was closed and reopened.
  const whole = given(model);
  expect(await engine.say(talk, 'dig on')).toMatchObject({ status: 'completed', text: 'read 61' });
  expect(given(model).slice(0, 60)).toEqual(whole);
  await talk.close();
  expect(await engine.say(talk, 'and on', { reopen: true })).toMatchObject({
    status: 'completed',
    text: 'read 62',
  });
  await replays(engine, talk);
});

test('one step of nine results of nearly maximal size is read whole by workers with empty caches, also after the loss of its blobs', {
  ...promise('G189'),
}, async () => {
  const job = { steps: 2, calls: 9, bytes: 190 * KB };
  expect(job.calls * job.bytes).toBeGreaterThan(1.1 * MAX_TRANSCRIPT_BYTES);
  const model = digger(job);
  const held = new HeldModel(model);
  const engine = await startEngine({ agents: [agentOf(held)], transcriptCacheBytes: 0 });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'dig');
  await until(
    'it has read the first step',
    () => model.requests.length === 2 && (held.held = true),
  );
  await until('it is asked again', () => held.started === 3);
  expect(given(model)).toEqual(expected({ ...job, steps: 1 }));
  const key = { tenant: 'default', conversationId: talk.id };
  expect(await engine.opened.blobs?.delete(key)).toBeGreaterThan(0);
  await engine.stopWorker();
  await engine.startWorker();
  held.release();
  expect(await turn.result({ timeout: '30s' })).toMatchObject({
    status: 'completed',
    text: 'read 18',
  });
  expect(given(model)).toEqual(expected(job));
  await replays(engine, talk);
});

/** An engine whose blob store fails while it is away: it stores nothing, or stores the chunk and fails nevertheless. */
async function withStoreAway(model: Agent['model']) {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const away = { is: true, loses: false };
  const blobs = new Proxy(opened.blobs as BlobStore, {
    get: (store, name: keyof BlobStore) =>
      name === 'put' && away.is
        ? async (...args: Parameters<BlobStore['put']>) => {
            if (away.loses) await store.put(...args);
            throw new Error('the disk is full');
          }
        : store[name].bind(store),
  });
  const engine = await startEngine({ agents: [agentOf(model)], eventLog: { ...opened, blobs } });
  return { engine, away };
}

const waitsForStore = (engine: Engine, talk: Conversation) =>
  until('it waits for the store', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) => {
      const tried = lines.findIndex((line) => line.includes('offloadTranscript'));
      return tried >= 0 && lines.lastIndexOf('TimerStarted') > tried;
    },
  });

/** The pauses between the attempts to store, in order. */
async function pausesOf(engine: Engine, talk: Conversation): Promise<readonly string[]> {
  const events = await engine.history.events(engine.workflowId(talk));
  const tried = events.findIndex((event) => lineOf(event).includes('offloadTranscript'));
  return events.slice(tried).flatMap(({ timerStartedEventAttributes }) => {
    const { seconds } = timerStartedEventAttributes?.startToFireTimeout ?? {};
    // Other timers run for days.
    return seconds == null || Number(seconds) > 600 ? [] : [`${Number(seconds)}s`];
  });
}

test.each([
  ['takes nothing', false],
  ['takes everything and does not say so', true],
])(
  'a turn that cannot continue while the store %s waits, and then continues',
  promise('G191'),
  async (_how, loses) => {
    const job = { steps: 2, calls: 9, bytes: 190 * KB };
    const model = digger(job);
    const { engine, away } = await withStoreAway(model);
    away.loses = loses;
    const talk = engine.begin();
    const turn = await engine.send(talk, 'dig');
    await waitsForStore(engine, talk);
    expect(model.requests).toHaveLength(1);
    away.is = false;
    expect(await turn.result({ timeout: '30s' })).toMatchObject({
      status: 'completed',
      text: 'read 18',
    });
    expect(given(model)).toEqual(expected(job));
    await replays(engine, talk);
  },
);

test('a turn that waits for the store is cancelled at once, and the next one runs', {
  ...promise('G191'),
}, async () => {
  const model = digger({ steps: 1, calls: 9, bytes: 190 * KB });
  const { engine } = await withStoreAway(model);
  const talk = engine.begin();
  const turn = await engine.send(talk, 'dig');
  await waitsForStore(engine, talk);
  await talk.cancel();
  expect(await turn.result({ timeout: '5s' })).toMatchObject({ status: 'cancelled' });
  const next = await engine.send(talk, 'and now?');
  await until('the next turn has its model call', () => model.requests.length === 2);
  // The next turn starts again with the shortest pause.
  const pauses = await until('the next waits, too', () => pausesOf(engine, talk), {
    holds: (found) => found.length > 1,
  });
  expect(pauses.slice(0, 2)).toEqual(['1s', '1s']);
  await talk.cancel();
  expect(await next.result()).toMatchObject({ turnId: next.turnId });
});
