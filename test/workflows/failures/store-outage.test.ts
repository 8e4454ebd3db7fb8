import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { type BreakableLog, breakable } from '../../support/fakes/breakable-log.js';
import { promise } from '../../support/promise.js';
import { startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

const YES = { type: 'answer', value: { answer: 'yes' } } as const;

async function fileLog(): Promise<EventLog> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-outage-'));
  const log = await openSqliteEventLog({ file: join(folder, 'log.db') });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return log;
}

/** An engine whose worker writes to a store that can be down. Clients read the store directly. */
async function engineWith(
  model: Parameters<typeof shop>[0],
): Promise<{ engine: Engine; store: BreakableLog; log: EventLog }> {
  const log = await fileLog();
  const store = breakable(log);
  const live = createLocalLiveChannel();
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    eventLog: { log, live },
    workerLog: { log: store.log, live },
  });
  return { engine, store, log };
}

test('while the store is down turns run and answers are taken, and the log catches up afterwards', {
  ...promise('G224'),
}, async () => {
  const model = script(says('one'), calls('customer.ask', { question: 'A?' }), says('two'));
  const { engine, store } = await engineWith(model);
  const { talk } = await engine.ask();
  store.isDown = true;
  await engine.send(talk, 'more');
  await engine.reaches(talk, 'awaiting_input');
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await engine.idle(talk);
  await until('the store was missed', () => store.refused > 0);
  store.isDown = false;
  expect((await engine.logTypes(talk)).slice(-3)).toEqual([
    'model_call',
    'assistant_message',
    'turn_ended',
  ]);
});

test('a roll-over while the store is down carries the unstored events, and none is missing afterwards', async () => {
  const model = script(says('one'), says('two'), says('three'));
  const { engine, store } = await engineWith(model);
  const { talk } = await engine.ask();
  await engine.log(talk);
  store.isDown = true;
  const second = await engine.send(talk, 'more');
  await engine.idle(talk);
  for (const runs of [2, 3]) {
    await engine.signal(talk, 'rollOver');
    const rolled = async (): Promise<number> =>
      (await engine.history.runs(engine.workflowId(talk))).length;
    await until('it rolled over', rolled, { holds: (count) => count === runs });
  }
  await engine.send(talk, 'and more');
  await engine.idle(talk);
  store.isDown = false;
  expect((await engine.log(talk)).filter(({ type }) => type === 'rolled_over')).toHaveLength(2);
  expect(await second.result()).toMatchObject({ status: 'completed', text: 'two' });
});

test('closing while the store is down still ends the workflow, and a sweep of another process completes the log', async () => {
  const { engine, store, log } = await engineWith(script(says('one')));
  const { talk } = await engine.ask();
  await engine.log(talk);
  store.isDown = true;
  await engine.send(talk, 'never answered, the script is over');
  await engine.idle(talk);
  await talk.close();
  const ended = async (): Promise<string> => (await engine.handle(talk).describe()).status.name;
  await until('it ended', ended, { holds: (name) => name === 'COMPLETED' });
  const live = createLocalLiveChannel();
  const source = createWorkflowSource(engine.temporal);
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  expect(await sweep.pass()).toMatchObject({ asked: 1 });
  await sweep.stop();
  const read = await log.read({ tenant: 'default', conversationId: talk.id });
  expect(read?.events.at(-1)?.type).toBe('conversation_closed');
});

test('when every hint is lost, a sweep brings the log up to date', promise('G257'), async () => {
  // A server of this test's own, because the sweep looks at everything that runs there.
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const log = await fileLog();
  const live = createLocalLiveChannel();
  // The worker projects into another store, as if all its hints for this one were lost.
  const elsewhere = await fileLog();
  const engine = await startEngine({
    agents: [shop(script(says('one'), says('two')))],
    services: ledger(),
    eventLog: { log, live },
    workerLog: { log: elsewhere, live: createLocalLiveChannel() },
    address: server.address,
  });
  const talk = engine.begin();
  await engine.send(talk, 'hi');
  await engine.idle(talk);
  const key = { tenant: 'default', conversationId: talk.id };
  expect(await log.head(key)).toBeUndefined();
  const source = createWorkflowSource(engine.temporal);
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  const swept = async (): Promise<number> => {
    await sweep.pass();
    return (await log.head(key))?.lastSeq ?? 0;
  };
  // The server lists a workflow a moment after its start.
  await until('the sweep finds it', swept, { holds: (seq) => seq === 6 });
  await engine.send(talk, 'more');
  await engine.idle(talk);
  expect((await log.head(key))?.lastSeq).toBe(6);
  await until('the sweep looks again', swept, { holds: (seq) => seq === 11 });
  await sweep.stop();
  await engine.log(talk);
});
