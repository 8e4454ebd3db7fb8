/** Conversations whose worker is lost, replaced or reset, or whose store is down. */
import { ApplicationFailure } from '@temporalio/common';
import { expect, inject } from 'vitest';
import { z } from 'zod';
import { CompressionCodec } from '../../../../src/client/payloads/payload-codec.js';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import type { AnyTool } from '../../../../src/define/tool/types.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import { applyRepair } from '../../../../src/worker/repair/index.js';
import { badBundle } from '../../bad-deploys/index.js';
import { ledger, type Services, shop } from '../../engine/agents.js';
import { type Engine, startEngine } from '../../engine/engine.js';
import { CONVERTER } from '../../engine/workflow-bundle.js';
import { until } from '../../until.js';
import { before, ended, lost, type Recorded, type Scenario, sees, type Talk } from './scenario.js';

const base = { description: 'Does its work.', input: z.object({}) };

const agentOf = (tools: readonly AnyTool[], model: Model) =>
  defineAgent<Services>({
    name: 'shop',
    instructions: 'Help.',
    model,
    tools: tools as never,
    context: { maxTokens: 2_000_000, summarize: false },
  });

/** Runs of three calls are lost: the first did nothing, the second was done, of the third nothing is known. */
function refund(): AnyTool {
  const outcomes = [
    { happened: false },
    { happened: true, result: 'refunded' },
    'unknown',
  ] as const;
  let asked = 0;
  return defineTool({
    ...base,
    name: 'refund',
    effects: 'once',
    onOutcomeUnknown: 'hold',
    timeouts: { heartbeat: '2s', approval: '1 day', answer: '2s' },
    run: () => 'refunded',
    reconcile: () => {
      asked += 1;
      return outcomes[asked - 1] ?? 'unknown';
    },
  });
}

function lostRuns(): Scenario {
  let taken = 0;
  // The second run of the first call is not lost.
  const isLost = (): boolean => {
    taken += 1;
    return taken !== 2;
  };
  return {
    name: 'lost-runs-of-a-tool',
    model: () =>
      script(
        ...[calls('refund', {}), says('refunded')],
        ...[calls('refund', {}), says('refunded, too')],
        ...[calls('refund', {}), says('not known')],
      ),
    agent: (model) => agentOf([refund()], model),
    options: () => ({
      tuning: { shutdownGraceTime: 1, interceptors: before('runTool', () => isLost() && lost()) },
    }),
    play: async (engine, talk) => {
      await engine.idle(talk);
      await engine.say(talk, 'again');
      await engine.say(talk, 'once more');
      await engine.idle(talk);
    },
  };
}

const BEFORE = z.object({ order: z.string() });
const AFTER = z.object({ orderId: z.string().optional() });
const WIDER = BEFORE.extend({ note: z.string().optional() });
const ORDER = { order: 'a7' };

/** The tools of a deploy: a form, a client call and a server call, each behind its wait. */
function toolsOf({
  form,
  shown,
  order,
  more,
}: {
  readonly form: z.ZodType;
  readonly shown: z.ZodType;
  readonly order: z.ZodType;
  readonly more?: object;
}): readonly AnyTool[] {
  return [
    defineTool({ ...base, input: BEFORE, name: 'form', executor: 'human', output: form }),
    defineTool({
      ...base,
      input: shown,
      name: 'show',
      executor: 'client',
      approval: 'required',
      timeouts: { answer: '1 hour', claim: '1 hour' },
    } as never),
    defineTool({
      ...base,
      input: order,
      name: 'order',
      approval: 'required',
      run: () => 'done',
      ...more,
    } as never),
  ] as readonly AnyTool[];
}

/** The watch offers the form anew, the client call is checked, and the server call is migrated and approved again. */
async function toolsChange(engine: Engine, talk: Talk): Promise<void> {
  await engine.stopWorker();
  const migrate = (raw: unknown): object => ({ orderId: (raw as typeof ORDER).order });
  const tools = toolsOf({
    form: z.strictObject({ date: z.string() }),
    shown: WIDER,
    order: AFTER,
    more: { migrate },
  });
  await startEngine<Services>({
    agents: [agentOf(tools, script(says('Done.')))],
    services: ledger(),
    eventLog: engine.opened,
    taskQueue: engine.taskQueue,
  });
  await sees(engine, talk, 'suspension_changed');
  await talk.resolve('call_2', { type: 'approve' });
  await sees(engine, talk, 'suspension', 4);
  await talk.resolve('call_2', { type: 'result', value: 'shown' });
  await talk.resolve('call_3', { type: 'approve' });
  await sees(engine, talk, 'suspension', 5);
  const again = (await talk.pending()).find(({ toolCallId }) => toolCallId === 'call_3');
  await talk.resolve('call_3', { type: 'approve' }, { argsDigest: again?.argsDigest ?? '' });
  await sees(engine, talk, 'tool_result', 2);
  await talk.resolve('call_1', { type: 'answer', value: { date: 'monday' } });
  await engine.idle(talk);
}

