import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { calls, callsAll, responds, says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { typeOf } from '../../support/engine/history.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = { paymentId: 'p1', cents: 900 };
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

/** Requests a roll-over and waits until the next run has begun. */
async function rollOver(engine: Engine, talk: Conversation): Promise<string> {
  const { runId } = await engine.history.describe(engine.workflowId(talk));
  await engine.signal(talk, 'rollOver');
  const next = async (): Promise<string> =>
    (await engine.history.describe(engine.workflowId(talk))).runId;
  return await until('a new run begins', next, { holds: (id) => id !== runId });
}

test('an approval, a question and a browser call keep waiting through a roll-over, with their deadlines and timers', {
  ...promise('G200', 'S43', 'A56', 'C22', 'T12'),
}, async () => {
  const services = ledger();
  const model = script(
    callsAll([
      { name: 'payments.refund', input: REFUND },
      { name: 'customer.ask', input: { question: 'A?' } },
      { name: 'cart.read', input: {} },
    ]),
    says('all done'),
  );
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk } = await engine.ask();
  const before = (await engine.snapshot(talk)).pending;
  const runId = await rollOver(engine, talk);
  const after = await engine.snapshot(talk);
  expect(after.pending).toEqual(before);
  const timers = async (): Promise<readonly string[]> => {
    const events = await engine.history.events(engine.workflowId(talk), runId);
    return events.flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
      timer ? [String(JSON.parse(Buffer.from(userMetadata?.summary?.data ?? []).toString()))] : [],
    );
  };
  const armed = await until('the timers run again', timers, { holds: (all) => all.length === 3 });
  expect(armed).toEqual(
    before.map(({ kind, name, deadline }) => `${kind} ${name} until ${deadline}`),
  );
  expect(
    (await talk.resolve('call_3', { type: 'result', value: { items: ['tea'] } })).verdict,
  ).toBe('accepted');
  expect(
    (await talk.resolve('call_1', { type: 'approve' }, { actor: { id: 'boss' } })).verdict,
  ).toBe('accepted');
  expect((await talk.resolve('call_2', YES)).verdict).toBe('accepted');
  expect((await engine.idle(talk)).status).toBe('idle');
  expect(services.runs).toHaveLength(1);
  expect(services.runs[0]?.ctx.approver?.id).toBe('boss');
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'rolled_over')).toMatchObject([
    { reason: 'requested', droppedMessages: 0 },
  ]);
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
  ]);
});

test('right after a roll-over a second answer to an earlier call is stale and a repeated request is a duplicate', {
  ...promise('G200', 'S8', 'T12'),
}, async () => {
  const model = script(calls('customer.ask', { question: 'A?' }), says('ok'), says('more'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const talk = engine.begin();
  await (await engine.send(talk, 'hi', { requestId: 'm1' })).result();
  const first = await talk.resolve('call_1', YES, { requestId: 'r1', actor: { id: 'ann' } });
  await engine.idle(talk);
  await rollOver(engine, talk);
  const verdicts = await Promise.all([
    talk.resolve('call_1', YES),
    talk.resolve('call_1', YES, { requestId: 'r1' }),
  ]);
  expect(verdicts).toMatchObject([
    { verdict: 'stale', status: 'resolved', by: 'ann' },
    { verdict: 'duplicate', first: { verdict: 'accepted', seq: 'seq' in first ? first.seq : 0 } },
  ]);
  expect(await talk.send('hi', { requestId: 'm1' })).toMatchObject({ duplicate: true, seq: 2 });
  expect(await engine.say(talk, 'next')).toMatchObject({ status: 'completed', text: 'more' });
});

test('a gated browser call that rolls over between its phases is still in its second phase', async () => {
  const model = script(calls('cart.clear', { reason: 'x' }), says('ok'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await talk.resolve('call_1', { type: 'approve' }, { actor: { id: 'ann' } });
  await rollOver(engine, talk);
  expect(await talk.resolve('call_1', { type: 'approve' })).toMatchObject({
    verdict: 'stale',
    by: 'ann',
    openKind: 'client_execution',
  });
  await talk.resolve('call_1', { type: 'result', value: 1 });
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).filter((type) => type === 'tool_result')).toHaveLength(1);
});

test('a roll-over waits for the running model call, and happens between two steps of the turn', {
  ...promise('T12'),
}, async () => {
  const model = new HeldModel(script(calls('stock', { item: 'tea' }), says('done')));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  await until('the model works', () => model.started === 1);
  await engine.signal(talk, 'rollOver');
  await engine.signal(talk, 'rollOver');
  expect((await engine.snapshot(talk)).status).toBe('streaming');
  model.release();
  expect(await turn.result({ timeout: '20s' })).toMatchObject({
    status: 'completed',
    text: 'done',
  });
  const types = await engine.logTypes(talk);
  expect(types.slice(2)).toEqual([
    ...[
      'turn_started',
      'model_call',
      'assistant_message',
      'tool_call',
      'rolled_over',
      'tool_result',
    ],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
  expect(await engine.history.runs(engine.workflowId(talk))).toHaveLength(2);
});

test('a message that comes while the conversation rolls over is answered at once and not lost', async () => {
  const replies = Array.from({ length: 12 }, (_, index) => says(`answer ${index}`));
  const engine = await startEngine({
    agents: [shop(script(says('hi'), ...replies))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  for (let round = 0; round < 6; round += 1) {
    await engine.signal(talk, 'rollOver');
    const turns = await Promise.all([
      engine.send(talk, 'a', { onBusy: 'queue' }),
      engine.send(talk, 'b', { onBusy: 'queue' }),
    ]);
    for (const turn of turns)
      expect(await turn.result({ timeout: '20s' })).toMatchObject({ status: 'completed' });
  }
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'user_message')).toHaveLength(13);
  expect(log.filter(({ type }) => type === 'turn_ended')).toHaveLength(13);
  expect(log.filter(({ type }) => type === 'rolled_over').length).toBeGreaterThanOrEqual(6);
});

test('turn ids, idempotency keys and title survive a roll-over', async () => {
  const services = ledger();
  const model = script(
    calls('payments.refund', REFUND),
    says('ok'),
    responds(({ messages }) => says(`${messages.length} messages`)),
  );
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk } = await engine.ask('first words');
  const [pending] = await talk.pending();
  await rollOver(engine, talk);
  await talk.resolve('call_1', { type: 'approve' });
  await engine.idle(talk);
  const key = services.runs[0]?.ctx.idempotencyKey;
  const chain = /^turn_(.+)_1_/.exec(pending?.turnId ?? '')?.[1] ?? '';
  expect(key?.startsWith(`default/${talk.id}/${pending?.turnId ?? ''}.1/call_1/`)).toBe(true);
  await rollOver(engine, talk);
  const turn = await engine.send(talk, 'second');
  expect(turn.turnId.startsWith(`turn_${chain}_2_`)).toBe(true);
  expect(await turn.result()).toMatchObject({ text: '5 messages' });
  const { memo } = await engine.history.describe(engine.workflowId(talk));
  expect(memo).toEqual({ title: 'first words', agent: 'shop' });
  const runs = await engine.history.runs(engine.workflowId(talk));
  expect(runs).toHaveLength(3);
  const ends = await Promise.all(
    runs.slice(0, 2).map(async (runId) => {
      const last = (await engine.history.events(engine.workflowId(talk), runId)).at(-1);
      return last === undefined ? '' : typeOf(last);
    }),
  );
  expect(ends).toEqual(['WorkflowExecutionContinuedAsNew', 'WorkflowExecutionContinuedAsNew']);
});
