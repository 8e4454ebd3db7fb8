/**
 * A long conversation rolls over many times: its oldest turns are stored once, and every model call reads the whole
 * transcript.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { fromCarryOver } from '../../../src/core/context/carry-over.js';
import { chunkIdsIn } from '../../../src/core/context/offloaded.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import {
  callsAll,
  type ScriptedModel,
  says,
  scriptedBy,
} from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import {
  CARRIED_VERSION,
  type OffloadTranscriptInput,
} from '../../../src/protocol/conversation/offloaded-messages.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import { type ConversationInput, WORKFLOW_TYPE } from '../../../src/protocol/workflow/messaging.js';
import type { BlobStore } from '../../../src/store/ports/blobs.js';
import { ledger, type Services, TOOLS } from '../../support/engine/agents.js';
import { type Engine, type EngineOptions, startEngine } from '../../support/engine/engine.js';
import type { HistoryEvent } from '../../support/engine/history.js';
import { HeldModel } from '../../support/engine/models.js';
import { replays } from '../../support/engine/replays.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

/** Two turns of ten such results exceed the transcript that a roll-over carries whole. */
const RESULT_BYTES = 3_600;

/** Runs ten tools at once for each message, then answers. */
function tenTools(): ScriptedModel {
  return scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? callsAll(Array.from({ length: 10 }, () => ({ name: 'stock', input: { item: 'tea' } })))
      : says('There is some.'),
  );
}

function clerk(model: ScriptedModel): Agent<Services> {
  return defineAgent<Services>({
    name: 'clerk',
    model,
    instructions: 'Look it up.',
    tools: TOOLS,
    context: { maxTokens: 2_000_000, summarize: false, retention: 'never_evict' },
  });
}

async function anEngine(
  model: ScriptedModel,
  options: Partial<EngineOptions<Services>> = {},
): Promise<Engine> {
  return await startEngine({
    agents: [clerk(model)],
    services: ledger({ stock: () => 'x'.repeat(RESULT_BYTES) }),
    // Without compression the size of the history shows how much was sent.
    compression: false,
    ...options,
  });
}

const keyOf = (talk: Pick<Conversation, 'id'>): ConversationKey => ({
  tenant: 'default',
  conversationId: talk.id,
});

async function rollOver(engine: Engine, talk: Conversation): Promise<void> {
  const { runId } = await engine.history.describe(engine.workflowId(talk));
  await engine.signal(talk, 'rollOver');
  const current = async () => (await engine.history.describe(engine.workflowId(talk))).runId;
  await until('a new run begins', current, { holds: (id) => id !== runId });
}

async function turns(engine: Engine, talk: Conversation, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1)
    expect(await engine.say(talk, 'how much?')).toMatchObject({ status: 'completed' });
}

async function runsOf(engine: Engine, talk: Conversation): Promise<(readonly HistoryEvent[])[]> {
  const id = engine.workflowId(talk);
  const runs = await engine.history.runs(id);
  return await Promise.all(runs.map((run) => engine.history.events(id, run)));
}

async function sizesOf(engine: Engine, talk: Conversation): Promise<readonly number[]> {
  const id = engine.workflowId(talk);
  const runs = await engine.history.runs(id);
  const described = await Promise.all(runs.map((run) => engine.history.describe(id, run)));
  return described.map(({ historySize = 0 }) => historySize);
}

function inputOf(events: readonly HistoryEvent[]): ConversationInput {
  const payload = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  if (payload === undefined) throw new Error('the run has no input');
  return defaultPayloadConverter.fromPayload<ConversationInput>(payload);
}

/** Ids of the chunks that a run begins with. */
function chunkIdsOf(input: ConversationInput | undefined): readonly string[] {
  const carried = input?.carried;
  return carried === undefined ? [] : [...chunkIdsIn(fromCarryOver(carried).transcript)];
}

function offloadsIn(events: readonly HistoryEvent[]): readonly OffloadTranscriptInput[] {
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const [payload] = scheduled?.input?.payloads ?? [];
    return scheduled?.activityType?.name === 'offloadTranscript' && payload
      ? [defaultPayloadConverter.fromPayload<OffloadTranscriptInput>(payload)]
      : [];
  });
}

