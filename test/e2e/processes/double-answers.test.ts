/** Several processes answer the same call at the same moment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { call } from '../support/api.js';
import { startWorld, type World } from '../support/world.js';

const ROUNDS = 6;
/** Ten simultaneous answers, a hundred times. */
const BATCHES = 5;
const CALLS_PER_BATCH = 20;
const ANSWERS = 10;

let world: World;
let secondApi: string;
beforeAll(async () => {
  world = await startWorld();
  secondApi = (await world.startApi(0)).url;
  refunds('refund them all', ROUNDS, 'p');
  for (let batch = 0; batch < BATCHES; batch += 1)
    refunds(`refund batch ${batch}`, CALLS_PER_BATCH, `b${batch}`);
});

/** Makes the model request `count` gated refunds in one step. */
function refunds(message: string, count: number, prefix: string): void {
  world.model.answer(message, ({ results }) =>
    results.length > 0
      ? { text: 'done' }
      : {
          calls: Array.from({ length: count }, (_, index) => ({
            name: 'payments.refund',
            input: { paymentId: `${prefix}_${index + 1}`, cents: 7_500 },
          })),
        },
  );
}
afterAll(() => world.stop());

describe('simultaneous approvals from two processes', () => {
  it('are accepted once and stale for the other, in every round, and the tool runs once', {
    ...promise('G33'),
  }, async () => {
    const talk = world.talk('double');
    await talk.begin('support', 'refund them all');
    const calls = (await talk.waitingCalls(ROUNDS)).map(({ toolCallId }) => toolCallId);
    for (const [round, toolCallId] of calls.entries()) {
      // The APIs alternate, so that the first request does not always go to the same one.
      const apis =
        round % 2 === 0
          ? ([world.apiUrl, secondApi] as const)
          : ([secondApi, world.apiUrl] as const);
      const replies = await Promise.all(
        apis.map((url) =>
          call(`${url}/v1/conversations/${talk.id}/tool-calls/${toolCallId}/resolution`, {
            body: { resolution: { type: 'approve' }, actor: { id: url } },
          }),
        ),
      );
      const said = replies.map(({ status, body }) => [status, body['verdict']]);
      expect(said.toSorted()).toEqual([
        [200, 'accepted'],
        [409, 'stale'],
      ]);
      const winner = replies.findIndex(({ status }) => status === 200);
      expect(replies[1 - winner]?.body).toMatchObject({
        why: 'already_resolved',
        by: apis[winner],
      });
    }
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'done' });
    const paid = await world.lines('refunds.jsonl');
    expect(paid.map((refund) => refund['paymentId']).toSorted()).toEqual(
      calls.map((_, index) => `p_${index + 1}`),
    );
    expect(await talk.eventsOf('resolution')).toHaveLength(ROUNDS);
  });
});

describe('ten simultaneous approvals of one call from two processes, a hundred times', () => {
  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'one is accepted, the others are stale, or duplicates if they share a request id; the tool runs once (batch %i)',
    { ...promise('G32'), timeout: patient(120_000) },
    async (batch) => {
      const talk = world.talk(`batch-${batch}`);
      await talk.begin('support', `refund batch ${batch}`);
      const calls = await talk.waitingCalls(CALLS_PER_BATCH);
      for (const [round, { toolCallId }] of calls.entries()) {
        const shared = round % 2 === 1;
        const replies = await Promise.all(
          Array.from({ length: ANSWERS }, (_, index) => {
            const url = index % 2 === 0 ? world.apiUrl : secondApi;
            return call(`${url}/v1/conversations/${talk.id}/tool-calls/${toolCallId}/resolution`, {
              body: { resolution: { type: 'approve' }, actor: { id: 'ann' } },
              headers: { 'idempotency-key': shared ? 'one' : `key-${index}` },
            });
          }),
        );
        const verdicts = replies.map(({ body }) => body['verdict']).toSorted();
        const losers = Array.from({ length: ANSWERS - 1 }, () => (shared ? 'duplicate' : 'stale'));
        expect(verdicts).toEqual(['accepted', ...losers]);
      }
      expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'done' });
      const paid = (await world.lines('refunds.jsonl')).map((refund) =>
        String(refund['paymentId']),
      );
      const ours = paid.filter((id) => id.startsWith(`b${batch}_`));
      expect(ours).toHaveLength(CALLS_PER_BATCH);
      expect(new Set(ours).size).toBe(CALLS_PER_BATCH);
    },
  );
});
