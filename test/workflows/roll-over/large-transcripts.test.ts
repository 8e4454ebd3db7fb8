/**
 * Transcripts larger than one payload: a roll-over stores them and the model reads them whole; nothing is lost while
 * the store is down.
 */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import {
  callsAll,
  type ScriptedModel,
  says,
  scriptedBy,
} from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_TRANSCRIPT_BYTES,
} from '../../../src/protocol/limits/limits.js';
import type { BlobStore } from '../../../src/store/ports/blobs.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const CONTEXT = { maxTokens: 4_000_000, summarize: false, retention: 'never_evict' } as const;
/** Close to the size limit of one message. */
const CHARS = 250 * 1024;

function listener(): { readonly model: ScriptedModel; readonly agent: ReturnType<typeof agentOf> } {
  const model = scriptedBy(() => says('I see.'));
  return { model, agent: agentOf(model) };
}

function agentOf(model: ScriptedModel) {
  return defineAgent({ name: 'listener', model, instructions: 'Listen.', context: CONTEXT });
}

async function sayNumbers(
  engine: Engine,
  talk: Conversation,
  from: number,
  to: number,
): Promise<void> {
  for (let number = from; number <= to; number += 1)
    expect(await engine.say(talk, `${number} `.padEnd(CHARS, 'x'))).toMatchObject({
      status: 'completed',
    });
}

/** The first word of each user message in the newest request. */
function heard({ requests }: ScriptedModel): readonly string[] {
  return (requests.at(-1)?.messages ?? []).flatMap(({ role, parts }) => {
    const [part] = parts;
    return role === 'user' && part?.type === 'text' ? [part.text.split(' ', 1)[0] ?? ''] : [];
  });
}

const runsOf = (engine: Engine, talk: Conversation) => (): Promise<readonly string[]> =>
  engine.history.runs(engine.workflowId(talk));

async function rollOver(engine: Engine, talk: Conversation): Promise<void> {
  const before = (await runsOf(engine, talk)()).length;
  await engine.signal(talk, 'rollOver');
  await until('a new run begins', runsOf(engine, talk), {
    holds: ({ length }) => length > before,
  });
}

