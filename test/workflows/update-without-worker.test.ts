import { expect, test } from 'vitest';
import { callsAll, says, scriptedBy } from '../../src/model/scripted.js';
import { startEngine } from '../support/engine.js';
import { ledger, shop } from '../support/engine-agents.js';
import { bundleFromSource, replay } from '../support/engine-replay.js';
import { until } from '../support/until.js';

const model = scriptedBy(({ messages }) =>
  messages.at(-1)?.role === 'user'
    ? callsAll([
        { name: 'weather.lookup', input: { city: 'Oslo' } },
        { name: 'stock', input: { item: 'shoe' } },
        { name: 'payments.refund', input: { paymentId: 'p', cents: 5 } },
      ])
    : says('done'),
);

/**
 * An answer was on its way when the worker was lost (decision 12): it waits at the server in a task that no worker takes, so the
 * history has a task that was scheduled right after the one in which the last tool ended, with nothing between.
 */
test('what was decided before an update found no worker stays decided, and the run can be replayed', async () => {
  // Their ends are tasks of their own.
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

  await engine.stopWorker();
  const approving = engine.update<{ verdict: string }>(talk, 'resolveToolCall', {
    toolCallId: refund?.toolCallId,
    resolution: { type: 'approve' },
    requestId: 'approval',
  });
  const lines = async (): Promise<readonly string[]> =>
    await engine.history.lines(engine.workflowId(talk));
  await until('the server gives the task up', lines, {
    holds: (found) => found.includes('WorkflowTaskTimedOut'),
    timeoutMs: 30_000,
  });
  await engine.signal(talk, 'sendMessage', { text: 'more', requestId: 'm2', onBusy: 'queue' });
  await engine.startWorker();
  expect(await approving).toMatchObject({ verdict: 'accepted' });

  await until('the second message is asked about', () => engine.snapshot(talk), {
    holds: ({ turn, pending }) => turn !== undefined && pending.length === 1,
    timeoutMs: 15_000,
  });
  const after = await engine.log(talk);
  expect(after.slice(0, before.length)).toEqual(before);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
  const handle = engine.handle(talk);
  await replay({ code: await bundleFromSource() }, await handle.fetchHistory());
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
