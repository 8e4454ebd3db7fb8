import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { ContextSpec } from '../../../src/define/agent/context.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { fails, says, script, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { Model, ModelRequest } from '../../../src/protocol/model/model.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

/** Every answer takes an eighth of the budget. */
const talker = () => scriptedBy(() => says('word '.repeat(100)));

function talkative(model: Model, context: ContextSpec): Agent {
  return defineAgent({
    name: 'support',
    model,
    instructions: 'Help.',
    context: { maxTokens: 800, ...context },
  });
}

async function says6(engine: Engine, talk: Conversation, from = 0): Promise<void> {
  for (let turn = from; turn < from + 6; turn += 1)
    expect(await engine.say(talk, `message ${turn}`)).toMatchObject({ status: 'completed' });
}

async function summaryIn(engine: Engine, talk: Conversation): Promise<CanonicalEvent> {
  const found = async (): Promise<CanonicalEvent | undefined> =>
    (await engine.log(talk)).find(({ type }) => type === 'summary');
  const event = await until('a summary is in the log', found, {
    holds: (seen) => seen !== undefined,
  });
  if (event === undefined) throw new Error('unreachable');
  return event;
}

const shown = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

test('a long conversation is summarised in the background: no turn waits for the summary, and the model reads it once it exists', {
  ...promise('G175', '2.A.5', '2.H.2'),
}, async () => {
  const summarizer = new HeldModel(script(says('They greeted each other.')));
  summarizer.held = true;
  const model = talker();
  const engine = await startEngine({
    agents: [talkative(model, { summarize: { model: summarizer } })],
  });
  const talk = engine.begin();
  await says6(engine, talk);
  await until('the summary is under way', () => Promise.resolve(summarizer.started), {
    holds: (started) => started === 1,
  });
  // Turns run while the summary is being written.
  expect(await engine.say(talk, 'meanwhile')).toMatchObject({ status: 'completed' });
  expect((await engine.logTypes(talk)).includes('summary')).toBe(false);
  summarizer.release();
  expect(await summaryIn(engine, talk)).toMatchObject({
    ordinal: 1,
    text: 'They greeted each other.',
  });
  await engine.say(talk, 'and now?');
  expect(shown(model.requests.at(-1))).toContain('They greeted each other.');
  expect(shown(model.requests.at(-1))).not.toContain('message 0');
  expect((await engine.snapshot(talk)).context).toMatchObject({ summary: 1 });
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});

test('a roll-over does not wait for a summary: the next run requests it again', {
  ...promise('G177'),
}, async () => {
  const summarizer = new HeldModel(scriptedBy(() => says('Made by the second run.')));
  summarizer.held = true;
  const engine = await startEngine({
    agents: [talkative(talker(), { summarize: { model: summarizer } })],
  });
  const talk = engine.begin();
  await says6(engine, talk);
  await until('the summary is under way', () => Promise.resolve(summarizer.started), {
    holds: (started) => started === 1,
  });
  await engine.signal(talk, 'rollOver');
  const runs = async (): Promise<number> =>
    (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', runs, { holds: (seen) => seen === 2 });
  await until('it is asked for again', () => Promise.resolve(summarizer.started), {
    holds: (started) => started === 2,
  });
  summarizer.release();
  expect(await summaryIn(engine, talk)).toMatchObject({ text: 'Made by the second run.' });
  await engine.say(talk, 'on');
  const summaries = (await engine.log(talk)).filter(({ type }) => type === 'summary');
  expect(summaries).toHaveLength(1);
});

test('a worker that stops while it summarises loses nothing: the next one makes the summary, with an empty cache', {
  ...promise('G177'),
}, async () => {
  const summarizer = new HeldModel(script(says('Made by the second worker.')));
  summarizer.held = true;
  const engine = await startEngine({
    agents: [talkative(talker(), { summarize: { model: summarizer } })],
  });
  const talk = engine.begin();
  await says6(engine, talk);
  await until('the summary is under way', () => Promise.resolve(summarizer.started), {
    holds: (started) => started === 1,
  });
  await engine.stopWorker();
  summarizer.held = false;
  await engine.startWorker();
  expect(await engine.say(talk, 'still there?')).toMatchObject({ status: 'completed' });
  expect(await summaryIn(engine, talk)).toMatchObject({ text: 'Made by the second worker.' });
});

test('a summary made by a later attempt records why the earlier attempts failed', {
  ...promise('G176'),
}, async () => {
  const summarizer = script(fails('model_unavailable'), says('They greeted each other.'));
  const engine = await startEngine({
    agents: [talkative(talker(), { summarize: { model: summarizer } })],
  });
  const talk = engine.begin();
  await says6(engine, talk);
  expect(await summaryIn(engine, talk)).toMatchObject({
    text: 'They greeted each other.',
    failedAttempts: [
      { attempt: 1, code: 'model_unavailable', nextInMs: expect.any(Number) as number },
    ],
  });
});

test('a summary that fails costs no turn: the model is not sent the oldest turns', {
  ...promise('G178'),
}, async () => {
  const summarizer = script(
    ...Array.from({ length: 9 }, () => fails('model_unauthorized', { retryable: false })),
  );
  const model = talker();
  const engine = await startEngine({
    agents: [talkative(model, { summarize: { model: summarizer } })],
  });
  const talk = engine.begin();
  await says6(engine, talk);
  await says6(engine, talk, 6);
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'summary')).toEqual([]);
  expect(log.findLast((event) => event.type === 'model_call')).toMatchObject({
    context: { droppedTurns: expect.any(Number) as number, summaryDue: true },
  });
  // Attempted again after 1, 2 and 4 further turns.
  expect(summarizer.requests.length).toBeLessThanOrEqual(4);
  expect(shown(model.requests.at(-1))).not.toContain('message 0');
});
