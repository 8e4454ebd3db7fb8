/** The cost of a turn: the exact history of each kind. A change here changes every user's bill. */
import { expect, test } from 'vitest';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { type Ledger, ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const TASK = ['WorkflowTaskScheduled', 'WorkflowTaskStarted', 'WorkflowTaskCompleted'] as const;
const UPDATE = ['WorkflowExecutionUpdateAccepted', 'WorkflowExecutionUpdateCompleted'] as const;
const TOOL = [
  'ActivityTaskScheduled runTool',
  'ActivityTaskStarted',
  'ActivityTaskCompleted',
] as const;
const MODEL = [
  'ActivityTaskScheduled callModel',
  'ActivityTaskStarted',
  'ActivityTaskCompleted',
] as const;

/** The history of one turn in the middle of a conversation, without the costs of a first turn. */
async function secondTurn(
  engine: Engine,
  text: string,
  answer?: (id: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const { talk } = await engine.ask('first');
  const before = await engine.history.count(engine.workflowId(talk));
  await engine.say(talk, text);
  await answer?.(talk.id);
  await engine.idle(talk);
  return (await engine.history.lines(engine.workflowId(talk))).slice(before);
}

/**
 * Tools of one step that end at the same moment share a task and save three events. For exact lists, the second tool
 * here ends after the workflow has recorded the end of the first.
 */
function oneAfterTheOther(engineOf: () => Engine): Ledger {
  return ledger({
    'weather.lookup': async ({ ctx }) => {
      const talk = { id: ctx.conversationId };
      const others = async (): Promise<boolean> =>
        (await engineOf().snapshot(talk)).inFlightTools.every(
          ({ name }) => name === 'weather.lookup',
        );
      await until('the other tool has ended', others);
      return 'sunny';
    },
  });
}

test('a turn of one model call: 11 events', promise('G270'), async () => {
  const engine = await startEngine({
    agents: [shop(script(says('a'), says('b')))],
    services: ledger(),
  });
  expect(await secondTurn(engine, 'hi')).toEqual([
    ...[TASK[0], TASK[1], TASK[2]],
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
  ]);
});

test('a turn of two model calls and two tools: 29 events', async () => {
  const twoTools = callsAll([
    { name: 'stock', input: { item: 'a' } },
    { name: 'weather.lookup', input: {} },
  ]);
  const engine: Engine = await startEngine({
    agents: [shop(script(says('a'), twoTools, says('b')))],
    services: oneAfterTheOther(() => engine),
  });
  const lines = await secondTurn(engine, 'hi');
  expect(lines).toEqual([
    ...TASK,
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
    ...[TOOL[0], ...TOOL],
    ...TASK,
    ...TOOL.slice(1),
    ...TASK,
    ...MODEL,
    ...TASK,
  ]);
  expect(lines).toHaveLength(29);
});

test('a turn of two model calls and an inline read: 17 events, none of them the read’s', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('a'), calls('clock.read', {}), says('b')))],
    services: ledger(),
  });
  const lines = await secondTurn(engine, 'hi');
  expect(lines).toEqual([
    ...TASK,
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
    ...MODEL,
    ...TASK,
  ]);
  expect(lines).toHaveLength(17);
});

test('a turn of two model calls, two tools and an approved one: 45 events', async () => {
  const gated = callsAll([
    { name: 'stock', input: { item: 'a' } },
    { name: 'weather.lookup', input: {} },
    { name: 'payments.refund', input: { paymentId: 'p', cents: 1 } },
  ]);
  const engine: Engine = await startEngine({
    agents: [shop(script(says('a'), gated, says('b')))],
    services: oneAfterTheOther(() => engine),
  });
  const lines = await secondTurn(engine, 'hi', (id) =>
    engine.client.conversation(id).resolve('call_3', { type: 'approve' }),
  );
  expect(lines).toEqual([
    ...TASK,
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
    ...[TOOL[0], TOOL[0], 'TimerStarted', 'UpsertWorkflowSearchAttributes', ...TOOL.slice(1)],
    ...TASK,
    ...TOOL.slice(1),
    ...TASK,
    // Separates two tasks in a row that have no command of their own, because the second would count as a heartbeat.
    'TimerStarted',
    ...TASK,
    ...[`${UPDATE[0]} resolveToolCall`, UPDATE[1]],
    ...[TOOL[0], 'UpsertWorkflowSearchAttributes', 'TimerCanceled', ...TOOL.slice(1)],
    ...TASK,
    ...MODEL,
    ...TASK,
  ]);
  expect(lines).toHaveLength(45);
});

test('a browser call and its result cost 9 events on top of the model calls', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('a'), calls('cart.count', {}), says('b')))],
    services: ledger(),
  });
  const lines = await secondTurn(engine, 'hi', (id) =>
    engine.client.conversation(id).resolve('call_1', { type: 'result', value: 3 }),
  );
  expect(lines).toEqual([
    ...TASK,
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
    ...['TimerStarted', 'UpsertWorkflowSearchAttributes'],
    ...TASK,
    ...[`${UPDATE[0]} resolveToolCall`, UPDATE[1]],
    ...[MODEL[0], 'UpsertWorkflowSearchAttributes', 'TimerCanceled', MODEL[1], MODEL[2]],
    ...TASK,
  ]);
});

test('an answer that only a worker can judge costs 6 more events: one activity and its task', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('a'), calls('customer.code', {}), says('b')))],
    services: ledger(),
  });
  const lines = await secondTurn(engine, 'hi', (id) =>
    engine.client.conversation(id).resolve('call_1', { type: 'answer', value: { code: 'ABC' } }),
  );
  expect(lines.filter((line) => line === 'ActivityTaskScheduled checkAnswer')).toHaveLength(1);
  expect(lines).toHaveLength(32);
});

test('only the first turn pays for the start of the workflow and the timer of an idle conversation', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('a'), says('b')))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  await engine.idle(talk);
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines).toEqual([
    'WorkflowExecutionStarted',
    ...TASK,
    ...[`${UPDATE[0]} sendMessage`, UPDATE[1]],
    ...MODEL,
    ...TASK,
    'TimerStarted',
  ]);
});
