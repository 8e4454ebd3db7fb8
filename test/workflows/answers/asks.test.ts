/**
 * Tools that ask in mid-run: the activity ends at the question, and other workers in other workflow runs continue with
 * the answers.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

type Talk = ReturnType<Engine['begin']>;

const ADDRESS = { type: 'answer', value: { city: 'Oslo', zip: '0150' } } as const;
const YES = { type: 'answer', value: true } as const;

async function engineWith(runs = ledger()): Promise<Engine> {
  const model = script(calls('orders.place', { item: 'tea' }), says('Ordered.'));
  return await startEngine({ agents: [shop(model)], services: runs });
}

async function rolledOver(engine: Engine, talk: Talk, runs: number): Promise<void> {
  await engine.signal(talk, 'rollOver');
  const count = async (): Promise<number> =>
    (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', count, { holds: (seen) => seen === runs });
}

/** The open question of a call, once the call has asked `ask` times. */
async function question(engine: Engine, talk: Talk, ask: number): Promise<PendingCall> {
  const pending = async (): Promise<PendingCall | undefined> =>
    (await engine.snapshot(talk)).pending[0];
  const found = await until(`question ${ask} is open`, pending, {
    holds: (seen) => seen?.ask === ask,
  });
  if (found === undefined) throw new Error('nothing is pending');
  return found;
}

test('a tool asks, its worker stops, the conversation rolls over, and another worker takes the answer and asks the next question', {
  ...promise('G52'),
}, async () => {
  const runs = ledger();
  const engine = await engineWith(runs);
  const { talk, result } = await engine.ask('order tea');
  expect(result).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'elicitation', name: 'orders.place', reason: 'Where to?', ask: 1 }],
  });
  await rolledOver(engine, talk, 2);
  await engine.stopWorker();
  await engine.startWorker();
  expect((await talk.resolve('call_1', ADDRESS)).verdict).toBe('accepted');
  const second = await question(engine, talk, 2);
  await rolledOver(engine, talk, 3);
  await engine.stopWorker();
  await engine.startWorker();
  const argsDigest = second.argsDigest ?? '';
  expect(await talk.resolve('call_1', YES)).toMatchObject({
    verdict: 'invalid',
    problems: [{ path: '/argsDigest' }],
  });
  expect((await talk.resolve('call_1', YES, { argsDigest })).verdict).toBe('accepted');
  await engine.idle(talk);
  expect((await talk.resolve('call_1', YES, { argsDigest })).verdict).toBe('stale');
  const log = await engine.log(talk);
  expect(log.find((event) => event.type === 'tool_result')).toMatchObject({
    result: {
      envelope: {
        ok: true,
        result: { item: 'tea', state: { to: ADDRESS.value }, agreed: true },
      },
    },
  });
  expect(runs.runs.map(({ ctx }) => [ctx.run, ctx.asks])).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  expect(new Set(runs.runs.map(({ ctx }) => ctx.idempotencyKey)).size).toBe(1);
  for (const runId of await engine.history.runs(engine.workflowId(talk))) {
    const handle = engine.temporal.workflow.getHandle(engine.workflowId(talk), runId);
    const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
    await replay({ codePath: inject('workflowBundlePath') }, history);
  }
});

test('an answer that does not match the pattern of the form reopens the question, and the tool is not run again', async () => {
  const runs = ledger();
  const engine = await engineWith(runs);
  const { talk } = await engine.ask('order tea');
  const wrong = { type: 'answer', value: { city: 'Oslo', zip: 'x' } } as const;
  expect((await talk.resolve('call_1', wrong)).verdict).toBe('accepted');
  await until('it is taken back', () => engine.logTypes(talk), {
    holds: (types) => types.at(-1) === 'suspension' && types.includes('resolution_reverted'),
  });
  expect(runs.runs).toHaveLength(1);
  expect((await talk.resolve('call_1', ADDRESS)).verdict).toBe('accepted');
  await question(engine, talk, 2);
});

test('an answer by hand that does not name the second question is refused in the log, and accepted with its digest', async () => {
  const engine = await engineWith();
  const { talk } = await engine.ask('order tea');
  const signal = (fields: object) =>
    engine.signal(talk, 'resolveToolCall', {
      toolCallId: 'call_1',
      actor: { id: 'op' },
      ...fields,
    });
  await signal({ resolution: ADDRESS });
  const { argsDigest } = await question(engine, talk, 2);
  await signal({ resolution: YES });
  await signal({ resolution: { type: 'approve' } });
  await until('both are refused', () => engine.log(talk), {
    holds: (log) => log.filter(({ type }) => type === 'resolution_refused').length === 2,
  });
  const refused = (await engine.log(talk)).filter((event) => event.type === 'resolution_refused');
  expect(refused).toMatchObject([{ verdict: 'invalid' }, { verdict: 'stale' }]);
  await signal({ resolution: YES, argsDigest });
  await engine.idle(talk);
});

test('a call that is cancelled while it asks ends as cancelled, and its answer is stale', async () => {
  const engine = await engineWith();
  const { talk } = await engine.ask('order tea');
  await talk.cancel();
  await engine.idle(talk);
  expect((await talk.resolve('call_1', ADDRESS)).verdict).toBe('stale');
  const results = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ result: { status: 'cancelled' } }]);
});
