import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const report = defineTool({
  name: 'report.make',
  description: 'Makes a report elsewhere.',
  executor: 'external',
  mode: 'detach',
  input: z.object({}),
});
const scan = defineTool({
  name: 'scan.run',
  description: 'Scans elsewhere.',
  executor: 'external',
  input: z.object({}),
  timeouts: { answer: '300ms' },
});
const pay = defineTool({
  name: 'pay.out',
  description: 'Pays.',
  mode: 'detach',
  approval: 'required',
  input: z.object({ cents: z.int() }),
  run: ({ cents }) => ({ paid: cents }),
});
let release = (): void => undefined;
const slow = defineTool({
  name: 'slow.work',
  description: 'Works beside the talk.',
  mode: 'detach',
  input: z.object({}),
  run: async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { done: true };
  },
});
async function rollOver(engine: Engine, talk: Conversation): Promise<void> {
  await engine.signal(talk, 'rollOver');
  await until('the run has rolled over', async () =>
    (await engine.log(talk)).some(({ type }) => type === 'rolled_over'),
  );
}

const agentOf = (model: Model) =>
  defineAgent({ name: 'desk', model, instructions: 'Help.', tools: [report, scan, slow, pay] });

test('a detached call lets the turn end, keeps waiting through a roll-over, and its result starts a turn, once', {
  ...promise('G83', 'G248'),
}, async () => {
  const model = script(calls('report.make', {}), says('Asked for it.'), says('Here it is.'));
  const engine = await startEngine({ agents: [agentOf(model)], services: undefined });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'Asked for it.' });
  expect(await talk.pending()).toMatchObject([{ toolCallId: 'call_1', detached: true }]);
  expect((await talk.snapshot()).status).toBe('awaiting_input');
  const query = `WorkflowId = '${engine.workflowId(talk)}' AND ColloquyStatus = 'awaiting_input'`;
  const visible = () => engine.temporal.workflow.count(query);
  await until('the server lists it so', visible, {
    holds: ({ count }) => count === 1,
  });
  await rollOver(engine, talk);
  const verdicts = await Promise.all(
    ['r-1', 'r-2', 'r-3'].map((requestId) =>
      talk.resolve('call_1', { type: 'result', value: { pages: 3 } }, { requestId }),
    ),
  );
  expect(verdicts.map(({ verdict }) => verdict).sort()).toEqual(['accepted', 'stale', 'stale']);
  await until('the second turn has ended', async () => (await engine.logTypes(talk)).at(-1), {
    holds: (type) => type === 'turn_ended',
  });
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'inbox_event')).toMatchObject([
    { eventId: 'tr:call_1' },
  ]);
  expect(log.filter(({ type }) => type === 'turn_ended')).toHaveLength(2);
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain(
    '[Tool result: report.make] (call call_1)',
  );
});

test('a detached server tool runs beside the turns, and a roll-over does not make them wait for it', {
  ...promise('G84'),
}, async () => {
  const model = script(
    callsAll([{ name: 'slow.work', input: {} }]),
    says('It works.'),
    says('Still.'),
    says('Done.'),
  );
  const engine = await startEngine({ agents: [agentOf(model)], services: undefined });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'It works.' });
  await engine.signal(talk, 'rollOver');
  const second = await talk.send('and now?');
  expect(await second.result({ timeout: '10s' })).toMatchObject({ text: 'Still.' });
  await until('the tool runs', () => release.name, { holds: (name) => name !== 'release' });
  release();
  await until('its result was read', async () => (await engine.snapshot(talk)).status, {
    holds: (status) => status === 'idle' && model.requests.length === 4,
  });
  expect((await engine.log(talk)).filter(({ type }) => type === 'inbox_event')).toHaveLength(1);
});

test('a result after the deadline is accepted late, once, and the model reads it', {
  ...promise('G82', 'S21'),
}, async () => {
  const model = script(calls('scan.run', {}), says('Nothing came.'), says('It came.'));
  const engine = await startEngine({ agents: [agentOf(model)], services: undefined });
  const { talk } = await engine.ask();
  await engine.idle(talk);
  await rollOver(engine, talk);
  const late = await talk.resolve('call_1', { type: 'result', value: 7 }, { requestId: 'r' });
  expect(late).toMatchObject({ verdict: 'accepted_late', httpStatus: 200 });
  const repeated = await talk.resolve('call_1', { type: 'result', value: 7 }, { requestId: 'r' });
  expect(repeated).toMatchObject({ verdict: 'duplicate', first: { verdict: 'accepted_late' } });
  expect(await talk.resolve('call_1', { type: 'result', value: 8 })).toMatchObject({
    verdict: 'stale',
  });
  await until('it was read', () => model.requests.length, { holds: (length) => length === 3 });
});

test('an event of another system starts a conversation; copies and imitations of it change nothing', {
  ...promise('G126'),
}, async () => {
  const model = script(says('Noted.'));
  const engine = await startEngine({ agents: [agentOf(model)], services: undefined });
  const talk = engine.client.conversation('evented', { agent: 'desk' });
  const event = { eventId: 'evt-1', kind: 'payment.settled', payload: { cents: 5 } };
  const first = await talk.sendEvent(event);
  expect(first).toMatchObject({ status: 'admitted', duplicate: false });
  await engine.idle(talk);
  expect(await talk.sendEvent(event)).toMatchObject({ status: 'admitted', duplicate: true });
  await expect(talk.sendEvent({ ...event, payload: 6 })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ path: '/eventId' }],
  });
  await expect(talk.sendEvent({ ...event, eventId: 'tr:call_1' })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  expect(model.requests).toHaveLength(1);
  await talk.close();
  await expect(talk.sendEvent({ ...event, eventId: 'evt-2' })).rejects.toMatchObject({
    code: 'conversation_closed',
  });
});

test('a detached call approved with a new input after its turn has ended runs with that input, once', async () => {
  const model = script(calls('pay.out', { cents: 500 }), says('Asked.'), says('Paid.'));
  const engine = await startEngine({ agents: [agentOf(model)], services: undefined });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'Asked.' });
  const approved = await talk.resolve('call_1', { type: 'approve', input: { cents: 400 } });
  expect(approved.verdict).toBe('accepted');
  await until('the model has read the payment', () => model.requests.length, {
    holds: (n) => n === 3,
  });
  const [event] = (await engine.log(talk)).filter(({ type }) => type === 'inbox_event');
  expect(event).toMatchObject({ result: { envelope: { ok: true, result: { paid: 400 } } } });
});