/** A bad deploy ran the approved tool, so the good code replays the history only up to the approval. */
async function repaired(id: string): Promise<Recorded> {
  const good = { workflowBundle: { codePath: inject('workflowBundlePath') } };
  const engine = await startEngine({
    agents: [
      shop(
        script(
          calls('payments.refund', { paymentId: 'p1', cents: 5 }),
          says('Refunded'),
          says('Bye'),
        ),
      ),
    ],
    services: ledger(),
    taskQueue: id,
    tuning: { workflowBundle: await badBundle('starts-more-timers') },
  });
  const talk = engine.begin(id);
  await engine.say(talk, 'refund');
  await talk.resolve('call_1', { type: 'approve' });
  await engine.idle(talk);
  await engine.log(talk);
  await engine.stopWorker();
  const replay = { codecs: [new CompressionCodec()], payloadConverterPath: CONVERTER, ...good };
  const { temporal, opened } = engine;
  const key = { tenant: 'default', conversationId: id };
  const done = await applyRepair({ temporal, log: opened.log, replay }, key);
  expect(done.status).toBe('reset');
  await engine.startWorker(good);
  await engine.say(talk, 'Thanks', { onBusy: 'queue' });
  await engine.idle(talk);
  return { engine, talk };
}

/** Runs beside the turn until it is released. */
function watch(): { readonly tool: AnyTool; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<string>((resolve) => {
    release = () => {
      resolve('seen');
    };
  });
  const tool = defineTool({ ...base, name: 'watch', mode: 'detach', run: () => released });
  return { tool: tool, release };
}

/** The turn has grown too large to be sent, and the detached tool that still runs keeps the run from rolling over. */
function waitsToOffload(): Scenario {
  const { tool, release } = watch();
  const next = defineTool({ ...base, name: 'next', run: () => 'next' }) as AnyTool;
  return {
    name: 'a-turn-that-waits-to-offload',
    runs: 2,
    model: () =>
      script(
        callsAll(
          [
            { name: 'watch', input: {} },
            { name: 'next', input: {} },
          ],
          'word '.repeat(120_000),
        ),
        callsAll([{ name: 'next', input: {} }], 'word '.repeat(200_000)),
        ...[says('read'), says('seen')],
      ),
    agent: (model) => agentOf([tool, next], model),
    runsOn: 'turn_started',
    play: async (engine, talk) => {
      await until('the first pause is over', () => engine.history.lines(engine.workflowId(talk)), {
        holds: (lines) => lines.includes('TimerFired'),
      });
      release();
      await sees(engine, talk, 'inbox_event');
      await sees(engine, talk, 'turn_ended');
      await engine.idle(talk);
    },
  };
}

/** The message is left as a signal, and the first attempts to restore the state fail. */
async function reopenedAfterOutage(engine: Engine, talk: Talk): Promise<void> {
  await talk.close();
  await ended(engine, talk);
  await engine.log(talk);
  await engine.stopWorker();
  const left = await talk.send('and on', { reopen: true });
  if (left.status !== 'queued') throw new Error('a worker took the message');
  let isDown = true;
  const fails = (): never => {
    throw ApplicationFailure.retryable('the disk is gone', 'store_unavailable');
  };
  await engine.startWorker({ interceptors: before('restoreState', () => isDown && fails()) });
  await until('the state was not restored', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) => lines.includes('ActivityTaskFailed'),
  });
  isDown = false;
  await left.result({ timeout: '60s' });
  await engine.idle(talk);
}

export const SCENARIOS_OF_OUTAGES: readonly Scenario[] = [
  lostRuns(),
  {
    name: 'tools-changed-while-calls-wait',
    model: () =>
      script(callsAll(['form', 'show', 'order'].map((name) => ({ name, input: ORDER })))),
    agent: (model) =>
      agentOf(
        toolsOf({ form: z.strictObject({ day: z.string() }), shown: BEFORE, order: BEFORE }),
        model,
      ),
    play: toolsChange,
  },
  { name: 'repaired-by-a-reset', converse: repaired },
  waitsToOffload(),
  {
    name: 'reopened-after-an-outage',
    model: () => script(says('hello'), says('and on')),
    play: reopenedAfterOutage,
  },
];
