import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = { paymentId: 'p1', cents: 900 };
const ASK = calls('customer.ask', { question: 'A?' });

/** The outcome of the Temporal workflow, which ends only after the log is complete. */
async function workflowEnd(engine: Engine, talk: Conversation): Promise<string> {
  const describe = async (): Promise<string> => (await engine.handle(talk).describe()).status.name;
  return await until('the workflow ends', describe, {
    holds: (name) => name !== 'RUNNING',
  });
}

function ends(log: readonly CanonicalEvent[]): readonly unknown[] {
  return log.flatMap((event) =>
    event.type === 'tool_result' ? [[event.toolCallId, event.result.status]] : [],
  );
}

test('a cancel while the model speaks aborts its request and keeps the text so far', {
  ...promise('G116', 'S41'),
}, async () => {
  const model = new HeldModel(script(says('never'), says('back again')), 'Half a sen');
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  await until('the model speaks', () => model.started === 1);
  expect((await engine.snapshot(talk)).status).toBe('streaming');
  const outcome = await turn.cancel({ reason: 'enough', actor: { id: 'ann' } });
  expect(outcome).toMatchObject({ status: 'done', cancelled: true, turnId: turn.turnId });
  expect(await turn.result()).toMatchObject({ status: 'cancelled', text: 'Half a sen' });
  expect(model.aborted).toBe(1);
  expect((await engine.logTypes(talk)).slice(2)).toEqual([
    ...['turn_started', 'cancel_requested', 'model_call', 'assistant_message', 'turn_ended'],
  ]);
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines).toContain('ActivityTaskCancelRequested');
  model.release();
  expect(await engine.say(talk, 'go on')).toMatchObject({ status: 'completed' });
});

test('a cancel while tools run aborts them, and each call has exactly one result', {
  ...promise('G116', 'S41'),
}, async () => {
  let aborted = 0;
  const services = ledger({
    'weather.lookup': async ({ ctx }) => {
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          aborted += 1;
          resolve();
        });
      });
      return 'too late';
    },
  });
  const model = script(
    callsAll([
      { name: 'weather.lookup', input: {} },
      { name: 'stock', input: { item: 'tea' } },
      { name: 'payments.refund', input: REFUND },
    ]),
    says('go on'),
  );
  const engine = await startEngine({ agents: [shop(model)], services });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  await until('two tools have run', () => services.runs.length === 2);
  const running = async (): Promise<number> => (await engine.snapshot(talk)).inFlightTools.length;
  await until('one is done', running, { holds: (count) => count === 1 });
  expect(await talk.cancel()).toMatchObject({ cancelled: true });
  expect(await turn.result()).toMatchObject({ status: 'cancelled' });
  expect(ends(await engine.log(talk))).toEqual([
    ['call_2', 'resolved'],
    ['call_1', 'cancelled'],
    ['call_3', 'cancelled'],
  ]);
  await until('the tool was aborted', () => aborted === 1);
  expect(await engine.say(talk, 'next')).toMatchObject({ status: 'completed', text: 'go on' });
  const shown = model.requests[1]?.messages.find(({ role }) => role === 'tool');
  expect(shown?.parts).toHaveLength(3);
});

test('a cancel while a call waits ends the turn, and a later answer is stale', {
  ...promise('S41'),
}, async () => {
  const engine = await startEngine({ agents: [shop(script(ASK))], services: ledger() });
  const { talk } = await engine.ask();
  expect(await talk.cancel()).toMatchObject({ status: 'done', cancelled: true });
  expect((await engine.logTypes(talk)).slice(-3)).toEqual([
    'cancel_requested',
    'tool_result',
    'turn_ended',
  ]);
  const late = await talk.resolve('call_1', { type: 'answer', value: { answer: 'yes' } });
  expect(late).toMatchObject({ verdict: 'stale', status: 'cancelled', httpStatus: 409 });
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines).toContain('TimerCanceled');
});

test('a cancel of a queued message does not affect the running turn', async () => {
  const model = new HeldModel(script(says('one')));
  const engine = await startEngine({
    agents: [shop(model, { onBusy: 'queue' })],
    services: ledger(),
  });
  model.held = true;
  const talk = engine.begin();
  const first = await talk.send('a');
  const second = await engine.send(talk, 'b');
  expect(await second.cancel()).toMatchObject({ cancelled: true, turnId: second.turnId });
  expect(await second.result()).toMatchObject({ status: 'cancelled' });
  model.release();
  expect(await first.result()).toMatchObject({ status: 'completed', text: 'one' });
});

test(
  'a cancel when no turn runs gets a verdict, and a repeated cancel counts once',
  promise('S41'),
  async () => {
    const engine = await startEngine({ agents: [shop(script(says('hi')))], services: ledger() });
    const { talk } = await engine.ask();
    expect(await talk.cancel()).toMatchObject({ status: 'done', cancelled: false });
    await engine.signal(talk, 'cancelTurn');
    expect((await engine.logTypes(talk)).at(-1)).toBe('turn_ended');
  },
);

test('a cancel from the Temporal UI ends all open calls, completes the log, and the workflow is Cancelled', {
  ...promise('G117'),
}, async () => {
  const model = script(
    callsAll([
      { name: 'customer.ask', input: { question: 'A?' } },
      { name: 'payments.refund', input: REFUND },
    ]),
  );
  const engine = await startEngine({
    agents: [shop(model, { onBusy: 'queue', whileWaiting: 'block' })],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const waiting = await talk.send('and then?');
  await engine.handle(talk).cancel();
  expect(await workflowEnd(engine, talk)).toBe('CANCELLED');
  const log = await engine.log(talk);
  expect(log.slice(-6).map(({ type }) => type)).toEqual([
    ...[
      'user_message',
      'tool_result',
      'tool_result',
      'turn_ended',
      'turn_ended',
      'conversation_closed',
    ],
  ]);
  expect(ends(log)).toEqual([
    ['call_1', 'cancelled'],
    ['call_2', 'cancelled'],
  ]);
  expect(await waiting.result()).toMatchObject({ status: 'cancelled' });
  const verdict = await talk.resolve('call_1', { type: 'answer', value: { answer: 'yes' } });
  expect(verdict).toMatchObject({ verdict: 'stale', status: 'cancelled' });
  const attributes = (await engine.handle(talk).describe()).typedSearchAttributes;
  expect(JSON.stringify(attributes)).toContain('closed');
});

test('a cancel from the Temporal UI while the model speaks aborts its request, and keeps the text so far', {
  ...promise('G117'),
}, async () => {
  const model = new HeldModel(script(says('never')), 'Half a sen');
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  await talk.send('hi');
  await until('the model speaks', () => model.started === 1);
  await engine.handle(talk).cancel();
  expect(await workflowEnd(engine, talk)).toBe('CANCELLED');
  await until('the request is aborted', () => model.aborted === 1);
  const log = await engine.log(talk);
  expect(log.slice(-3)).toMatchObject([
    { type: 'assistant_message', parts: [{ text: 'Half a sen' }], partial: true },
    { type: 'turn_ended', status: 'cancelled', text: 'Half a sen' },
    { type: 'conversation_closed', reason: 'workflow_cancelled' },
  ]);
});
