/**
 * Overload as a conversation experiences it: no task completes within the time that callers wait, so their inputs
 * become signals. No input is lost, every caller gets a verdict, and the log grows with the accepted inputs only.
 */
import { expect, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import { MAX_RECORDED_REFUSALS, MAX_REFUSED_MESSAGES } from '../../src/protocol/limits/limits.js';
import { ledger, shop } from '../support/engine/agents.js';
import { startEngine } from '../support/engine/engine.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

const ANSWERS = 40;
const MESSAGES = 30;

test('many answers while no task completes each get a verdict, and leave a short log', {
  ...promise('G31'),
  timeout: patient(120_000),
}, async () => {
  const engine = await startEngine({
    agents: [shop(script(calls('customer.ask', { question: 'A?' }), says('thanks')))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const before = await engine.log(talk);
  await engine.stopWorker();
  const sending = Promise.all([
    Promise.all(
      Array.from({ length: ANSWERS }, (_, nth) =>
        talk.resolve(
          'call_1',
          { type: 'answer', value: { answer: `${nth}` } },
          { actor: { id: `user-${nth}` } },
        ),
      ),
    ),
    Promise.all(
      Array.from({ length: MESSAGES }, (_, nth) =>
        talk.send('and this?', { requestId: `m-${nth}`, onBusy: 'reject' }),
      ),
    ),
  ]);
  const [answers, messages] = await sending;
  expect(new Set(answers.map(({ verdict }) => verdict))).toEqual(new Set(['queued']));
  expect(new Set(messages.map(({ status }) => status))).toEqual(new Set(['queued']));
  await engine.startWorker();
  const verdicts = await Promise.all(
    answers.map((answer) => answer.final({ timeout: patient(30_000) })),
  );
  expect(verdicts.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(1);
  expect(verdicts.filter(({ verdict }) => verdict === 'stale')).toHaveLength(ANSWERS - 1);
  await engine.idle(talk);

  const log = await engine.log(talk);
  const since = log.slice(before.length);
  const ofType = (type: string) => since.filter((event) => event.type === type);
  expect(ofType('resolution')).toHaveLength(1);
  expect(ofType('resolution_refused')).toHaveLength(MAX_RECORDED_REFUSALS);
  // Messages before the answer found a waiting turn, and no message began a turn.
  expect(ofType('user_message')).toEqual([]);
  expect(ofType('message_refused')).toHaveLength(MAX_REFUSED_MESSAGES);
  const counted = since.reduce((sum, { unrecordedRefusals = 0 }) => sum + unrecordedRefusals, 0);
  expect(counted).toBe(ANSWERS - 1 - MAX_RECORDED_REFUSALS + MESSAGES - MAX_REFUSED_MESSAGES);
  const others = since.filter(({ type }) => !type.endsWith('_refused'));
  expect(others.length).toBeLessThan(12);
});
