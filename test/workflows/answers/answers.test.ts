import { expect, test } from 'vitest';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = { paymentId: 'p1', cents: 900 };

function resultOf(log: readonly CanonicalEvent[], callId: string): unknown {
  const event = log.find((entry) => entry.type === 'tool_result' && entry.toolCallId === callId);
  return event?.type === 'tool_result' ? event.result : undefined;
}

test('an approved tool runs once, with the approved arguments and the name of the approver', {
  ...promise('G50', 'S3', 'A11', 'C31'),
}, async () => {
  const services = ledger();
  const model = script(calls('payments.refund', REFUND), says('refunded'));
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'approval', name: 'payments.refund', reason: 'Money leaves the house' }],
  });
  expect(services.runs).toEqual([]);
  const verdict = await talk.resolve(
    'call_1',
    { type: 'approve' },
    { actor: { id: 'boss', roles: ['lead'] } },
  );
  expect(verdict).toMatchObject({ verdict: 'accepted', httpStatus: 200 });
  await engine.idle(talk);
  expect(services.runs).toHaveLength(1);
  const [run] = services.runs;
  expect(run?.input).toEqual({ ...REFUND, note: 'none' });
  expect(run?.ctx.approver).toEqual({
    id: 'boss',
    roles: ['lead'],
    verified: true,
    channel: 'client',
  });
  expect(run?.ctx.requester).toMatchObject({ id: 'tester' });
  expect((await engine.logTypes(talk)).slice(3)).toEqual([
    ...['model_call', 'assistant_message', 'tool_call', 'suspension', 'resolution', 'tool_result'],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
});

test('a denied tool never runs, and the model reads the given reason or the default one', {
  ...promise('G61', 'S4', 'C32'),
}, async () => {
  const services = ledger();
  const model = script(
    callsAll([
      { name: 'payments.refund', input: REFUND },
      { name: 'payments.refund', input: REFUND },
    ]),
    says('not refunded'),
  );
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk } = await engine.ask();
  await talk.resolve('call_1', { type: 'deny', reason: 'too much' }, { actor: { id: 'boss' } });
  await talk.resolve('call_2', { type: 'deny' });
  await engine.idle(talk);
  expect(services.runs).toEqual([]);
  const log = await engine.log(talk);
  expect(resultOf(log, 'call_1')).toMatchObject({
    status: 'denied',
    envelope: { ok: false, error: { code: 'denied', message: 'too much' } },
    actor: { id: 'boss' },
  });
  expect(resultOf(log, 'call_2')).toMatchObject({
    envelope: { ok: false, error: { code: 'denied', message: 'Rejected by user' } },
  });
});

