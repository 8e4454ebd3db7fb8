/** Conversations with turns of each kind and end, and with signals that are not valid. */
import { expect } from 'vitest';
import {
  calls,
  callsAll,
  fails,
  ScriptedModel,
  says,
  saysAfter,
  script,
} from '../../../../src/model/scripted/scripted.js';
import { until } from '../../until.js';
import { ended, rollOver, type Scenario, startNextRun } from './scenario.js';

const REFUND = { paymentId: 'p1', cents: 900 };
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

export const SCENARIOS_OF_TURNS: readonly Scenario[] = [
  {
    name: 'turns-with-tools-and-answers',
    model: () =>
      script(
        callsAll([
          { name: 'weather.lookup', input: {} },
          { name: 'payments.refund', input: REFUND },
          { name: 'customer.ask', input: { question: 'A?' } },
          { name: 'cart.count', input: {} },
          { name: 'teleport', input: {} },
        ]),
        says('done'),
        fails('model_bad_request'),
        says('and on'),
      ),
    play: async (engine, talk) => {
      await talk.resolve('call_2', { type: 'approve' });
      await talk.resolve('call_3', YES);
      await talk.resolve('call_4', { type: 'error', message: 'no cart' });
      await engine.idle(talk);
      await engine.say(talk, 'fails');
      await engine.say(talk, 'works');
    },
  },
  {
    name: 'rolled-over-with-calls-open',
    runs: 2,
    model: () =>
      script(
        callsAll([
          { name: 'payments.refund', input: REFUND },
          { name: 'customer.ask', input: { question: 'A?' } },
        ]),
        says('done'),
      ),
    play: async (engine, talk) => {
      await startNextRun(engine, talk, 2);
      await talk.resolve('call_1', { type: 'deny' });
      await talk.resolve('call_2', YES);
      await engine.idle(talk);
    },
  },
  {
    name: 'cancelled-while-the-model-answers',
    model: () => script(says('more')),
    heldAt: 'Half a sen',
    play: async (engine, talk, model) => {
      await talk.cancel();
      await engine.idle(talk);
      model.release();
      await engine.say(talk, 'go on');
    },
  },
  {
    name: 'cancelled-in-the-temporal-ui',
    model: () => script(calls('customer.ask', { question: 'A?' })),
    play: async (engine, talk) => {
      await engine.handle(talk).cancel();
      await ended(engine, talk);
    },
  },
  {
    name: 'closed',
    model: () => script(calls('customer.ask', { question: 'A?' })),
    play: async (engine, talk) => {
      await talk.close();
      await ended(engine, talk);
    },
  },
  {
    name: 'reopened',
    model: () => script(calls('customer.ask', { question: 'A?' }), says('and on'), says('done')),
    play: async (engine, talk) => {
      await talk.close();
      await ended(engine, talk);
      const options = { reopen: true, onBusy: 'queue' } as const;
      await Promise.all(['one', 'two'].map((text) => engine.send(talk, text, options)));
      await engine.idle(talk);
    },
  },
  {
    name: 'steered-and-interrupted',
    model: () => script(calls('customer.ask', { question: 'A?' }), says('both'), says('last')),
    settings: { whileWaiting: 'block' },
    play: async (engine, talk, model) => {
      await engine.send(talk, 'and this', { onBusy: 'steer' });
      await talk.resolve('call_1', YES);
      await engine.idle(talk);
      model.held = true;
      await engine.send(talk, 'more');
      await until('the model answers', () => model.started === 3);
      model.held = false;
      await engine.send(talk, 'no, this', { onBusy: 'interrupt' });
      await engine.idle(talk);
    },
  },
  {
    name: 'a-question-in-the-background',
    runs: 2,
    model: () =>
      script(calls('customer.ask', { question: 'A?' }), says('meanwhile'), says('thank you')),
    settings: { whileWaiting: 'detach' },
    play: async (engine, talk) => {
      await engine.say(talk, 'by the way');
      await engine.idle(talk);
      await rollOver(engine, talk, 2);
      await talk.resolve('call_1', YES);
      await until('the answer was read', async () => (await engine.log(talk)).at(-1)?.type, {
        holds: (type) => type === 'turn_ended',
      });
      await engine.idle(talk);
    },
  },
  {
    name: 'sequential-calls-within-budgets',
    model: () =>
      script(
        callsAll([
          { name: 'payments.refund', input: REFUND },
          { name: 'stock', input: { item: 'tea' } },
          { name: 'stock', input: { item: 'tea' } },
        ]),
        says('done'),
      ),
    settings: {
      toolExecution: 'sequential',
      repeatLimit: 2,
      budgets: { time: '1 day', tokens: 9_000 },
    },
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'approve' });
      await engine.idle(talk);
    },
  },
  {
    name: 'calls-that-the-provider-ran',
    model: () =>
      script(
        saysAfter({ name: 'web.search', input: { query: 'rain' }, output: 'yes' }, 'It rains.'),
        {
          type: 'answer',
          providerCalls: [{ name: 'web.search', input: { query: 'snow' }, error: 'no network' }],
          calls: [{ name: 'stock', input: { item: 'umbrella' } }],
        },
        says('One is left.'),
      ),
    play: async (engine, talk) => {
      await engine.idle(talk);
      await engine.say(talk, 'An umbrella, then');
      await engine.idle(talk);
      const log = await engine.log(talk);
      const shown = log.filter((event) => event.type === 'tool_call' && event.executed === true);
      expect(shown).toMatchObject([
        { call: { toolCallId: 'hosted_1', executor: 'provider' } },
        { call: { toolCallId: 'hosted_2', executor: 'provider' } },
      ]);
      expect(log.at(-1)).toMatchObject({ type: 'turn_ended', text: 'One is left.' });
    },
  },
  {
    name: 'a-repetition-notice-and-a-cost-budget',
    model: () =>
      new ScriptedModel([], calls('stock', { item: 'tea' }), {
        prices: { inputPerMTok: 1_000, outputPerMTok: 2_000 },
      }),
    settings: { repeatLimit: 3, budgets: { cost: 0.06 } },
    play: async (engine, talk) => {
      await engine.idle(talk);
      const log = await engine.log(talk);
      const notices = log.flatMap((event) =>
        event.type === 'tool_result' ? [event.result.envelope.notice !== undefined] : [],
      );
      expect(notices).toEqual([false, true, false]);
      expect(log.at(-1)).toMatchObject({ reason: 'cost_budget', usage: { costMicros: 60_000 } });
    },
  },
  {
    name: 'hostile-signals',
    model: () => script(calls('customer.ask', { question: 'A?' }), says('still here')),
    play: async (engine, talk) => {
      for (const name of ['sendMessage', 'resolveToolCall', 'noSuchSignal'])
        for (const argument of [
          null,
          undefined,
          7,
          'x',
          [],
          { toolCallId: 'call_1', resolution: 3 },
        ])
          await engine.signal(talk, name, argument);
      await engine.temporal.workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: engine.workflowId(talk) },
        signalName: 'resolveToolCall',
        input: {
          payloads: [
            { metadata: { encoding: Buffer.from('binary/unknown') }, data: Buffer.from('x') },
          ],
        },
      });
      await talk.resolve('call_1', YES);
      await engine.idle(talk);
    },
  },
];
