import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted.js';
import { Projector } from '../../src/projection/projector.js';
import { Sweep } from '../../src/projection/sweep.js';
import { createWorkflowSource } from '../../src/projection/workflow-source.js';
import { startEngine } from '../support/engine.js';
import { ledger, shop } from '../support/engine-agents.js';
import { until } from '../support/until.js';

test('a store that is restored from an old backup is refilled, over several roll-overs and a reopening', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-restored-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const [file, backup] = [join(folder, 'log.db'), join(folder, 'backup.db')];
  const model = script(
    says('one'),
    says('two'),
    says('three'),
    says('four'),
    calls('customer.ask', { question: 'A?' }),
  );
  const before = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    eventLog: file,
  });
  const { talk } = await before.ask('first');
  const saved = await before.log(talk);
  const copying = new DatabaseSync(file);
  copying.exec(`VACUUM INTO '${backup}'`);
  copying.close();

  const runs = async (): Promise<number> =>
    (await before.history.runs(before.workflowId(talk))).length;
  const rollOver = async (count: number): Promise<void> => {
    await before.signal(talk, 'rollOver');
    await until('it rolled over', runs, { holds: (found) => found === count, timeoutMs: 25_000 });
  };
  await before.say(talk, 'second');
  await rollOver(2);
  await before.say(talk, 'third');
  await rollOver(3);
  await talk.close();
  const isOver = async () => (await before.handle(talk).describe()).status.name !== 'RUNNING';
  await until('its run is over', isOver, { timeoutMs: 15_000 });
  await before.say(talk, 'fourth', { reopen: true });
  // Counted are the runs of the new chain.
  await rollOver(2);
  const waiting = await before.say(talk, 'fifth');
  expect(waiting.status).toBe('waiting');
  const all = await before.log(talk);
  expect(all.filter(({ type }) => type === 'rolled_over')).toHaveLength(3);
  await before.close();

  const after = await startEngine({
    agents: [shop(script(says('six')))],
    services: ledger(),
    eventLog: backup,
    taskQueue: before.taskQueue,
  });
  const { log, live } = after.opened;
  const key = { tenant: 'default', conversationId: talk.id };
  expect((await log.head(key))?.lastSeq).toBe(saved.length);
  const source = createWorkflowSource(after.temporal);
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  onTestFinished(() => sweep.stop());
  const refilled = async (): Promise<number> => {
    await sweep.pass();
    return (await log.head(key))?.lastSeq ?? 0;
  };
  await until('the log is whole again', refilled, {
    holds: (seq) => seq >= all.length,
    timeoutMs: 30_000,
  });
  const read = await log.read(key);
  expect(read).toMatchObject({ generation: 1, events: all });
  // What waits can be listed, and answered.
  const listed = await after.client.list({ pendingTool: 'customer.ask' });
  expect(listed.conversations.map(({ conversationId }) => conversationId)).toEqual([talk.id]);
});
