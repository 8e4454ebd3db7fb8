/** Use: a test of an agent. No Temporal, no key, a virtual clock; the same core as in production. */
import { deepEqual } from 'node:assert/strict';
import { calls, says, script, testConversation } from 'colloquy/testing';
import { support } from '../demo/agents.js';

export async function anUnansweredRefundExpires(): Promise<void> {
  const services = {
    payments: { refund: () => Promise.reject(new Error('must not be called')) },
  };
  // #region test
  const t = testConversation(support, {
    model: script(calls('payments.refund', { paymentId: 'p_1', cents: 7_500 }), says('Sorry.')),
    services,
  });
  await t.send('Refund p_1');
  deepEqual(
    t.pending.map((call) => call.kind),
    ['approval'],
  );
  await t.advance('2 days');
  deepEqual(t.result('payments.refund'), {
    ok: false,
    error: {
      code: 'expired',
      message: 'user did not respond: the approval expired, the tool did not run',
    },
  });
  // #endregion test
}
