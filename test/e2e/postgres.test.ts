/** Several workers and API processes on one Postgres: nothing depends on which of them takes what. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresServer } from '../../examples/demo/postgres.js';
import { startTestPostgres } from '../support/postgres-server.js';
import { until } from '../support/until.js';
import { call, openEventStream } from './support/api.js';
import { startWorld, type World } from './support/world.js';

let postgres: PostgresServer;
let world: World;
beforeAll(async () => {
  postgres = await startTestPostgres();
  world = await startWorld({ env: { COLLOQUY_DATABASE_URL: postgres.url } });
  world.model.answer('refund', ({ results }) =>
    results.length === 0
      ? {
          text: 'One moment, please: somebody has to agree.',
          chunkDelayMs: 200,
          calls: [{ name: 'payments.refund', input: { paymentId: 'p_1', cents: 7_500 } }],
        }
      : { text: 'It is paid back' },
  );
});
afterAll(async () => {
  await world.stop();
  await postgres.stop();
});

it('a conversation is followed, answered and finished through processes that never saw it begin', async () => {
  const other = await world.startApi(0);
  const talk = world.talk('shared');
  await talk.begin('support', 'refund');
  const stream = await openEventStream(`${other.url}/v1/conversations/shared/events`);
  const [waiting] = await talk.waitingCalls(1);
  // What the worker told comes through the database to a process that it does not know.
  await until('deltas are heard elsewhere', () =>
    stream.frames.some(({ event }) => event === 'live.text_delta'),
  );
  await world.stack.worker().kill();
  await world.stack.startWorker();
  const answers = `${other.url}/v1/conversations/shared/tool-calls/${waiting?.toolCallId ?? ''}/resolution`;
  const reply = await call(answers, { body: { type: 'approve' } });
  expect(reply.body['verdict']).toBe('accepted');
  expect((await talk.ended()).text).toBe('It is paid back');
  expect(await world.lines('refunds.jsonl')).toHaveLength(1);
  await until('the stream has its end', () =>
    stream.frames.some(({ event }) => event === 'turn_ended'),
  );
  stream.close();
  const ids = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(ids).toEqual(ids.map((_, index) => `1-${index + 1}`));
});

it('a database that is away stops no turn; when it is back, the log has everything once', async () => {
  const talk = world.talk('outage');
  await talk.begin('support', 'refund');
  const [waiting] = await talk.waitingCalls(1);
  const refunded = (await world.lines('refunds.jsonl')).length;
  await postgres.stop();
  await world.temporal.workflow.getHandle(talk.workflowId).signal('resolveToolCall', {
    toolCallId: waiting?.toolCallId,
    resolution: { type: 'approve' },
    actor: { id: 'ops' },
  });
  // Without the log nobody is told; the refund and its turn go on all the same.
  const refunds = async (): Promise<number> => (await world.lines('refunds.jsonl')).length;
  await until('the money is back', refunds, {
    holds: (count) => count === refunded + 1,
    timeoutMs: 30_000,
  });
  await postgres.startAgain();
  expect((await talk.ended()).text).toBe('It is paid back');
  const events = await talk.events();
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});
