/** Several processes answer the same call at the same moment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/api.js';
import { startWorld, type World } from './support/world.js';

const ROUNDS = 6;

let world: World;
let secondApi: string;
beforeAll(async () => {
  world = await startWorld();
  secondApi = (await world.startApi(0)).url;
  world.model.answer('refund them all', ({ results }) =>
    results.length > 0
      ? { text: 'done' }
      : {
          calls: Array.from({ length: ROUNDS }, (_, index) => ({
            name: 'payments.refund',
            input: { paymentId: `p_${index + 1}`, cents: 7_500 },
          })),
        },
  );
});
afterAll(() => world.stop());

describe('an approval that two processes give at the same time', () => {
  it('is accepted once and stale for the other, round after round, and the tool runs once', async () => {
    const talk = world.talk('double');
    await talk.begin('support', 'refund them all');
    const calls = (await talk.waitingCalls(ROUNDS)).map(({ toolCallId }) => toolCallId);
    for (const [round, toolCallId] of calls.entries()) {
      // Alternately first: whoever is asked first must not always win.
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
    const refunds = await world.lines('refunds.jsonl');
    expect(refunds.map((refund) => refund['paymentId']).toSorted()).toEqual(
      calls.map((_, index) => `p_${index + 1}`),
    );
    expect(await talk.eventsOf('resolution')).toHaveLength(ROUNDS);
  });
});
