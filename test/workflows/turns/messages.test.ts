import { expect, test } from 'vitest';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';

test('a message that comes while a turn runs is refused, unless it asks to be queued', async () => {
  const model = new HeldModel(script(says('one'), says('two')));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  const first = await talk.send('a');
  await expect(talk.send('b')).rejects.toMatchObject({ code: 'busy', httpStatus: 409 });
  const second = await talk.send('c', { onBusy: 'queue' });
  expect(second).toMatchObject({ status: 'admitted', ahead: 1 });
  expect((await engine.snapshot(talk)).queued).toHaveLength(1);
  model.release();
  expect(await first.result()).toMatchObject({ status: 'completed', text: 'one' });
  expect(await second.result()).toMatchObject({ status: 'completed', text: 'two' });
  expect((await engine.logTypes(talk)).slice(1, 5)).toEqual([
    ...['user_message', 'turn_started', 'user_message', 'model_call'],
  ]);
});

test('ten simultaneous messages become ten turns, one after the other', async () => {
  const model = script(...Array.from({ length: 10 }, (_, index) => says(`answer ${index}`)));
  const engine = await startEngine({
    agents: [shop(model, { onBusy: 'queue' })],
    services: ledger(),
  });
  const talk = engine.begin();
  const turns = await Promise.all(
    Array.from({ length: 10 }, (_, index) => talk.send(`message ${index}`)),
  );
  const results = await Promise.all(turns.map((turn) => turn.result({ timeout: '30s' })));
  expect(results.map(({ status }) => status)).toEqual(Array<string>(10).fill('completed'));
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'turn_ended')).toHaveLength(10);
  const order = log.flatMap((event) => (event.type === 'user_message' ? [event.turnId] : []));
  const ran = log.flatMap((event) => (event.type === 'turn_started' ? [event.turnId] : []));
  expect(ran).toEqual(order);
});

test('a message that can wait is refused behind a full queue: the hundred and first', async () => {
  const model = new HeldModel(script(says('one')));
  const engine = await startEngine({
    agents: [shop(model, { onBusy: 'queue' })],
    services: ledger(),
  });
  model.held = true;
  const talk = engine.begin();
  await talk.send('first');
  for (let index = 0; index < 100; index += 1)
    await engine.signal(talk, 'sendMessage', { text: `m${index}` });
  await expect(talk.send('one more')).rejects.toMatchObject({
    code: 'queue_full',
    httpStatus: 429,
  });
  expect((await engine.snapshot(talk)).queued).toHaveLength(100);
  await talk.close();
});

test('a conversation never changes its agent', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('hi'))), { ...shop(script()), name: 'other' }],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const before = await engine.history.count(engine.workflowId(talk));
  const wrong = engine.client.conversation(talk.id, { agent: 'other' });
  await expect(wrong.send('hi')).rejects.toMatchObject({ code: 'agent_mismatch', httpStatus: 409 });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);
});
