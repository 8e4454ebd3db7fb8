import { expect, test } from 'vitest';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ASK = calls('customer.ask', { question: 'A?' });
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

test('a closed conversation refuses messages and answers, and its log says how it ended', {
  ...promise('G128'),
}, async () => {
  const engine = await startEngine({ agents: [shop(script(ASK))], services: ledger() });
  const { talk } = await engine.ask();
  const closed = await talk.close({ actor: { id: 'ann' } });
  expect(closed).toMatchObject({ closed: true });
  expect((await engine.log(talk)).slice(-3)).toMatchObject([
    { type: 'tool_result', result: { status: 'cancelled' } },
    { type: 'turn_ended', status: 'cancelled' },
    { type: 'conversation_closed', reason: 'requested', actor: { id: 'ann' } },
  ]);
  await expect(talk.send('hello?')).rejects.toMatchObject({
    code: 'conversation_closed',
    httpStatus: 410,
  });
  expect(await talk.resolve('call_1', YES)).toMatchObject({
    verdict: 'stale',
    status: 'cancelled',
  });
  expect(await talk.close()).toMatchObject({ closed: true, seq: closed.seq });
  const { status } = await engine.handle(talk).describe();
  expect(status.name).toBe('COMPLETED');
});

test('closing while the model speaks aborts its request', async () => {
  const model = new HeldModel(script(says('never')), 'Half');
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  const turn = await talk.send('hi');
  await until('the model speaks', () => model.started === 1);
  await talk.close();
  expect(await turn.result()).toMatchObject({ status: 'cancelled' });
  await until('the request is aborted', () => model.aborted === 1);
});

test('a reopened conversation continues: numbering, memory of answers and messages, and the transcript', {
  ...promise('G128'),
}, async () => {
  const model = script(
    ASK,
    says('thanks'),
    calls('customer.ask', { question: 'B?' }, { id: 'call_1' }),
    says('good'),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask('first');
  await talk.resolve('call_1', YES, { requestId: 'r1', actor: { id: 'ann' } });
  await engine.idle(talk);
  const { seq } = await talk.close();
  const again = await engine.say(talk, 'second', { reopen: true, requestId: 'm2' });
  expect(again).toMatchObject({ status: 'waiting' });
  const log = await engine.log(talk);
  expect(log.slice(seq, seq + 3).map((event) => event.type)).toEqual([
    ...['conversation_started', 'user_message', 'turn_started'],
  ]);
  expect(log[seq]).toMatchObject({ type: 'conversation_started', seq: seq + 1, reopened: true });
  expect(await talk.resolve('call_1', YES)).toMatchObject({
    verdict: 'stale',
    status: 'resolved',
    by: 'ann',
  });
  expect(await talk.resolve('call_1', YES, { requestId: 'r1' })).toMatchObject({
    verdict: 'duplicate',
  });
  const texts = model.requests[2]?.messages.map(({ role }) => role);
  expect(texts).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  const [pending] = await talk.pending();
  expect(pending?.toolCallId).not.toBe('call_1');
  await talk.resolve(pending?.toolCallId ?? '', YES);
  await engine.idle(talk);
  expect(await talk.send('second', { requestId: 'm2' })).toMatchObject({ duplicate: true });
  expect((await engine.client.conversation(talk.id).snapshot()).generation).toBe(1);
});

test('a conversation cancelled or terminated in the Temporal UI can be reopened', {
  ...promise('G199'),
}, async () => {
  const model = script(ASK, says('one'), ASK, says('two'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await engine.handle(talk).cancel();
  await until(
    'it ended',
    async () => (await engine.handle(talk).describe()).status.name === 'CANCELLED',
  );
  await expect(talk.send('hello?')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'again', { reopen: true })).toMatchObject({
    status: 'completed',
    text: 'one',
  });
  expect(await engine.say(talk, 'more')).toMatchObject({ status: 'waiting' });
  await engine.log(talk);
  await engine.handle(talk).terminate('by hand');
  await expect(talk.send('hello?')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'again', { reopen: true })).toMatchObject({
    status: 'completed',
    text: 'two',
  });
  const late = await talk.resolve('call_2', YES);
  expect(late).toMatchObject({ verdict: 'stale', status: 'cancelled' });
  await engine.log(talk);
});

test('a closed conversation cannot be reopened for another agent, and the error names the right one', async () => {
  const engine = await startEngine({
    agents: [
      shop(script(says('one'), says('one more'))),
      { ...shop(script(says('two'))), name: 'other' },
    ],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const { seq } = await talk.close();
  await engine.log(talk);
  const wrong = engine.client.conversation(talk.id, { agent: 'other' });
  await expect(wrong.send('hi', { reopen: true })).rejects.toMatchObject({
    code: 'agent_mismatch',
    problems: [{ path: '/agent', message: 'must be "shop"' }],
  });
  expect(await engine.handle(talk).result()).toEqual({ status: 'closed', lastSeq: seq });
  expect(await talk.snapshot()).toMatchObject({ status: 'closed', agent: 'shop', seq });
  await expect(talk.send('hi')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'hi', { reopen: true })).toMatchObject({ text: 'one more' });
  expect((await engine.log(talk))[seq]).toMatchObject({ agent: 'shop', reopened: true });
});