test('a gated browser call has two phases: a second approval is stale, and only a result ends it', {
  ...promise('G40', 'S6', 'A15', 'A49'),
}, async () => {
  const model = script(calls('cart.clear', { reason: 'sold out' }), says('cleared'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval' }] });
  const early = await talk.resolve('call_1', { type: 'result', value: 'cleared' });
  expect(early).toMatchObject({ verdict: 'stale', why: 'other_kind', openKind: 'approval' });
  expect(
    (await talk.resolve('call_1', { type: 'approve' }, { actor: { id: 'ann' } })).verdict,
  ).toBe('accepted');
  expect((await talk.pending())[0]).toMatchObject({
    kind: 'client_execution',
    toolCallId: 'call_1',
  });
  const again = await talk.resolve('call_1', { type: 'approve' });
  expect(again).toMatchObject({
    verdict: 'stale',
    httpStatus: 409,
    by: 'ann',
    openKind: 'client_execution',
  });
  const done = await talk.resolve('call_1', { type: 'result', value: { cleared: 3 } });
  expect(done.verdict).toBe('accepted');
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).slice(5)).toEqual([
    ...['tool_call', 'suspension', 'resolution', 'suspension', 'resolution', 'tool_result'],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
  expect(resultOf(await engine.log(talk), 'call_1')).toMatchObject({
    envelope: { ok: true, result: { cleared: 3 } },
    provenance: 'untrusted',
  });
});

test('an answer to an unknown, answered or cancelled call gets a verdict that says so and leaves no history', {
  ...promise('G41', 'A36'),
}, async () => {
  const model = script(
    calls('customer.ask', { question: 'A?' }),
    says('thanks'),
    calls('customer.ask', { question: 'B?' }),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const answer = { type: 'answer', value: { answer: 'yes' } } as const;
  await talk.resolve('call_1', answer, { actor: { id: 'ann' } });
  await engine.idle(talk);
  await engine.say(talk, 'more');
  await talk.cancel();
  await engine.idle(talk);
  const before = await engine.history.count(engine.workflowId(talk));
  const { seq } = await engine.snapshot(talk);
  expect(await talk.resolve('call_9', answer)).toMatchObject({
    verdict: 'unknown',
    what: 'tool_call',
    httpStatus: 404,
  });
  expect(await talk.resolve('call_1', answer)).toMatchObject({
    verdict: 'stale',
    status: 'resolved',
    by: 'ann',
  });
  expect(await talk.resolve('call_2', answer)).toMatchObject({
    verdict: 'stale',
    status: 'cancelled',
  });
  const nowhere = await engine.client.conversation('nobody-here').resolve('call_1', answer);
  expect(nowhere).toMatchObject({ verdict: 'unknown', what: 'conversation', httpStatus: 404 });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);
  expect((await engine.snapshot(talk)).seq).toBe(seq);
});

test('two clients answer at once: one is accepted, the other gets `stale` with the name of the first', {
  ...promise('S17', 'A52'),
}, async () => {
  const model = script(calls('customer.ask', { question: 'A?' }), says('thanks'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const other = engine.bareClient.conversation(talk.id);
  const verdicts = await Promise.all([
    talk.resolve('call_1', { type: 'answer', value: { answer: 'mine' } }, { actor: { id: 'ann' } }),
    other.resolve(
      'call_1',
      { type: 'answer', value: { answer: 'no, mine' } },
      { actor: { id: 'bob' } },
    ),
  ]);
  expect(verdicts.map(({ verdict }) => verdict).sort()).toEqual(['accepted', 'stale']);
  const winner = verdicts[0].verdict === 'accepted' ? 'ann' : 'bob';
  expect(verdicts.find(({ verdict }) => verdict === 'stale')).toMatchObject({ by: winner });
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'resolution')).toHaveLength(1);
});

test('ten simultaneous answers are recorded as one', promise('G34'), async () => {
  const model = script(calls('payments.refund', REFUND), says('refunded'));
  const services = ledger();
  const engine = await startEngine({ agents: [shop(model)], services });
  const { talk } = await engine.ask();
  const clicks = Array.from({ length: 10 }, () => talk.resolve('call_1', { type: 'approve' }));
  const verdicts = (await Promise.all(clicks)).map(({ verdict }) => verdict);
  expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(1);
  expect(verdicts.filter((verdict) => verdict === 'stale')).toHaveLength(9);
  await engine.idle(talk);
  expect(services.runs).toHaveLength(1);
  const lines = await engine.history.lines(engine.workflowId(talk));
  const accepted = lines.filter(
    (line) => line === 'WorkflowExecutionUpdateAccepted resolveToolCall',
  );
  expect(accepted).toHaveLength(1);
});

test('the verdict arrives before the next model call has answered', {
  ...promise('G46', 'S9', 'A35', 'A37', 'A38', 'A39'),
}, async () => {
  const model = new HeldModel(script(calls('customer.ask', { question: 'A?' }), says('thanks')));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  model.held = true;
  const verdict = await talk.resolve('call_1', { type: 'answer', value: { answer: 'yes' } });
  expect(verdict.verdict).toBe('accepted');
  await until('the next model call has begun', () => model.started === 2);
  expect((await engine.snapshot(talk)).status).toBe('streaming');
  model.release();
  await engine.idle(talk);
  const lines = await engine.history.lines(engine.workflowId(talk));
  const acked = lines.lastIndexOf('WorkflowExecutionUpdateCompleted');
  expect(acked).toBeGreaterThan(-1);
  expect(acked).toBeLessThan(lines.lastIndexOf('ActivityTaskScheduled callModel'));
});

test('an answer of the wrong shape is refused with the offending field, and the call stays open', {
  ...promise('G42'),
}, async () => {
  const model = script(calls('customer.ask', { question: 'A?' }), says('thanks'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const before = await engine.history.count(engine.workflowId(talk));
  for (const value of [
    { answer: 7 },
    {},
    'yes',
    { answer: 'x'.repeat(150_000), more: 'y'.repeat(60_000) },
  ]) {
    const verdict = await talk.resolve('call_1', { type: 'answer', value });
    expect(verdict).toMatchObject({ verdict: 'invalid', httpStatus: 422 });
  }
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);
  expect(await talk.pending()).toHaveLength(1);
});

test('an answer that only a worker can judge is reverted when it is wrong, and the same caller may try again', {
  ...promise('G43'),
}, async () => {
  const model = script(calls('customer.code', {}), says('thanks'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const [before] = await talk.pending();
  const wrong = await talk.resolve(
    'call_1',
    { type: 'answer', value: { code: 'abc' } },
    { requestId: 'r1' },
  );
  expect(wrong.verdict).toBe('accepted');
  await until(
    'the call is open again',
    async () => (await engine.snapshot(talk)).pending.length === 1,
  );
  const [open] = await talk.pending();
  expect(open?.deadline).toBe(before?.deadline);
  const right = await talk.resolve(
    'call_1',
    { type: 'answer', value: { code: 'ABC' } },
    { requestId: 'r1' },
  );
  expect(right.verdict).toBe('accepted');
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).slice(6)).toEqual([
    ...[
      'suspension',
      'resolution',
      'resolution_reverted',
      'suspension',
      'resolution',
      'tool_result',
    ],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
});

test('the same request id through an update and a signal counts once', promise('G35'), async () => {
  const model = script(
    calls('customer.ask', { question: 'A?' }),
    says('thanks'),
    says('hello again'),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const input = {
    toolCallId: 'call_1',
    resolution: { type: 'answer', value: { answer: 'yes' } },
    requestId: 'r1',
    actor: { id: 'ann' },
  };
  await engine.signal(talk, 'resolveToolCall', input);
  const verdict = await talk.resolve(
    'call_1',
    { type: 'answer', value: { answer: 'yes' } },
    { requestId: 'r1' },
  );
  expect(verdict).toMatchObject({
    verdict: 'duplicate',
    httpStatus: 200,
    first: { verdict: 'accepted' },
  });
  await engine.signal(talk, 'resolveToolCall', input);
  await engine.idle(talk);
  const message = { text: 'hi', requestId: 'm1', actor: { id: 'ann' } };
  const turn = await talk.send('hi', { requestId: 'm1' });
  await turn.result();
  await engine.signal(talk, 'sendMessage', message);
  expect(await talk.send('hi', { requestId: 'm1' })).toMatchObject({ duplicate: true });
  const types = await engine.logTypes(talk);
  expect(
    types.filter((type) => type === 'resolution' || type === 'resolution_refused'),
  ).toHaveLength(1);
  expect(types.filter((type) => type === 'user_message')).toHaveLength(2);
});
