/**
 * Queries of a run whose last task was started and then lost (decision 19): their answers would depend on state that is
 * not in the history.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { isQueryRefused } from '../../../src/client/temporal/query-retry.js';
import { says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { shop } from '../../support/engine/agents.js';
import type { Engine } from '../../support/engine/engine.js';
import { startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';

/**
 * Several partitions, as on real servers and unlike on a dev server: a task and older queries wait in different places,
 * so the task may be taken first.
 */
const PARTITIONS = 8;
const QUERIES = 8;
/**
 * Outlasts the polls that a stopping worker leaves open, and the preference of queries for the worker that held the
 * run.
 */
const WAIT_MS = 1_200;

const TRIES = 12;

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer({
    dynamicConfig: {
      'matching.numTaskqueueReadPartitions': PARTITIONS,
      'matching.numTaskqueueWritePartitions': PARTITIONS,
    },
  });
});
afterAll(() => server.stop());

interface Lost {
  /** The number of queries that were refused. */
  readonly refused: () => number;
}

/**
 * Polls the task of a message in the role of a worker that dies with it. Queries polled before that task are lost as
 * well.
 * @returns undefined when no query is left
 */
async function loseTask(engine: Engine, talk: Conversation): Promise<Lost | undefined> {
  const { connection, workflowService } = engine.temporal;
  let left = QUERIES;
  let refused = 0;
  for (let asked = 0; asked < QUERIES; asked += 1)
    void engine
      .handle(talk)
      .query('snapshot')
      .catch((error: unknown) => {
        if (isQueryRefused(error)) refused += 1;
      });
  await sleep(WAIT_MS);
  await engine.signal(talk, 'sendMessage', { text: 'two', requestId: 'm2', onBusy: 'queue' });
  const request = { namespace: 'default', taskQueue: { name: engine.taskQueue }, identity: 'lost' };
  for (;;) {
    const { query, workflowExecution } = await connection.withDeadline(Date.now() + 5_000, () =>
      workflowService.pollWorkflowTaskQueue(request),
    );
    const isOurs = workflowExecution?.workflowId === engine.workflowId(talk);
    if (isOurs && query == null) return left === 0 ? undefined : { refused: () => refused };
    if (isOurs) left -= 1;
  }
}

/** Restarts the worker, which also receives the older queries. Its handling of them must not affect the run. */
async function comesBack(engine: Engine, talk: Conversation): Promise<void> {
  await engine.startWorker();
  const third = { text: 'three', requestId: 'm3', onBusy: 'queue' };
  expect(await engine.update(talk, 'sendMessage', third)).toMatchObject({ ahead: 1 });
  await engine.idle(talk);
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines).toContain('WorkflowTaskTimedOut');
  await replay({ code: await bundleFromSource() }, await engine.handle(talk).fetchHistory());
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
}

test('a query during a lost task does no harm: it is refused, and later input can be replayed', {
  ...promise('G17'),
  timeout: patient(240_000),
}, async () => {
  const model = scriptedBy(({ messages }) => says(`answer ${String(messages.length)}`));
  const engine = await startEngine({ agents: [shop(model)], address: server.address });
  const talks: Conversation[] = [];
  for (let begun = 0; begun < TRIES; begun += 1) talks.push((await engine.ask()).talk);
  for (const talk of talks) await engine.idle(talk);
  // The server may hand out all queries before the task, or pass them to the worker only after the task has ended; then
  // the next conversation is tried.
  for (const talk of talks) {
    await engine.stopWorker();
    await sleep(WAIT_MS);
    const lost = await loseTask(engine, talk);
    if (lost === undefined) continue;
    await comesBack(engine, talk);
    if (lost.refused() > 0) return;
  }
  throw new Error('no query came while a task was lost');
});
