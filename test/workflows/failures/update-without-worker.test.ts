import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { calls, callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { MAX_RECORDED_REFUSALS } from '../../../src/protocol/limits/limits.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = { paymentId: 'p', cents: 5 };
const model = scriptedBy(({ messages }) =>
  messages.at(-1)?.role === 'user'
    ? callsAll([
        { name: 'weather.lookup', input: { city: 'Oslo' } },
        { name: 'stock', input: { item: 'shoe' } },
        { name: 'payments.refund', input: REFUND },
      ])
    : says('done'),
);

const approval = { resolution: { type: 'approve' }, requestId: 'approval' };

/** Sends an update that no worker takes before its task times out. */
async function loseUpdate(engine: Engine, talk: Conversation, toolCallId: string) {
  await engine.stopWorker();
  const given = engine.update<{ verdict: string }>(talk, 'resolveToolCall', {
    ...approval,
    toolCallId,
  });
  const lines = async (): Promise<readonly string[]> =>
    await engine.history.lines(engine.workflowId(talk));
  await until('the server gives the task up', lines, {
    holds: (found) => found.includes('WorkflowTaskTimedOut'),
  });
  return { given };
}

/** Sends signals that are refused, each in a task of its own. */
async function refuseOneByOne(engine: Engine, talk: Conversation, signals: number): Promise<void> {
  for (let sent = 1; sent <= signals; sent += 1) {
    const before = await engine.history.count(engine.workflowId(talk));
    const input = { ...approval, toolCallId: 'nobody', requestId: `refused${sent}` };
    await engine.signal(talk, 'resolveToolCall', input);
    await until('its task has ended', () => engine.history.count(engine.workflowId(talk)), {
      holds: (count) => count > before,
    });
  }
}

/**
 * An answer was in flight when the worker was lost (decision 12). The update waits in a task that no worker takes, so
 * the history has a task that was scheduled right after the one in which the last tool ended, with nothing in between.
 */
test('decisions made before an update found no worker stand, and the run can be replayed', {
  ...promise('G13'),
}, async () => {
  // Holds the second tool, so that the ends of the two are tasks of their own.
  let release = (): void => undefined;
  const stockKnown = new Promise<void>((resolve) => {
    release = resolve;
  });
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger({ 'weather.lookup': () => stockKnown.then(() => 'sunny') }),
  });
  const talk = engine.begin();
  await engine.send(talk, 'hello');
  const results = async (): Promise<number> =>
    (await engine.logTypes(talk)).filter((type) => type === 'tool_result').length;
  await until('one tool has ended', results, { holds: (count) => count === 1 });
  release();
  await until('both tools have ended', results, { holds: (count) => count === 2 });
  const [refund] = (await engine.snapshot(talk)).pending;
  const before = await engine.log(talk);

  const { given: approving } = await loseUpdate(engine, talk, refund?.toolCallId ?? '');
  await engine.signal(talk, 'sendMessage', { text: 'more', requestId: 'm2', onBusy: 'queue' });
  await engine.startWorker();
  expect(await approving).toMatchObject({ verdict: 'accepted' });

  await until('the second message is asked about', () => engine.snapshot(talk), {
    holds: ({ turn, pending }) => turn !== undefined && pending.length === 1,
  });
  const after = await engine.log(talk);
  expect(after.slice(0, before.length)).toEqual(before);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
  const handle = engine.handle(talk);
  await replay({ code: await bundleFromSource() }, await handle.fetchHistory());
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});

test('a run can be replayed when an update found no worker after signals whose refusal is not recorded', {
  ...promise('G13'),
}, async () => {
  const refunds = scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'user' ? calls('payments.refund', REFUND) : says('done'),
  );
  const engine = await startEngine({ agents: [shop(refunds)], services: ledger() });
  const talk = engine.begin();
  await engine.send(talk, 'hello');
  const { pending } = await until('the call waits', () => engine.snapshot(talk), {
    holds: (seen) => seen.pending.length === 1,
  });
  await refuseOneByOne(engine, talk, MAX_RECORDED_REFUSALS + 2);
  const { given } = await loseUpdate(engine, talk, pending[0]?.toolCallId ?? '');
  await engine.startWorker();
  expect(await given).toMatchObject({ verdict: 'accepted' });
  await engine.idle(talk);
  const refused = (await engine.logTypes(talk)).filter((type) => type === 'resolution_refused');
  expect(refused).toHaveLength(MAX_RECORDED_REFUSALS);
  await replay({ code: await bundleFromSource() }, await engine.handle(talk).fetchHistory());
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