async function chunksOf(blobs: BlobStore | undefined): Promise<readonly string[]> {
  const found = (await blobs?.list({ limit: 100 })) ?? [];
  return found.map(({ ref }) => ref.id);
}

test('every run costs the same history, however long the conversation is; nothing is stored twice, and the model reads the whole transcript', {
  ...promise('G179', 'G252'),
}, async () => {
  const model = tenTools();
  const engine = await anEngine(model);
  const talk = engine.begin();
  for (let run = 0; run < 3; run += 1) {
    await turns(engine, talk, 2);
    await rollOver(engine, talk);
  }
  await turns(engine, talk, 1);
  const runs = await runsOf(engine, talk);
  expect(runs).toHaveLength(4);
  for (const input of runs.slice(1).map(inputOf)) {
    expect(input.carried?.version).toBe(CARRIED_VERSION);
    expect(chunkIdsOf(input).length).toBeGreaterThan(0);
    expect(JSON.stringify(input.carried).length).toBeLessThan(40_000);
  }
  const [, second = 0, third = 0] = await sizesOf(engine, talk);
  expect(second).toBeGreaterThan(20 * RESULT_BYTES);
  // Only the memory of ended calls grows, up to a thousand of them.
  expect(Math.abs(third - second)).toBeLessThan(0.1 * second);
  const stored = runs.flatMap(offloadsIn).map(({ messages }) => messages);
  for (const [index, { from }] of stored.entries())
    expect(from).toBe(index === 0 ? 0 : stored[index - 1]?.to);
  const seen = model.requests.at(-1)?.messages ?? [];
  // Seven turns of question, calls, results and answer; the last has no answer yet.
  expect(seen).toHaveLength(27);
  expect(JSON.stringify(seen).length).toBeGreaterThan(70 * RESULT_BYTES);
  expect((await chunksOf(engine.opened.blobs)).length).toBeGreaterThan(1);
  // The log has an event for each offload, before the roll-over that it belongs to.
  const types = (await engine.logTypes(talk)).filter((type) =>
    ['transcript_offloaded', 'rolled_over'].includes(type),
  );
  expect(types).toEqual([1, 2, 3].flatMap(() => ['transcript_offloaded', 'rolled_over']));
  await replays(engine, talk);

  await engine.client.deleteConversation(talk.id);
  expect(await chunksOf(engine.opened.blobs)).toEqual([]);
});

test('the model gets the whole transcript from a worker with an empty cache, after the loss of the blobs, and in a reopened conversation', {
  ...promise('G183'),
}, async () => {
  const model = tenTools();
  const engine = await anEngine(model, { transcriptCacheBytes: 0 });
  const { talk } = await engine.ask('how much?');
  await turns(engine, talk, 2);
  await rollOver(engine, talk);
  await turns(engine, talk, 1);
  expect(model.requests.at(-1)?.messages).toHaveLength(15);
  // Waits until the log is complete.
  await engine.log(talk);
  await engine.stopWorker();
  expect(await engine.opened.blobs?.delete(keyOf(talk))).toBeGreaterThan(0);
  await engine.startWorker();
  await turns(engine, talk, 1);
  expect(model.requests.at(-1)?.messages).toHaveLength(19);
  expect(JSON.stringify(model.requests.at(-1)).length).toBeGreaterThan(40 * RESULT_BYTES);
  expect(await chunksOf(engine.opened.blobs)).not.toEqual([]);
  await replays(engine, talk);

  await talk.close();
  expect(await engine.say(talk, 'how much?', { reopen: true })).toMatchObject({
    status: 'completed',
  });
  expect(model.requests.at(-1)?.messages).toHaveLength(23);
});

