/** Questions of a tool over days: answered late through another worker, or expired. */
import { expect, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import { ledger, shop } from '../support/engine/agents.js';
import { promise } from '../support/promise.js';
import { startTimedEngine } from '../support/started-engines/time.js';

const ADDRESS = { type: 'answer', value: { city: 'Oslo', zip: '0150' } } as const;

test('a question of a tool is answered four days later through another worker; the next one expires after five', {
  ...promise('G52'),
}, async () => {
  const runs = ledger();
  const model = script(calls('orders.place', { item: 'tea' }), says('Nobody was there.'));
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: runs });
  const { talk, result } = await engine.ask('order tea');
  expect(result).toMatchObject({ status: 'waiting', pending: [{ ask: 1 }] });
  await pass('4 days');
  await engine.stopWorker();
  await engine.startWorker();
  expect((await talk.resolve('call_1', ADDRESS)).verdict).toBe('accepted');
  const { pending } = await engine.reaches(talk, 'awaiting_input');
  expect(pending).toMatchObject([{ ask: 2, reason: 'For 900?' }]);
  await pass('4 days');
  expect((await engine.snapshot(talk)).status).toBe('awaiting_input');
  await pass('2 days');
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(log.find((event) => event.type === 'tool_result')).toMatchObject({
    result: {
      status: 'expired',
      envelope: { error: { code: 'expired', message: 'user did not respond' } },
    },
  });
  expect(runs.runs).toHaveLength(2);
  const argsDigest = pending[0]?.argsDigest ?? '';
  const late = { type: 'answer', value: true } as const;
  expect((await talk.resolve('call_1', late, { argsDigest })).verdict).toBe('expired');
});
