import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

test('after a reset in Temporal readers get a new generation that begins with a marker', {
  ...promise('G197'),
}, async () => {
  const model = script(says('one'), says('two'), says('three'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask('first');
  await engine.say(talk, 'second');
  const old = await engine.log(talk);
  const events = await engine.history.events(engine.workflowId(talk));
  const { runId } = await engine.history.describe(engine.workflowId(talk));
  // The task that took the second message; the events before it are kept.
  const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes);
  const { runId: newRunId } = await engine.temporal.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: engine.workflowId(talk), runId },
    workflowTaskFinishEventId: tasks[1]?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'test',
    // RESET_REAPPLY_TYPE_NONE: later inputs are not applied again. The client does not export the enum.
    ...{ resetReapplyType: 2 },
  });
  expect(newRunId).not.toBe(runId);
  const third = await engine.say(talk, 'third', { onBusy: 'queue' });
  // Not the end of the turn that was the second before.
  expect(third).toMatchObject({ status: 'completed', text: 'three' });
  const page = await talk.events();
  expect(page.generation).toBe(2);
  expect(page.events[0]).toMatchObject({ type: 'log_rewritten', seq: 0, previousGeneration: 1 });
  expect(page.events.slice(1).map(({ seq }) => seq)).toEqual(
    page.events.slice(1).map((_, index) => index + 1),
  );
  // A reader of the old generation receives the marker, not the events after it.
  const reread = await talk.events({ after: { generation: 1, seq: old.length } });
  expect(reread.events[0]).toMatchObject({ type: 'log_rewritten' });
  expect(page.events.filter(({ type }) => type === 'turn_ended')).toHaveLength(2);
});

test('a server that lost all its data: the same conversation id begins a new generation over the old log', {
  ...promise('G198'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-generations-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const eventLog = join(folder, 'log.db');
  const id = randomUUID();
  const old = await startDevServer();
  const before = await startEngine({
    agents: [shop(script(says('one'), says('two')))],
    services: ledger(),
    address: old.address,
    eventLog,
  });
  const first = before.begin(id);
  await before.say(first, 'a');
  await before.say(first, 'b');
  const lost = await before.log(first);
  expect(lost).toHaveLength(11);
  await before.close();
  await old.stop();

  const fresh = await startDevServer();
  onTestFinished(() => fresh.stop());
  const after = await startEngine({
    agents: [shop(script(says('new')))],
    services: ledger(),
    address: fresh.address,
    eventLog,
  });
  const second = after.begin(id);
  expect(await after.say(second, 'anybody?')).toMatchObject({ status: 'completed', text: 'new' });
  const generation = async (): Promise<number | undefined> =>
    (await after.opened.log.head({ tenant: 'default', conversationId: id }))?.generation;
  await until('a new generation is stored', generation, { holds: (value) => value === 2 });
  const page = await second.events();
  expect(page.events.map(({ type }) => type)).toEqual([
    ...['log_rewritten', 'conversation_started', 'user_message', 'turn_started'],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
  const oldPage = await after.opened.log.read(
    { tenant: 'default', conversationId: id },
    { generation: 1 },
  );
  expect(oldPage?.events).toEqual(lost);
});
