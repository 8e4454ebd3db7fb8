import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect, test } from 'vitest';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { CORE_REVISION } from '../../../src/protocol/workflow/revisions.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

type Workflow = (input: unknown) => Promise<void>;

function startOptions(engine: Engine, id: string) {
  return {
    workflowId: engine.workflowId({ id }),
    taskQueue: engine.taskQueue,
    args: [
      {
        tenant: 'default',
        conversationId: id,
        agent: 'shop',
        settings: { maxSteps: 5, onBusy: 'reject', idleCloseMs: 3_600_000 },
      },
    ] as [unknown],
  };
}

test('a refused first message leaves nothing behind that affects a valid one', {
  ...promise('G131'),
}, async () => {
  const engine = await startEngine({ agents: [shop(script(says('hi')))], services: ledger() });
  const id = randomUUID();
  const start = new WithStartWorkflowOperation<Workflow>('conversation', {
    ...startOptions(engine, id),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const refused = engine.temporal.workflow.executeUpdateWithStart<Workflow, unknown, [unknown]>(
    'sendMessage',
    {
      args: [{ text: '  ' }],
      startWorkflowOperation: start,
    },
  );
  await expect(refused).rejects.toMatchObject({ cause: { type: 'invalid_request' } });
  const talk = engine.begin(id);
  expect((await engine.snapshot(talk)).seq).toBe(1);
  expect(await engine.say(talk, 'hello')).toMatchObject({ status: 'completed', text: 'hi' });
  expect((await engine.logTypes(talk)).slice(0, 3)).toEqual([
    'conversation_started',
    'user_message',
    'turn_started',
  ]);
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines.slice(4, 8)).toEqual([
    ...['TimerStarted', 'WorkflowTaskScheduled', 'WorkflowTaskStarted', 'WorkflowTaskCompleted'],
  ]);
});

test('a signal without a message does not keep an empty conversation open', async () => {
  const engine = await startEngine({ agents: [shop(script(says('hi')))], services: ledger() });
  const id = randomUUID();
  await engine.temporal.workflow.signalWithStart<Workflow, [unknown]>('conversation', {
    ...startOptions(engine, id),
    signal: 'sendMessage',
    signalArgs: [{ words: 'none' }],
  });
  const talk = engine.begin(id);
  await engine.snapshot(talk);
  // The timer of an empty run, not the one of an idle conversation.
  const [timer] = (await engine.history.events(engine.workflowId(talk))).flatMap(
    ({ timerStartedEventAttributes: attributes }) =>
      attributes ? [attributes.startToFireTimeout?.seconds] : [],
  );
  expect(Number(timer)).toBe(60);
  expect(await engine.say(talk, 'hello')).toMatchObject({ status: 'completed', text: 'hi' });
});

test('a conversation started by hand with invalid arguments ends at once and says why', async () => {
  const engine = await startEngine({ agents: [shop(script())], services: ledger() });
  const settings = { maxSteps: 5, onBusy: 'reject', idleCloseMs: 60_000 };
  const good = { tenant: 'default', conversationId: 'x', agent: 'shop', settings };
  for (const bad of [
    null,
    'x',
    { ...good, tenant: 'a:b' },
    { ...good, settings: {} },
    { ...good, settings: null },
  ]) {
    const handle = await engine.temporal.workflow.start<Workflow>('conversation', {
      workflowId: randomUUID(),
      taskQueue: engine.taskQueue,
      args: [bad],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'invalid_request' } });
  }
});

test('a conversation begun by a newer client is not run by older rules: its task fails with the reason, and the run stays open', {
  ...promise('G204'),
}, async () => {
  const engine = await startEngine({ agents: [shop(script(says('hi')))], services: ledger() });
  const id = randomUUID();
  const settings = { maxSteps: 5, onBusy: 'reject', idleCloseMs: 3_600_000 };
  const handle = await engine.temporal.workflow.signalWithStart<Workflow, [unknown]>(
    'conversation',
    {
      ...startOptions(engine, id),
      args: [
        {
          tenant: 'default',
          conversationId: id,
          agent: 'shop',
          settings: { ...settings, coreRevision: CORE_REVISION + 1 },
        },
      ],
      signal: 'sendMessage',
      signalArgs: [{ text: 'hello', requestId: 'm1', actor: { id: 'tester' } }],
    },
  );
  const failure = await until(
    'the task fails',
    async () =>
      (await engine.history.events(handle.workflowId)).flatMap(
        ({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? [],
      ),
    { holds: (messages) => messages.length > 0 },
  );
  expect(failure[0]).toContain(`core revision ${CORE_REVISION + 1} needs a newer worker`);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate();
});
