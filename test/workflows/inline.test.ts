/** Inline tools on a real server: where they run inside a workflow task, where not, and what comes of one that does not end. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import { ToolRetry } from '../../src/define/tool-retry.js';
import { calls, callsAll, says, script } from '../../src/model/scripted.js';
import { type Engine, startEngine } from '../support/engine.js';
import { ledger, shop, type ToolRun } from '../support/engine-agents.js';
import { replay } from '../support/engine-replay.js';
import { until } from '../support/until.js';

type Talk = ReturnType<Engine['begin']>;

const isAboutTools = (line: string): boolean =>
  line === 'MarkerRecorded' || line === 'ActivityTaskScheduled runTool' || line === 'TimerStarted';

/** How tools were run, in the order of the history; the timer of an idle conversation is left out. */
async function toolLines(engine: Engine, talk: Talk): Promise<readonly string[]> {
  return (await engine.history.lines(engine.workflowId(talk))).filter(isAboutTools);
}

async function replays(engine: Engine, talk: Talk): Promise<void> {
  const history = await engine.handle(talk).fetchHistory();
  await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(historyToJSON(history)));
}

function aborted({ ctx }: ToolRun): Promise<void> {
  return new Promise((resolve) => {
    ctx.signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

test('inline tools that a model call asks for run inside one workflow task, a marker each', async () => {
  const both = callsAll([
    { name: 'clock.read', input: {} },
    { name: 'clock.read', input: {} },
  ]);
  const runs = ledger();
  const engine = await startEngine({ agents: [shop(script(both, says('late')))], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'late' });
  await engine.idle(talk);
  expect(runs.runs.map(({ ctx }) => [ctx.toolCallId, ctx.attempt])).toEqual([
    ['call_1', 1],
    ['call_2', 1],
  ]);
  expect((await toolLines(engine, talk)).slice(0, 2)).toEqual(['MarkerRecorded', 'MarkerRecorded']);
  expect(await toolLines(engine, talk)).not.toContain('ActivityTaskScheduled runTool');
  await replays(engine, talk);
});

test('an approval that releases an inline tool has its verdict before the tool has ended', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const runs = ledger({ 'clock.gated': async () => held.then(() => 'noon') });
  const model = script(calls('clock.gated', {}), says('It is noon.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk } = await engine.ask();
  // Would wait for ever, or until the tool is given up, if the verdict waited for it.
  expect((await talk.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await until('the tool runs', () => runs.runs.length === 1, { timeoutMs: 15_000 });
  expect((await engine.snapshot(talk)).inFlightTools).toMatchObject([{ name: 'clock.gated' }]);
  release();
  await engine.idle(talk);
  const lines = await toolLines(engine, talk);
  expect(lines).toContain('ActivityTaskScheduled runTool');
  expect(lines).not.toContain('MarkerRecorded');
  expect(runs.runs).toHaveLength(1);
  await replays(engine, talk);
});

test('an inline tool that takes too long is given up, its signal fires, and it is run again as an activity', async () => {
  const told: string[] = [];
  const runs = ledger({
    'clock.read': async (run) => {
      if (run.ctx.attempt > 1) return 'noon';
      await aborted(run);
      told.push('aborted');
      return 'never heard of';
    },
  });
  const model = script(calls('clock.read', {}), says('It is noon.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'It is noon.' });
  await engine.idle(talk);
  expect(told).toEqual(['aborted']);
  expect(runs.runs.map(({ ctx }) => ctx.attempt)).toEqual([1, 2]);
  expect(new Set(runs.runs.map(({ ctx }) => ctx.idempotencyKey)).size).toBe(1);
  expect((await toolLines(engine, talk)).slice(0, 2)).toEqual([
    'MarkerRecorded',
    'ActivityTaskScheduled runTool',
  ]);
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ result: { envelope: { ok: true, result: 'noon' } } }]);
  await replays(engine, talk);
});

test('an inline tool that asks for another attempt has it after its pause, as an activity, and no more than it may have', async () => {
  const runs = ledger({
    'clock.read': () => {
      throw new ToolRetry({ after: 20, message: 'no time yet' });
    },
  });
  const model = script(calls('clock.read', {}), says('I do not know.'));
  const engine = await startEngine({ agents: [shop(model)], services: runs });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'I do not know.' });
  expect(runs.runs.map(({ ctx }) => ctx.attempt)).toEqual([1, 2, 3]);
  await engine.idle(talk);
  expect((await toolLines(engine, talk)).slice(0, 3)).toEqual([
    'MarkerRecorded',
    'TimerStarted',
    'ActivityTaskScheduled runTool',
  ]);
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ result: { envelope: { error: { message: 'no time yet' } } } }]);
  await replays(engine, talk);
});
