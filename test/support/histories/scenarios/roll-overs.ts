/** Conversations that roll over: with long transcripts, summaries, requests that are repeated, and compressed payloads. */
import { expect } from 'vitest';
import {
  calls,
  callsAll,
  hangs,
  type ScriptedModel,
  says,
  script,
  scriptedBy,
} from '../../../../src/model/scripted/scripted.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { Engine } from '../../engine/engine.js';
import { until } from '../../until.js';
import { rollOver, type Scenario, type Talk } from './scenario.js';

/** Compresses its payloads, and those that carry it over. */
const LONG = 'A long story. '.repeat(1_000);

/** Sends long texts. The first summary that is requested hangs. */
function talksAndSummarizes(): ScriptedModel {
  let asked = 0;
  return scriptedBy(({ tools }) => {
    if (tools.length > 0) return says('word '.repeat(450));
    asked += 1;
    return asked === 1 ? hangs() : says('They spoke of words.');
  });
}

/** Two roll-overs offload turns, the one between them carries the references. */
async function storedOverRollOvers(engine: Engine, talk: Talk): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await engine.say(talk, `message ${turn}`);
  await rollOver(engine, talk, 2);
  await engine.say(talk, 'in short');
  await rollOver(engine, talk, 3);
  await engine.say(talk, 'and on');
  await rollOver(engine, talk, 4);
  await engine.say(talk, 'and on');
  await engine.idle(talk);
}

/** A roll-over cancels the summary in progress; the next run has it made, and carries it over the next roll-over. */
async function summarizedOverRollOvers(engine: Engine, talk: Talk): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await engine.say(talk, `message ${turn}`);
  await rollOver(engine, talk, 2);
  await until('it is summarised', () => engine.logTypes(talk), {
    holds: (types) => types.includes('summary'),
  });
  await engine.say(talk, 'and on');
  await rollOver(engine, talk, 3);
  await engine.say(talk, 'and on');
  await engine.idle(talk);
}

/** Uses an id that the call before it has had, too. */
function asksOncePerMessage(last: Message | undefined): ReturnType<typeof says> {
  return last?.role === 'user'
    ? calls('customer.ask', { question: 'A?' }, { id: 'call_1' })
    : says('thanks');
}

/** Each run gets the requests and calls of the runs before it. */
async function rememberedOverRollOvers(engine: Engine, talk: Talk): Promise<void> {
  const resolution = { type: 'answer', value: { answer: 'tea' } } as const;
  for (let run = 2; run <= 4; run += 1) {
    const { pending } = await engine.snapshot(talk);
    const toolCallId = pending[0]?.toolCallId ?? '';
    const replyTo = async (requestId: string): Promise<string> =>
      (await talk.resolve(toolCallId, resolution, { requestId })).verdict;
    expect(await replyTo('once')).toBe('accepted');
    await engine.idle(talk);
    await rollOver(engine, talk, run);
    expect(await replyTo('once')).toBe('duplicate');
    expect(await replyTo('twice')).toBe('stale');
    await engine.say(talk, 'and on');
    await engine.reaches(talk, 'awaiting_input');
  }
}

export const SCENARIOS_OF_ROLL_OVERS: readonly Scenario[] = [
  {
    name: 'summarised-over-roll-overs',
    runs: 3,
    model: talksAndSummarizes,
    context: { maxTokens: 2_400 },
    play: summarizedOverRollOvers,
  },
  {
    name: 'turns-offloaded-over-roll-overs',
    runs: 4,
    model: () =>
      scriptedBy(({ messages }) =>
        says('word '.repeat(JSON.stringify(messages.at(-1)).includes('in short') ? 3 : 30_000)),
      ),
    context: { maxTokens: 1_000_000, summarize: false },
    play: storedOverRollOvers,
  },
  {
    name: 'steps-offloaded-while-their-turn-runs',
    runs: 4,
    // The second step takes the turn over the size that can be sent, the third over the size that is stored in good
    // time.
    model: () =>
      script(
        ...[120_000, 200_000, 150_000].map((words) =>
          callsAll([{ name: 'weather.lookup', input: {} }], 'word '.repeat(words)),
        ),
        calls('customer.ask', { question: 'A?' }),
        says('done'),
        says('and on'),
      ),
    context: { maxTokens: 2_000_000, summarize: false },
    play: async (engine, talk) => {
      await rollOver(engine, talk, 4);
      const [question] = (await engine.snapshot(talk)).pending;
      const answer = { type: 'answer', value: { answer: 'yes' } } as const;
      await talk.resolve(question?.toolCallId ?? '', answer);
      await engine.idle(talk);
      await engine.say(talk, 'and now?');
      const rolled = (await engine.log(talk)).filter(({ type }) => type === 'rolled_over');
      expect(rolled).toMatchObject([
        { reason: 'turn_size', droppedMessages: 0 },
        { reason: 'turn_size', droppedMessages: 0 },
        { reason: 'requested', droppedMessages: 0 },
      ]);
    },
  },
  {
    name: 'duplicates-over-roll-overs',
    runs: 4,
    model: () => scriptedBy(({ messages }) => asksOncePerMessage(messages.at(-1))),
    play: rememberedOverRollOvers,
  },
  {
    name: 'long-messages-compressed',
    runs: 2,
    model: () =>
      script(calls('customer.ask', { question: 'A?' }), says('A long answer.'), says('ok')),
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'answer', value: { answer: LONG } });
      await engine.idle(talk);
      await rollOver(engine, talk, 2);
      await engine.say(talk, LONG);
      await engine.idle(talk);
    },
  },
];
