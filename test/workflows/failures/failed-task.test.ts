/**
 * One worker fails a workflow task although its history can be replayed: another worker decides the next attempt from
 * the history.
 */
import { expect, test } from 'vitest';
import { says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import type { HistoryEvent } from '../../support/engine/history.js';
import { replay } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

/** The cause in Temporal's API with which the SDK fails a task whose history does not match the code. */
const NONDETERMINISTIC = 24;
/** Measured: 0.5 to 1.2 s on a machine loaded tenfold, including the start of the worker. */
const HEALED_MS = 10_000;

test('an update whose task failed is answered by the next attempt within seconds, and the run can be replayed', {
  ...promise('G16'),
  timeout: patient(120_000),
}, async () => {
  const model = scriptedBy(({ messages }) => says(`answer ${String(messages.length)}`));
  const engine = await startEngine({ agents: [shop(model)] });
  const { talk } = await engine.ask();
  await engine.idle(talk);
  await engine.stopWorker();

  const sending = engine.update(talk, 'sendMessage', { text: 'two', requestId: 'm2' });
  sending.catch(() => undefined);
  const { connection, workflowService } = engine.temporal;
  const request = { namespace: 'default', taskQueue: { name: engine.taskQueue }, identity: 'odd' };
  const task = await until(
    'the task of the update is taken',
    () =>
      connection.withDeadline(Date.now() + 10_000, () =>
        workflowService.pollWorkflowTaskQueue(request),
      ),
    { holds: ({ taskToken }) => taskToken.length > 0 },
  );
  await workflowService.respondWorkflowTaskFailed({
    namespace: 'default',
    taskToken: task.taskToken,
    identity: 'odd',
    cause: NONDETERMINISTIC,
    failure: {
      message:
        '[TMPRL1100] Nondeterminism error: No command scheduled for event HistoryEvent(WorkflowExecutionUpdateAccepted)',
    },
  });
  const startedAt = performance.now();
  await engine.startWorker();
  expect(await sending).toMatchObject({ turnId: expect.any(String) as string });
  expect(performance.now() - startedAt).toBeLessThan(HEALED_MS);

  await engine.idle(talk);
  const events = await engine.history.events(engine.workflowId(talk));
  const failed = events.findIndex(isFailure);
  expect(failed).toBeGreaterThan(0);
  expect(events.slice(failed + 1).filter(isFailure)).toEqual([]);
  expect((await engine.logTypes(talk)).filter((type) => type === 'user_message')).toHaveLength(2);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
  await replay({ code: await bundleFromSource() }, await engine.handle(talk).fetchHistory());
});

function isFailure(event: HistoryEvent): boolean {
  return event.workflowTaskFailedEventAttributes != null;
}
