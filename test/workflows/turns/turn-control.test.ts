/** Messages during a running turn, and the limits of a turn, on a real server. */
import { expect, test } from 'vitest';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { HeldModel } from '../../support/engine/models.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ASK = calls('customer.ask', { question: 'Which one?' });

test('a message that interrupts aborts the model call, and the next turn answers it', async () => {
  const model = new HeldModel(script(says('instead')), 'Once upon');
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  model.held = true;
  const talk = engine.begin();
  const first = await engine.send(talk, 'a story');
  await until('the model speaks', () => model.started === 1);
  const second = await engine.send(talk, 'no, a poem', { onBusy: 'interrupt' });
  expect(second).toMatchObject({ ahead: 0 });
  await until('the model call is aborted', () => model.aborted === 1);
  model.release();
  expect(await first.result()).toMatchObject({ status: 'cancelled', text: 'Once upon' });
  expect(await second.result()).toMatchObject({ status: 'completed', text: 'instead' });
});

test('a message that steers is read by the next model call of the turn, and both senders get its end', async () => {
  const engine = await startEngine({
    agents: [shop(script(ASK, says('the red one, gift-wrapped')), { whileWaiting: 'block' })],
    services: ledger(),
  });
  const talk = engine.begin();
  const first = await engine.send(talk, 'buy it');
  const { pending } = await engine.reaches(talk, 'awaiting_input');
  const second = await engine.send(talk, 'gift-wrapped', { onBusy: 'steer' });
  expect(second).toMatchObject({ turnId: first.turnId, ahead: 0 });
  const answer = { type: 'answer', value: { answer: 'the red one' } } as const;
  const verdict = await talk.resolve(pending[0]?.toolCallId ?? '', answer);
  expect(verdict).toMatchObject({ verdict: 'accepted' });
  const end = { status: 'completed', turnId: first.turnId, text: 'the red one, gift-wrapped' };
  expect(await second.result()).toMatchObject(end);
  expect(await first.result()).toMatchObject(end);
});

test('a turn past its time limit ends with a message that names the limit, and its question ends as well', async () => {
  const engine = await startEngine({
    agents: [shop(script(ASK, says('never')), { budgets: { time: '2s' } })],
    services: ledger(),
  });
  const { talk, result } = await engine.ask('buy it');
  expect(result).toMatchObject({ status: 'waiting' });
  const [pending] = result.status === 'waiting' ? result.pending : [];
  const id = pending?.toolCallId ?? '';
  const ended = await until('the time is over', async () =>
    (await engine.log(talk)).find(({ type }) => type === 'turn_ended'),
  );
  expect(ended).toMatchObject({
    status: 'completed',
    reason: 'time_budget',
    text: 'Exceeded the time budget of this turn (2000ms). Stopping.',
  });
  expect(await talk.resolve(id, { type: 'answer', value: 'red' })).toMatchObject({
    verdict: 'stale',
    status: 'cancelled',
  });
});

test('sequential calls are planned one at a time, and end in order', {
  ...promise('G110'),
}, async () => {
  const services = ledger();
  const engine = await startEngine({
    agents: [
      shop(
        script(
          callsAll([
            { name: 'payments.refund', input: { paymentId: 'p1', cents: 1 } },
            { name: 'stock', input: { item: 'tea' } },
          ]),
          says('done'),
        ),
        { toolExecution: 'sequential' },
      ),
    ],
    services,
  });
  const { talk, result } = await engine.ask('first the one, then the other');
  expect(result).toMatchObject({ status: 'waiting', pending: [{ name: 'payments.refund' }] });
  expect(services.runs).toEqual([]);
  const [pending] = result.status === 'waiting' ? result.pending : [];
  await talk.resolve(pending?.toolCallId ?? '', { type: 'approve' });
  await engine.idle(talk);
  expect(services.runs.map(({ name }) => name)).toEqual(['payments.refund', 'stock']);
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines.filter((line) => line.startsWith('ActivityTaskScheduled'))).toEqual([
    ...['callModel', 'runTool', 'planCall', 'runTool', 'callModel'].map(
      (name) => `ActivityTaskScheduled ${name}`,
    ),
  ]);
});

test('a message while a question is open is answered; the later answer to the question is read as well', {
  ...promise('G113'),
}, async () => {
  const engine = await startEngine({
    agents: [
      // `onBusy` applies to a working turn, not to a waiting one.
      shop(script(ASK, says('by the way!'), says('the red one, then')), { onBusy: 'queue' }),
    ],
    services: ledger(),
  });
  const { talk } = await engine.ask('buy it');
  const [question] = await talk.pending();
  expect(await engine.say(talk, 'by the way?')).toMatchObject({
    status: 'completed',
    text: 'by the way!',
  });
  expect(await talk.pending()).toMatchObject([{ kind: 'elicitation', detached: true }]);
  const answered = await talk.resolve(question?.toolCallId ?? '', {
    type: 'answer',
    value: { answer: 'red' },
  });
  expect(answered).toMatchObject({ verdict: 'accepted' });
  const last = await until(
    'the answer was read',
    async () => (await engine.log(talk)).filter(({ type }) => type === 'turn_ended')[1],
  );
  expect(last).toMatchObject({ status: 'completed', text: 'the red one, then' });
});
