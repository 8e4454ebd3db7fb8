import { expect, test } from 'vitest';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { until } from '../../support/until.js';

async function anEngine(model: Parameters<typeof shop>[0]) {
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { log, live } = engine.opened;
  const source = createWorkflowSource(engine.temporal);
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  return { engine, log, source, sweep };
}

test('a conversation terminated while it waited is shown as closed, and its turn as failed', async () => {
  const { engine, log, source, sweep } = await anEngine(
    script(calls('customer.ask', { question: 'A?' })),
  );
  const talk = engine.begin();
  const key = { tenant: 'default', conversationId: talk.id };
  const turn = await engine.send(talk, 'hello');
  await engine.reaches(talk, 'awaiting_input');
  const before = await engine.log(talk);
  await engine.handle(talk).terminate('by hand');
  await expect(source.events(key, { after: 0 })).rejects.toThrow('ended from outside');
  const closed = async (): Promise<string | undefined> => {
    await sweep.pass();
    return (await log.head(key))?.snapshot.status;
  };
  await until('the sweep closes it', closed, { holds: (status) => status === 'closed' });
  await sweep.stop();
  const read = await log.read(key);
  expect(read?.events.slice(0, -1)).toEqual(before);
  expect(read?.events.at(-1)).toMatchObject({ type: 'run_ended', status: 'terminated' });
  expect(await turn.result({ timeout: '5s' })).toMatchObject({
    status: 'failed',
    error: { code: 'conversation_closed' },
  });
});

test('runs that rolled over or were cancelled still return their events', async () => {
  const { engine, source } = await anEngine(script(says('one'), says('two')));
  const { talk } = await engine.ask();
  const key = { tenant: 'default', conversationId: talk.id };
  const first = await source.describe(key);
  await engine.signal(talk, 'rollOver');
  const rolled = async () => await source.describe(key);
  await until('it rolled over', rolled, { holds: (run) => run?.runId !== first?.runId });
  const page = await source.events(key, { after: 0, ...(first && { runId: first.runId }) });
  expect(page.events[0]?.type).toBe('conversation_started');
  await engine.handle(talk).cancel();
  const ended = await until('it ended', rolled, { holds: (run) => run?.status === 'closed' });
  expect(ended?.endedBy).toBeUndefined();
  const last = await source.events(key, { after: 0 });
  expect(last.events.at(-1)?.type).toBe('conversation_closed');
});
