/** Inline reads on a real server: when they run inside the model activity, when not, and how readers see them. */
import { expect, test } from 'vitest';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { ledger, shop, type ToolRun } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replays } from '../../support/engine/replays.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

type Talk = ReturnType<Engine['begin']>;

const isOfInterest = (line: string): boolean =>
  line.startsWith('ActivityTaskScheduled') || line === 'TimerStarted' || line === 'MarkerRecorded';

/** The activities and timers of the history, in order. */
async function workLines(engine: Engine, talk: Talk): Promise<readonly string[]> {
  return (await engine.history.lines(engine.workflowId(talk))).filter(isOfInterest);
}

const MODEL = 'ActivityTaskScheduled callModel';
const TOOL = 'ActivityTaskScheduled runTool';

function aborted({ ctx }: ToolRun): Promise<void> {
  return new Promise((resolve) => {
    ctx.signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

const TWO_READS = callsAll([
  { name: 'clock.read', input: {} },
  { name: 'clock.read', input: {} },
]);

test('inline reads run inside the model activity, and the log is as usual: model call, message, calls, results in call order', {
  ...promise('G55'),
}, async () => {
  const runs = ledger();
  const engine = await startEngine({
    agents: [shop(script(TWO_READS, says('late')))],
    services: runs,
  });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'late' });
  await engine.idle(talk);
  expect(runs.runs.map(({ ctx }) => [ctx.toolCallId, ctx.attempt])).toEqual([
    ['call_1', 1],
    ['call_2', 1],
  ]);
  expect((await workLines(engine, talk)).slice(0, 2)).toEqual([MODEL, MODEL]);
  const log = await engine.log(talk);
  expect(log.map(({ type }) => type).slice(3, 9)).toEqual([
    ...['model_call', 'assistant_message', 'tool_call', 'tool_call'],
    ...['tool_result', 'tool_result'],
  ]);
  const results = log.filter((event) => event.type === 'tool_result');
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['call_1', 'call_2']);
  await replays(engine, talk);
});

test('a read beside a suspended call runs with the answer, and the suspension is open when the turn reports `waiting`', {
  ...promise('G57'),
}, async () => {
  const runs = ledger();
  const both = callsAll([
    { name: 'payments.refund', input: { paymentId: 'p', cents: 1 } },
    { name: 'clock.read', input: {} },
  ]);
  const engine = await startEngine({ agents: [shop(script(both, says('done')))], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'waiting', pending: [{ toolCallId: 'call_1' }] });
  expect((await workLines(engine, talk)).filter((line) => line === TOOL)).toEqual([]);
  expect((await engine.log(talk)).filter(({ type }) => type === 'tool_result')).toMatchObject([
    { toolCallId: 'call_2', result: { envelope: { ok: true } } },
  ]);
  expect((await talk.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await engine.idle(talk);
  expect((await engine.log(talk)).at(-1)).toMatchObject({ type: 'turn_ended', text: 'done' });
  await replays(engine, talk);
});

test('a read behind an approval runs as an activity once it is approved', {
  ...promise('G56'),
}, async () => {
  const runs = ledger();
  const model = script(calls('clock.gated', {}), says('It is noon.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk } = await engine.ask();
  expect(runs.runs).toHaveLength(0);
  expect((await talk.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await engine.idle(talk);
  expect(await workLines(engine, talk)).toContain(TOOL);
  expect(runs.runs).toHaveLength(1);
  await replays(engine, talk);
});

test('a read that takes too long is aborted by its signal, and runs again as an activity under the same key', {
  ...promise('G58'),
}, async () => {
  const aborts: string[] = [];
  const runs = ledger({
    'clock.read': async (run) => {
      if (aborts.length > 0) return 'noon';
      await aborted(run);
      aborts.push('aborted');
      return 'never heard of';
    },
  });
  const model = script(calls('clock.read', {}), says('It is noon.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'It is noon.' });
  await engine.idle(talk);
  expect(aborts).toEqual(['aborted']);
  expect(runs.runs.map(({ ctx }) => ctx.attempt)).toEqual([1, 1]);
  expect(new Set(runs.runs.map(({ ctx }) => ctx.idempotencyKey)).size).toBe(1);
  expect((await workLines(engine, talk)).slice(0, 3)).toEqual([MODEL, TOOL, MODEL]);
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ result: { envelope: { ok: true, result: 'noon' } } }]);
  await replays(engine, talk);
});

test('a read that requests a retry gets all attempts of its tool, as an activity', {
  ...promise('G58'),
}, async () => {
  const runs = ledger({
    'clock.read': () => {
      throw new ToolRetry({ after: 20, message: 'no time yet' });
    },
  });
  const model = script(calls('clock.read', {}), says('I do not know.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'I do not know.' });
  expect(runs.runs.map(({ ctx }) => ctx.attempt)).toEqual([1, 1, 2, 3]);
  await engine.idle(talk);
  expect((await workLines(engine, talk)).slice(0, 3)).toEqual([MODEL, TOOL, MODEL]);
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ result: { envelope: { error: { message: 'no time yet' } } } }]);
  await replays(engine, talk);
});

test('a call past the bound of its tool is not run, and the model reads the error', {
  ...promise('G56'),
}, async () => {
  const runs = ledger();
  const agent = shop(script(TWO_READS, TWO_READS, says('enough')), {
    budgets: { callsOf: { 'clock.read': 3 } },
  });
  const engine = await startEngine({ agents: [agent], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'enough' });
  expect(runs.runs).toHaveLength(3);
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results.map(({ result: { envelope } }) => envelope.ok)).toEqual([true, true, false, true]);
});

test('a turn cancelled before its answer with reads has arrived ends as one whose model call was cancelled', {
  ...promise('G60'),
}, async () => {
  const runs = ledger();
  const answers = script(calls('clock.read', {}), says('never said'));
  let cancel = (): Promise<unknown> => Promise.resolve();
  const model: Model = {
    name: 'cancelled',
    generate: async (request, options) => {
      await cancel();
      // Ignores the abort: the activity is cancelled with its next heartbeat, a second later.
      return await answers.generate(request, { ...options, signal: new AbortController().signal });
    },
  };
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const talk = engine.begin();
  cancel = () => talk.cancel();
  const turn = await engine.send(talk, 'what time is it?');
  expect(await turn.result({ timeout: '20s' })).toMatchObject({ status: 'cancelled' });
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'tool_call' || type === 'tool_result')).toEqual([]);
  await replays(engine, talk);
});

test('watchers see a read begin and end like any other call', promise('G55'), async () => {
  const model = script(says('hello'), calls('clock.read', {}), says('It is noon.'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const left = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const frame of talk.subscribe({ signal: left.signal }))
      if ('toolCallId' in frame.event) seen.push(`${frame.event.type} ${frame.event.toolCallId}`);
  })();
  const key = { tenant: 'default', conversationId: talk.id };
  await until('the watcher is connected', () => engine.opened.live.watched(key)?.live === true);
  await engine.say(talk, 'what time is it?');
  await until('all are seen', () => seen.length >= 3);
  left.abort();
  await watching.catch(() => undefined);
  expect(seen).toEqual([
    'tool_arguments_delta call_1',
    'tool_call_started call_1',
    'tool_result call_1',
  ]);
});
