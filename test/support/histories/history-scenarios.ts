/**
 * The scenarios of the conversations that are recorded as histories, and those of tools that ask and tools that run
 * inline.
 */
import { expect } from 'vitest';
import type { ContextSpec } from '../../../src/define/agent/context.js';
import type { AgentSettingsSpec } from '../../../src/define/agent/settings.js';
import type { Agent } from '../../../src/define/define-agent.js';
import {
  calls,
  callsAll,
  fails,
  hangs,
  type ScriptedModel,
  says,
  script,
  scriptedBy,
} from '../../../src/model/scripted/scripted.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { EventType } from '../../../src/protocol/log/events.js';
import type { Model } from '../../../src/protocol/model/model.js';
import type { Services } from '../engine/agents.js';
import type { Engine } from '../engine/engine.js';
import type { HeldModel } from '../engine/models.js';
import { claimLostAndClaimedAgain } from '../schedules/claim-scenario.js';
import { until } from '../until.js';

const REFUND = { paymentId: 'p1', cents: 900 };
/** Compresses its payloads, and those that carry it over. */
const LONG = 'A long story. '.repeat(1_000);

export type Talk = ReturnType<Engine['begin']>;

export interface Scenario {
  readonly name: string;
  readonly model: () => ScriptedModel;
  readonly settings?: AgentSettingsSpec;
  readonly context?: ContextSpec;
  /** In place of the shop. */
  readonly agent?: (model: Model) => Agent<Services>;
  /** The model's text before the model is held, at the first message. */
  readonly heldAt?: string;
  /** The first message leaves the conversation at work: the event after which the scenario continues. */
  readonly runsOn?: EventType;
  /** Continues from where the first message left the conversation. */
  readonly play?: (engine: Engine, talk: Talk, model: HeldModel) => Promise<unknown>;
}

export async function rollOver(engine: Engine, talk: Talk, runs: number): Promise<void> {
  await engine.signal(talk, 'rollOver');
  const count = async (): Promise<number> =>
    (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', count, { holds: (seen) => seen === runs });
}

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

export const SCENARIOS_OF_TOOLS: readonly Scenario[] = [
  {
    name: 'a-browser-call-claimed-lost-and-claimed-again',
    model: () => script(calls('cart.count', {}), says('done'), calls('cart.count', {})),
    play: (engine, talk) => claimLostAndClaimedAgain(engine, talk, rollOver),
  },
  {
    name: 'summarised-over-roll-overs',
    model: talksAndSummarizes,
    context: { maxTokens: 2_400 },
    play: summarizedOverRollOvers,
  },
  {
    name: 'oldest-turns-stored-over-roll-overs',
    model: () =>
      scriptedBy(({ messages }) =>
        says('word '.repeat(JSON.stringify(messages.at(-1)).includes('in short') ? 3 : 30_000)),
      ),
    context: { maxTokens: 1_000_000, summarize: false },
    play: storedOverRollOvers,
  },
  {
    name: 'finished-steps-stored-while-their-turn-runs',
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
    name: 'remembered-over-roll-overs',
    model: () => scriptedBy(({ messages }) => asksOncePerMessage(messages.at(-1))),
    play: rememberedOverRollOvers,
  },
  {
    name: 'asked-in-mid-run-over-roll-overs',
    model: () => script(calls('orders.place', { item: 'tea' }), says('ordered')),
    play: async (engine, talk) => {
      await rollOver(engine, talk, 2);
      for (const value of [{ city: 'Oslo', zip: 'x' }, { city: 'Oslo', zip: '0150' }, true]) {
        const [question] = (await engine.snapshot(talk)).pending;
        const argsDigest = question?.argsDigest ?? '';
        await talk.resolve('call_1', { type: 'answer', value }, { argsDigest });
        if (value !== true) await engine.reaches(talk, 'awaiting_input');
      }
      await engine.idle(talk);
    },
  },
  {
    name: 'long-messages-compressed',
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
  {
    name: 'attempts-that-came-to-nothing',
    model: () =>
      script(
        ...[says(''), says('here'), says('')],
        fails('model_content_filtered', { retryable: false }),
        says('and on'),
      ),
    play: async (engine, talk) => {
      expect(await engine.say(talk, 'again')).toMatchObject({ status: 'failed' });
      const taken = (await engine.log(talk)).filter(({ type }) => type === 'model_call');
      expect(taken).toMatchObject([
        { attempt: 2, earlierUsage: { inputTokens: 10, outputTokens: 5 } },
        {
          ...{ attempt: 2, finishReason: 'failed', usage: { inputTokens: 10, outputTokens: 5 } },
          failedAttempts: [{ code: 'model_empty_answer' }, { code: 'model_content_filtered' }],
        },
      ]);
      await rollOver(engine, talk, 2);
      await engine.say(talk, 'and on');
      await engine.idle(talk);
    },
  },
  {
    name: 'inline-tools',
    model: () =>
      script(
        callsAll([
          { name: 'clock.read', input: {} },
          { name: 'clock.gated', input: {} },
          { name: 'clock.read', input: {} },
        ]),
        says('noon'),
        calls('clock.read', {}),
        says('still noon'),
      ),
    play: async (engine, talk) => {
      await talk.resolve('call_2', { type: 'approve' });
      await engine.idle(talk);
      await engine.say(talk, 'and now?');
      await engine.idle(talk);
    },
  },
  {
    name: 'edited-and-remembered-approvals',
    model: () =>
      script(
        calls('payments.refund', REFUND),
        says('one'),
        calls('payments.refund', REFUND),
        says('two'),
        calls('payments.refund', REFUND),
        says('three'),
      ),
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'approve', input: { ...REFUND, cents: 5 } });
      await engine.idle(talk);
      await engine.say(talk, 'again');
      const [second] = await talk.pending();
      const remember = { for: 'conversation' } as const;
      await talk.resolve(second?.toolCallId ?? '', { type: 'approve', remember });
      await engine.idle(talk);
      await engine.say(talk, 'once more');
      await engine.idle(talk);
    },
  },
];
