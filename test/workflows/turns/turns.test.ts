import { expect, test } from 'vitest';
import { calls, callsAll, responds, says, script } from '../../../src/model/scripted/scripted.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { asksRaw } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';

const BEGIN = ['conversation_started', 'user_message', 'turn_started'] as const;
const ANSWER = ['model_call', 'assistant_message', 'turn_ended'] as const;

/** The results in the newest request to the model, as `[name, envelope]`. */
function resultsIn(messages: readonly Message[]): readonly unknown[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.parts.map(({ name, envelope }) => [name, envelope]) : [];
}

test('a message is answered, and the store and the workflow return the same log', async () => {
  const model = script(says('good day'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'good day', seq: 6 });
  expect(await engine.logTypes(talk)).toEqual([...BEGIN, ...ANSWER]);
  const page = await engine.bareClient.conversation(talk.id).events();
  expect(page.events).toEqual(await engine.log(talk));
  expect((await engine.client.conversation(talk.id).snapshot()).status).toBe('idle');
});

test('the model reads the result of a tool in a second call of the same turn', {
  ...promise('S1'),
}, async () => {
  const model = script(calls('weather.lookup', { city: 'Rome' }), says('Sunny.'));
  const services = ledger({ 'weather.lookup': () => ({ celsius: 31 }) });
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk, result } = await engine.ask('weather?');
  expect(result).toMatchObject({ status: 'completed', text: 'Sunny.' });
  expect(await engine.logTypes(talk)).toEqual([
    ...BEGIN,
    ...['model_call', 'assistant_message', 'tool_call', 'tool_result'],
    ...ANSWER,
  ]);
  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual([
    ['weather.lookup', { ok: true, result: { celsius: 31 } }],
  ]);
  expect(services.runs.map(({ name, input }) => [name, input])).toEqual([
    ['weather.lookup', { city: 'Rome' }],
  ]);
});

test('two tools and a question in one step: the tools finish, the turn waits, and the results are in call order', {
  ...promise('S2', 'A28'),
}, async () => {
  const model = script(
    callsAll([
      { name: 'weather.lookup', input: { city: 'Rome' } },
      { name: 'customer.ask', input: { question: 'Which?' } },
      { name: 'stock', input: { item: 'tea' } },
    ]),
    says('Done.'),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask('both?');
  expect(result).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'elicitation', name: 'customer.ask', prompt: { question: 'Which?' } }],
  });
  expect(model.requests).toHaveLength(1);
  const verdict = await talk.resolve('call_2', {
    type: 'answer',
    value: { answer: 'the red one' },
  });
  expect(verdict.verdict).toBe('accepted');
  await engine.idle(talk);
  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual([
    ['weather.lookup', { ok: true, result: { done: 'weather.lookup' } }],
    ['customer.ask', { ok: true, result: { answer: 'the red one' } }],
    ['stock', { ok: true, result: { done: 'stock' } }],
  ]);
  const types = await engine.logTypes(talk);
  expect(types.filter((type) => type === 'tool_result')).toHaveLength(3);
  expect(types.slice(-5)).toEqual(['resolution', 'tool_result', ...ANSWER]);
});

test('bad arguments, broken JSON, an unknown tool and a tool that throws are results, and the turn continues', {
  ...promise('S32', 'C41', 'X32'),
}, async () => {
  const model = asksRaw([
    { id: 'a', name: 'stock', argumentsJson: '{"item": 7}' },
    { id: 'b', name: 'stock', argumentsJson: '{"item": ' },
    { id: 'c', name: 'teleport', argumentsJson: '{}' },
    { id: 'd', name: 'weather.lookup', argumentsJson: '{}' },
    { id: 'e', name: 'payments.refund', argumentsJson: '{"cents": -5}' },
  ]);
  const services = ledger({
    'weather.lookup': () => {
      throw new Error('the station is on fire');
    },
  });
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'done' });
  const results = (await engine.log(talk)).flatMap((event) =>
    event.type === 'tool_result'
      ? [[event.toolCallId, event.result.status, event.result.envelope]]
      : [],
  );
  expect(results.map(([id, status]) => [id, status])).toEqual([
    ['a', 'errored'],
    ['b', 'errored'],
    ['c', 'errored'],
    ['e', 'errored'],
    ['d', 'errored'],
  ]);
  expect(results.map(([, , envelope]) => envelope)).toMatchObject([
    { ok: false, error: { code: 'invalid_input' } },
    { ok: false, error: { code: 'invalid_json' } },
    { ok: false, error: { code: 'unknown_tool' } },
    { ok: false, error: { code: 'invalid_input' } },
    {
      ok: false,
      error: {
        code: 'tool_error',
        message: 'Error in tool "weather.lookup": the station is on fire',
      },
    },
  ]);
  expect(services.runs).toHaveLength(1);
});

test('defaults of a schema reach the tool, the approver and the log', {
  ...promise('S33', 'C13'),
}, async () => {
  const model = script(calls('payments.refund', { paymentId: 'p', cents: 5 }), says('ok'));
  const services = ledger();
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk, result } = await engine.ask();
  const whole = { paymentId: 'p', cents: 5, note: 'none' };
  expect(result).toMatchObject({ status: 'waiting', pending: [{ prompt: whole }] });
  await talk.resolve('call_1', { type: 'approve' });
  await engine.idle(talk);
  expect(services.runs.map(({ input }) => input)).toEqual([whole]);
  const logged = (await engine.log(talk)).find((event) => event.type === 'tool_call');
  expect(logged).toMatchObject({ call: { input: whole } });
});

test('a call id that the model uses twice names two calls, each with one result', {
  ...promise('S49'),
}, async () => {
  const model = script(
    callsAll([
      { name: 'stock', input: { item: 'a' }, id: 'same' },
      { name: 'stock', input: { item: 'b' }, id: 'same' },
    ]),
    calls('stock', { item: 'c' }, { id: 'same' }),
    says('done'),
  );
  const services = ledger();
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed' });
  const log = await engine.log(talk);
  const asked = log.flatMap((event) => (event.type === 'tool_call' ? [event.call.toolCallId] : []));
  const ended = log.flatMap((event) => (event.type === 'tool_result' ? [event.toolCallId] : []));
  expect(new Set(asked).size).toBe(3);
  expect(asked[0]).toBe('same');
  expect([...ended].sort()).toEqual([...asked].sort());
  const keys = services.runs.map(({ ctx }) => ctx.idempotencyKey);
  expect(new Set(keys).size).toBe(3);
});

test('ids that the model repeats in a later turn name different calls', async () => {
  const model = script(
    calls('stock', { item: 'a' }, { id: 'same' }),
    says('one'),
    calls('stock', { item: 'b' }, { id: 'same' }),
    responds(({ messages }) => says(JSON.stringify(resultsIn(messages)))),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const second = await engine.say(talk, 'again');
  expect(second).toMatchObject({
    status: 'completed',
    text: '[["stock",{"ok":true,"result":{"done":"stock"}}]]',
  });
});

test('a permanently failed model call ends its turn as failed, and the next message runs', async () => {
  const model = script(says('never asked'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const failed = await engine.say(talk, 'more');
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'script_exhausted' } });
  expect((await engine.logTypes(talk)).slice(-4)).toEqual([
    'user_message',
    'turn_started',
    'model_call',
    'turn_ended',
  ]);
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
