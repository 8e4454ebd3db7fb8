/** The agent on a virtual clock: no server, no key. Run by `node --test`. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { calls, says, script, testConversation } from 'colloquy/testing';
import { support } from './agents.ts';

const model = () => script(calls('refund', { paymentId: 'p_1', cents: 7_500 }), says('Done.'));

await test('a refund runs once a person has approved it', async () => {
  const t = testConversation(support, { model: model() });
  await t.send('My order arrived broken.');
  deepEqual(
    t.pending.map(({ name, reason }) => [name, reason]),
    [['refund', 'Money leaves the house']],
  );
  await t.approve('refund');
  deepEqual(t.result('refund'), { ok: true, result: { refundId: 're_p_1', cents: 7_500 } });
  equal(t.text, 'Done.');
});

await test('a refund without an approval does not run', async () => {
  const t = testConversation(support, { model: model() });
  await t.send('My order arrived broken.');
  await t.advance('2 days');
  equal(t.result('refund')?.ok, false);
});
