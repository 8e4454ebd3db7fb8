/** A failing run whose history has no failure: the server records only the first attempt of a task, and it timed out. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { expect, test } from 'vitest';
import { REPORTED_PROBLEMS } from '../../../src/client/temporal/find-trouble.js';
import { calls, script } from '../../../src/model/scripted/scripted.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { badBundle } from '../../support/bad-deploys/index.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const PROBLEMS = defineSearchAttributeKey(REPORTED_PROBLEMS, SearchAttributeType.KEYWORD_LIST);

test('a run whose code fails, but whose only recorded attempt timed out, is `slow` and reported by the server, and `failing` after the next input', {
  ...promise('G20'),
  timeout: patient(180_000),
}, async () => {
  const engine = await startEngine({
    agents: [shop(script(calls('payments.refund', { paymentId: 'p1', cents: 500 })))],
    services: ledger(),
    tuning: { workflowBundle: await badBundle('throws-after-answers') },
  });
  const { talk } = await engine.ask();
  await engine.stopWorker();
  const approved = await talk.resolve('call_1', { type: 'approve' });
  expect(approved).toMatchObject({ verdict: 'queued' });
  // Takes the first attempt like a worker that is killed in it.
  const { taskToken } = await engine.temporal.withDeadline(Date.now() + 60_000, () =>
    engine.temporal.workflowService.pollWorkflowTaskQueue({
      namespace: 'default',
      taskQueue: { name: engine.taskQueue },
      identity: 'killed',
    }),
  );
  expect(taskToken.length).toBeGreaterThan(0);
  const workflowId = engine.workflowId(talk);
  await until('the attempt has timed out', () => engine.history.events(workflowId), {
    holds: (events) =>
      events.some(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut != null),
    timeoutMs: 60_000,
  });

  await engine.startWorker();
  const source = createWorkflowSource(engine.temporal);
  const key = { tenant: 'default', conversationId: talk.id };
  const isReported = async (): Promise<boolean> => {
    for await (const { conversationId } of source.reported?.() ?? [])
      if (conversationId === talk.id) return true;
    return false;
  };
  const trouble = async () => (await source.describe(key))?.trouble;
  const category = async (): Promise<string | undefined> => {
    const { typedSearchAttributes } = await engine.history.describe(workflowId);
    return typedSearchAttributes.get(PROBLEMS)?.[0];
  };

  await until('the server reports it', isReported, { timeoutMs: 60_000 });
  // The report is no better than the history: the later attempts have failed, and are in neither.
  expect(await category()).toBe('category=WorkflowTaskTimedOut');
  expect(await trouble()).toMatchObject({ kind: 'slow' });
  await talk.send('hello', { onBusy: 'queue' });
  const found = await until('it is failing', trouble, {
    holds: (seen) => seen?.kind === 'failing',
    timeoutMs: 60_000,
  });
  expect(found).toMatchObject({ error: 'no such plan' });
  await until('the server reports a failure', category, {
    holds: (seen) => seen === 'category=WorkflowTaskFailed',
    timeoutMs: 60_000,
  });
});