test('without a blob store, or while it is down, a roll-over carries the whole transcript', {
  ...promise('G194'),
}, async () => {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const { blobs, ...others } = opened;
  let isAway = false;
  const away = new Proxy(blobs as BlobStore, {
    get: (store, name: keyof BlobStore) =>
      name === 'put' && isAway
        ? () => Promise.reject(new Error('the disk is full'))
        : store[name].bind(store),
  });
  for (const eventLog of [others, { ...others, blobs: away }]) {
    isAway = true;
    const model = tenTools();
    const engine = await anEngine(model, { eventLog });
    const { talk } = await engine.ask('how much?');
    await turns(engine, talk, 2);
    await rollOver(engine, talk);
    await turns(engine, talk, 1);
    const [, second = []] = await runsOf(engine, talk);
    expect(chunkIdsOf(inputOf(second))).toEqual([]);
    expect(model.requests.at(-1)?.messages).toHaveLength(15);
    expect(await chunksOf(blobs)).toEqual([]);
    isAway = false;
    if (!('blobs' in eventLog)) continue;
    // The store is back, and the next roll-over stores the accumulated turns.
    await rollOver(engine, talk);
    await turns(engine, talk, 1);
    expect(model.requests.at(-1)?.messages).toHaveLength(19);
    expect(await chunksOf(blobs)).not.toEqual([]);
  }
});

test('a chunk that was stored without acknowledgement is found by the next roll-over and removed', {
  ...promise('G181'),
}, async () => {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const { blobs } = opened;
  let isLost = true;
  const losing = new Proxy(blobs as BlobStore, {
    get: (store, name: keyof BlobStore) =>
      name === 'put' && isLost
        ? async (...args: Parameters<BlobStore['put']>) => {
            await store.put(...args);
            throw new Error('the answer is lost');
          }
        : store[name].bind(store),
  });
  const model = tenTools();
  const engine = await anEngine(model, { eventLog: { ...opened, blobs: losing } });
  const { talk } = await engine.ask('how much?');
  await turns(engine, talk, 2);
  await rollOver(engine, talk);
  const [left] = await chunksOf(blobs);
  expect(left).toBeDefined();
  isLost = false;
  await turns(engine, talk, 2);
  await rollOver(engine, talk);
  const [, second, third] = (await runsOf(engine, talk)).map(inputOf);
  expect(second?.carried).toMatchObject({ unacknowledged: [expect.anything()] });
  expect(chunkIdsOf(second)).toEqual([]);
  expect(third?.carried).not.toHaveProperty('unacknowledged');
  const used = chunkIdsOf(third);
  expect(used).not.toContain(left);
  expect([...(await chunksOf(blobs))].sort()).toEqual([...used].sort());
  await turns(engine, talk, 1);
  expect(model.requests.at(-1)?.messages).toHaveLength(23);
  await replays(engine, talk);
});

test('a summary replaces stored turns, and chunks without a reference are removed', {
  ...promise('G182'),
}, async () => {
  const summarizer = new HeldModel(scriptedBy(() => says('They counted words.')));
  summarizer.held = true;
  const model = scriptedBy(() => says('word '.repeat(100)));
  const agent = defineAgent({
    name: 'talker',
    model,
    instructions: 'Talk.',
    context: { maxTokens: 800, summarize: { model: summarizer } },
  });
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  const input: ConversationInput = {
    ...keyOf(talk),
    agent: agent.name,
    settings: agent.settings,
    offload: { fromBytes: 600, keepBytes: 300, chunkBytes: 1_500 },
  };
  const { taskQueue, temporal } = engine;
  const workflowId = engine.workflowId(talk);
  await temporal.workflow.start(WORKFLOW_TYPE, { workflowId, taskQueue, args: [input] });
  await turns(engine, talk, 6);
  await rollOver(engine, talk);
  const before = await chunksOf(engine.opened.blobs);
  expect(before.length).toBeGreaterThan(1);
  summarizer.release();
  await until('stored turns are summarised', () => engine.logTypes(talk), {
    holds: (types) => types.includes('summary'),
  });
  await turns(engine, talk, 1);
  const read = JSON.stringify(model.requests.at(-1)?.messages);
  expect(read).toContain('They counted words.');
  await rollOver(engine, talk);
  await turns(engine, talk, 1);
  await rollOver(engine, talk);
  await turns(engine, talk, 1);
  const last = (await runsOf(engine, talk)).map(inputOf).at(-1);
  const used = chunkIdsOf(last);
  expect(last?.carried?.state).toMatchObject({
    transcript: expect.arrayContaining([expect.objectContaining({ summary: 1 })]) as unknown,
  });
  const left = await chunksOf(engine.opened.blobs);
  expect(left.toSorted()).toEqual([...new Set(used)].toSorted());
  expect(before.filter((id) => !left.includes(id))).not.toEqual([]);
  await replays(engine, talk);
});