test('a transcript larger than a payload is stored at a roll-over, and the model reads all of it, also from a worker with an empty cache', {
  ...promise('G184'),
}, async () => {
  const { model, agent } = listener();
  const engine = await startEngine({ agents: [agent], transcriptCacheBytes: 0 });
  const talk = engine.begin();
  await sayNumbers(engine, talk, 1, 5);
  expect(5 * CHARS).toBeGreaterThan(MAX_CARRIED_TRANSCRIPT_BYTES);
  await rollOver(engine, talk);
  await sayNumbers(engine, talk, 6, 6);
  expect(heard(model)).toEqual(['1', '2', '3', '4', '5', '6']);
  // More in total than was ever sent at once.
  await sayNumbers(engine, talk, 7, 9);
  await rollOver(engine, talk);
  await sayNumbers(engine, talk, 10, 10);
  expect(heard(model)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  const log = await engine.log(talk);
  expect(
    log.flatMap((event) => (event.type === 'rolled_over' ? [event.droppedMessages] : [])),
  ).toEqual([0, 0]);
});

test('a closed conversation of several megabytes continues with its whole transcript after a reopening, from the stored chunks', {
  ...promise('G186'),
}, async () => {
  const { model, agent } = listener();
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  const blobs = async () =>
    ((await engine.opened.blobs?.list({ limit: 100 })) ?? []).map(({ ref }) => ref.id).toSorted();
  for (let run = 0; run < 3; run += 1) {
    await sayNumbers(engine, talk, run * 4 + 1, run * 4 + 4);
    await rollOver(engine, talk);
  }
  const stored = await blobs();
  await talk.close();
  // Another worker, with an empty cache.
  await engine.stopWorker();
  await engine.startWorker();
  expect(await engine.say(talk, '13 again', { reopen: true })).toMatchObject({
    status: 'completed',
  });
  expect(heard(model)).toEqual(Array.from({ length: 13 }, (_, index) => `${index + 1}`));
  expect(await blobs()).toEqual(stored);
  const [, again] = (await engine.log(talk)).filter(({ type }) => type === 'conversation_started');
  expect(again).toMatchObject({ reopened: true });
  expect(again).not.toHaveProperty('droppedMessages');
  // The conversation continues from there, run after run.
  await rollOver(engine, talk);
  await sayNumbers(engine, talk, 14, 14);
  expect(heard(model)).toHaveLength(14);
  await talk.close();
  await engine.say(talk, '15 again', { reopen: true });
  expect(heard(model)).toHaveLength(15);
});

test('messages of one run beyond the size of a payload are not sent until they are stored, and the log counts them', {
  ...promise('G184'),
}, async () => {
  const { model, agent } = listener();
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  await sayNumbers(engine, talk, 1, 7);
  expect(7 * CHARS).toBeGreaterThan(MAX_TRANSCRIPT_BYTES);
  // At the sixth message the window moves to the newest half of a payload, and continues from there.
  expect(heard(model)).toEqual(['5', '6', '7']);
  await rollOver(engine, talk);
  await sayNumbers(engine, talk, 8, 8);
  expect(heard(model)).toHaveLength(8);
  const unsent = (await engine.log(talk)).flatMap((event) =>
    event.type === 'model_call' ? [event.context?.unsentMessages ?? 0] : [],
  );
  expect(unsent).toEqual([0, 0, 0, 0, 0, 8, 8, 0]);
});

test('a roll-over that would lose messages while the blob store is down is postponed, and loses none', {
  ...promise('G187'),
}, async () => {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  let isAway = true;
  const blobs = new Proxy(opened.blobs as BlobStore, {
    get: (store, name: keyof BlobStore) =>
      name === 'put' && isAway
        ? () => Promise.reject(new Error('the disk is full'))
        : store[name].bind(store),
  });
  const { model, agent } = listener();
  const engine = await startEngine({ agents: [agent], eventLog: { ...opened, blobs } });
  const talk = engine.begin();
  await sayNumbers(engine, talk, 1, 5);
  await engine.signal(talk, 'rollOver');
  expect(await engine.say(talk, '6 still here')).toMatchObject({ status: 'completed' });
  expect(await runsOf(engine, talk)()).toHaveLength(1);
  expect(heard(model)).toHaveLength(6);
  isAway = false;
  for (let number = 7; (await runsOf(engine, talk)()).length === 1; number += 1) {
    expect(number).toBeLessThan(30);
    await engine.say(talk, `${number} and on`);
  }
  await engine.say(talk, 'last one');
  expect(heard(model).slice(0, 7)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  const log = await engine.log(talk);
  expect(log.find(({ type }) => type === 'rolled_over')).toMatchObject({ droppedMessages: 0 });
});

test('without a store, a running turn too large for a payload is not rolled over; its model call fails with both numbers, and the next turn runs', {
  ...promise('G188'),
}, async () => {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const { blobs: _none, ...eventLog } = opened;
  const bulky = defineTool({
    name: 'bulky',
    description: 'Says much.',
    input: z.object({}),
    maxResultBytes: 200 * 1024,
    run: () => 'y'.repeat(190 * 1024),
  });
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    executor: 'human',
    input: z.object({}),
    output: z.object({ answer: z.string() }),
  });
  const model = scriptedBy(({ messages }) => {
    const [part] = messages.at(-1)?.parts ?? [];
    const isFirst = part?.type === 'text' && part.text === 'begin';
    const all = Array.from({ length: 10 }, () => ({ name: 'bulky', input: {} }));
    return isFirst ? callsAll([...all, { name: 'ask', input: {} }]) : says('Yes.');
  });
  const agent = defineAgent({
    name: 'bulk',
    model,
    instructions: 'x',
    tools: [bulky, ask],
    context: CONTEXT,
  });
  const engine = await startEngine({ agents: [agent], eventLog });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'begin');
  const { pending } = await until('ten results are in', () => engine.snapshot(talk), {
    holds: ({ pending: open, inFlightTools }) => open.length === 1 && inFlightTools.length === 0,
  });
  await engine.signal(talk, 'rollOver');
  await until('it has tried', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) => lines.some((line) => line.includes('flushLog')),
  });
  await talk.resolve(pending[0]?.toolCallId ?? '', { type: 'answer', value: { answer: 'go' } });
  const result = await turn.result({ timeout: '20s' });
  expect(result).toMatchObject({
    status: 'failed',
    error: {
      code: 'model_context_too_long',
      message: expect.stringMatching(
        /have \d+ bytes; at most 1433600 can be sent to a model call, and the others could not be stored/,
      ) as unknown,
    },
  });
  expect(await engine.say(talk, 'and now?')).toMatchObject({ status: 'completed', text: 'Yes.' });
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
