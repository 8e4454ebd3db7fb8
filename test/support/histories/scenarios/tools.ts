/** Conversations with tools: claimed in browsers, that ask, that run inline, with edited approvals. */
import { expect } from 'vitest';
import { calls, callsAll, fails, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Engine } from '../../engine/engine.js';
import { rollOver, type Scenario, type Talk } from './scenario.js';

const REFUND = { paymentId: 'p1', cents: 900 };

/** A call is claimed, renewed after a roll-over, lost, and claimed by another client. */
async function claimLostAndClaimedAgain(engine: Engine, talk: Talk): Promise<void> {
  const ann = { toolCallId: 'call_1', actor: { id: 'ann' }, leaseMs: 3_600_000 };
  const first = await engine.update<{ claimId: string }>(talk, 'claimToolCall', ann);
  await rollOver(engine, talk, 2);
  await engine.update(talk, 'claimToolCall', { ...ann, claimId: first.claimId });
  const [held] = (await engine.snapshot(talk)).pending;
  await engine.update(talk, 'leaseLost', {
    toolCallId: 'call_1',
    claimId: first.claimId,
    seq: held?.claim?.seq,
  });
  const ben = { id: 'ben' };
  const next = await talk.claim('call_1', { actor: ben });
  const claimId = 'claimId' in next ? next.claimId : '';
  await talk.resolve('call_1', { type: 'result', value: 3 }, { actor: ben, claimId });
  await engine.idle(talk);
  // Its timer is that of the claim timeout.
  await engine.say(talk, 'again');
}

export const SCENARIOS_OF_TOOLS: readonly Scenario[] = [
  {
    name: 'a-browser-call-claimed-lost-and-claimed-again',
    runs: 2,
    model: () => script(calls('cart.count', {}), says('done'), calls('cart.count', {})),
    play: claimLostAndClaimedAgain,
  },
  {
    name: 'questions-of-a-tool-over-roll-overs',
    runs: 2,
    model: () => script(calls('orders.place', { item: 'tea' }), says('ordered')),
    play: async (engine, talk) => {
      await rollOver(engine, talk, 2);
      for (const value of [{ city: 'Oslo', zip: 'x' }, { city: 'Oslo', zip: '0150' }, true]) {
        const [question] = (await engine.snapshot(talk)).pending;
        const argsDigest = question?.argsDigest ?? '';
        await talk.resolve('call_1', { type: 'answer', value }, { argsDigest });
        if (value !== true) await engine.reaches(talk, 'awaiting_input');
      }
      await engine.idle(talk);
    },
  },
  {
    name: 'failed-model-attempts',
    runs: 2,
    model: () =>
      script(
        ...[says(''), says('here'), says('')],
        fails('model_content_filtered', { retryable: false }),
        says('and on'),
      ),
    play: async (engine, talk) => {
      expect(await engine.say(talk, 'again')).toMatchObject({ status: 'failed' });
      const taken = (await engine.log(talk)).filter(({ type }) => type === 'model_call');
      expect(taken).toMatchObject([
        { attempt: 2, earlierUsage: { inputTokens: 10, outputTokens: 5 } },
        {
          ...{ attempt: 2, finishReason: 'failed', usage: { inputTokens: 10, outputTokens: 5 } },
          failedAttempts: [{ code: 'model_empty_answer' }, { code: 'model_content_filtered' }],
        },
      ]);
      await rollOver(engine, talk, 2);
      await engine.say(talk, 'and on');
      await engine.idle(talk);
    },
  },
  {
    name: 'inline-tools',
    model: () =>
      script(
        callsAll([
          { name: 'clock.read', input: {} },
          { name: 'clock.gated', input: {} },
          { name: 'clock.read', input: {} },
        ]),
        says('noon'),
        calls('clock.read', {}),
        says('still noon'),
      ),
    play: async (engine, talk) => {
      await talk.resolve('call_2', { type: 'approve' });
      await engine.idle(talk);
      await engine.say(talk, 'and now?');
      await engine.idle(talk);
    },
  },
  {
    name: 'edited-and-remembered-approvals',
    model: () =>
      script(
        calls('payments.refund', REFUND),
        says('one'),
        calls('payments.refund', REFUND),
        says('two'),
        calls('payments.refund', REFUND),
        says('three'),
      ),
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'approve', input: { ...REFUND, cents: 5 } });
      await engine.idle(talk);
      await engine.say(talk, 'again');
      const [second] = await talk.pending();
      const remember = { for: 'conversation' } as const;
      await talk.resolve(second?.toolCallId ?? '', { type: 'approve', remember });
      await engine.idle(talk);
      await engine.say(talk, 'once more');
      await engine.idle(talk);
    },
  },
];
