/**
 * Conversations as Temporal records them. Each must replay on the code that made it. `npm run record:histories` adds
 * those that `test/replay/histories` does not have yet; later versions must replay these for ever.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import {
  calls,
  callsAll,
  fails,
  ScriptedModel,
  says,
  saysAfter,
  script,
} from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { replay } from '../../support/engine/replay.js';
import { burning, provoke, storm, WAIT } from '../../support/histories/fire.js';
import {
  rollOver,
  SCENARIOS_OF_TOOLS,
  type Scenario,
  type Talk,
} from '../../support/histories/history-scenarios.js';
import { SCENARIOS_OF_WAITS } from '../../support/histories/history-waits.js';
import { expectNeutral, neutralJson } from '../../support/histories/neutral-history.js';
import { plantSecrets } from '../../support/samples/planted-secrets.js';
import { until } from '../../support/until.js';

const HISTORIES = fileURLToPath(new URL('../../replay/histories/', import.meta.url));
const RECORDS = process.env['COLLOQUY_RECORD_HISTORIES'] === '1';

const REFUND = { paymentId: 'p1', cents: 900 };
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

async function ended(engine: Engine, talk: Talk): Promise<void> {
  const status = async (): Promise<string> => (await engine.handle(talk).describe()).status.name;
  await until('the workflow ends', status, {
    holds: (name) => name !== 'RUNNING',
  });
}

const SCENARIOS: readonly Scenario[] = [
  ...SCENARIOS_OF_TOOLS,
  ...SCENARIOS_OF_WAITS,
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
    model: () =>
      script(
        callsAll([
          { name: 'payments.refund', input: REFUND },
          { name: 'customer.ask', input: { question: 'A?' } },
        ]),
        says('done'),
      ),
    play: async (engine, talk) => {
      await rollOver(engine, talk, 2);
      await talk.resolve('call_1', { type: 'deny' });
      await talk.resolve('call_2', YES);
      await engine.idle(talk);
    },
  },
  {
    name: 'stopped-while-the-model-spoke',
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
    model: () =>
      script(calls('customer.ask', { question: 'A?' }), says('both'), says('never'), says('last')),
    settings: { whileWaiting: 'block' },
    play: async (engine, talk) => {
      await engine.send(talk, 'and this', { onBusy: 'steer' });
      await talk.resolve('call_1', YES);
      await engine.idle(talk);
      await engine.send(talk, 'more');
      await engine.send(talk, 'no, this', { onBusy: 'interrupt' });
      await engine.idle(talk);
    },
  },
  {
    name: 'a-question-set-aside',
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
    name: 'one-after-the-other-within-bounds',
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
    name: 'warned-of-a-repetition-and-out-of-money',
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
      for (const name of ['sendMessage', 'resolveToolCall', 'noSuchDoor'])
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
            { metadata: { encoding: Buffer.from('binary/whatever') }, data: Buffer.from('x') },
          ],
        },
      });
      await talk.resolve('call_1', YES);
      await engine.idle(talk);
    },
  },
];

/** Replays every run of the conversation. When histories are recorded, writes those runs that are not kept yet. */
async function keep(engine: Engine, talk: Pick<Talk, 'id'>, name: string): Promise<void> {
  const runs = await engine.history.runs(engine.workflowId(talk));
  for (const [index, runId] of runs.entries()) {
    const handle = engine.temporal.workflow.getHandle(engine.workflowId(talk), runId);
    const json = neutralJson(await handle.fetchHistory());
    await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(json));
    expectNeutral(json);
    const file = `${HISTORIES}${name}${runs.length > 1 ? `-run-${index + 1}` : ''}.json`;
    if (RECORDS && !existsSync(file)) writeFileSync(file, `${json}\n`);
  }
}

for (const { name, model: makeModel, heldAt, runsOn, play, ...agent } of SCENARIOS)
  test(`a conversation replays: ${name}`, async () => {
    const model = new HeldModel(makeModel(), heldAt ?? '');
    const engine = await startEngine({
      agents: [agent.agent?.(model) ?? shop(model, agent.settings, agent.context)],
      services: ledger(),
      taskQueue: `recorded-${name}`,
      tuning: { shutdownGraceTime: 1 },
    });
    const talk = engine.begin(`recorded-${name}`);
    model.held = heldAt !== undefined;
    if (model.held) {
      await engine.send(talk, 'hello');
      await until('the model speaks', () => model.started === 1);
    } else if (runsOn !== undefined) {
      await engine.send(talk, 'hello');
      await until(runsOn, () => engine.logTypes(talk), { holds: (seen) => seen.includes(runsOn) });
    } else await engine.say(talk, 'hello');
    await play?.(engine, talk, model);
    await keep(engine, talk, name);
  });

test('a conversation replays: rolled-over-under-fire', async () => {
  const name = 'rolled-over-under-fire';
  const fire = await burning(inject('temporalAddress'), {}, `recorded-${name}`);
  const { engine, talk, store } = fire;
  await provoke(fire, async () => {
    await engine.signal(talk, 'rollOver');
  });
  await storm(fire);
  store.release();
  const types = async (): Promise<readonly string[]> => await engine.logTypes(talk);
  await until('it rolled over', types, { holds: (seen) => seen.includes('rolled_over') });
  await talk.resolve(WAIT, YES);
  await talk.cancel();
  await until('all turns have ended', types, {
    holds: (seen) => seen.filter((type) => type === 'turn_ended').length >= 3,
  });
  await engine.idle(talk);
  const [before = ''] = await engine.history.runs(engine.workflowId(talk));
  const lines = await engine.history.lines(engine.workflowId(talk), before);
  const whileFlushing = lines.slice(lines.findIndex((line) => line.endsWith('flushLog')));
  expect(whileFlushing).toContain('WorkflowExecutionUpdateAccepted sendMessage');
  expect(whileFlushing).toContain('WorkflowExecutionSignaled resolveToolCall');
  await keep(engine, talk, name);
});

test('a conversation replays: quoted-secrets', async () => {
  const name = 'quoted-secrets';
  const more = { taskQueue: `recorded-${name}` };
  const { engine, talk } = await plantSecrets({ name: `recorded-${name}`, more });
  await keep(engine, talk, name);
});
