/** Several workers and API processes on one Postgres: any of them can take any part of the work. */
import type { PendingCall } from 'colloquy/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresServer } from '../../../examples/demo/postgres.js';
import { Dice } from '../../support/dice.js';
import { startTestPostgres } from '../../support/networks/postgres-server.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { call, openEventStream } from '../support/api.js';
import { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

let postgres: PostgresServer;
let world: World;
beforeAll(async () => {
  postgres = await startTestPostgres();
  world = await startWorld({ env: { COLLOQUY_DATABASE_URL: postgres.url } });
  world.model.answer('refund', ({ results }) =>
    results.length === 0
      ? {
          text: 'One moment, please: this needs an approval.',
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

it('a conversation is followed, answered and finished through processes that did not exist at its beginning', {
  ...promise('G226'),
}, async () => {
  const other = await world.startApi(0);
  const talk = world.talk('shared');
  await talk.begin('support', 'refund');
  const stream = await openEventStream(`${other.url}/v1/conversations/shared/events`);
  const [waiting] = await talk.waitingCalls(1);
  // Live events of the worker reach an unrelated process through the database.
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

it.each([1, 2, 3])(
  'with two workers and two APIs either worker can be killed at any moment: every conversation ends, every stream is complete (seed %i)',
  { ...promise('G227'), timeout: patient(180_000) },
  async (seed) => {
    const dice = new Dice(seed);
    const other = await world.startApi(0);
    const first = world.stack.worker();
    const second = await world.stack.startWorker();
    const refunded = (await world.lines('refunds.jsonl')).length;
    const apis = [world.apiUrl, other.url] as const;
    const at = (index: number): string => apis[index % 2] ?? '';
    const talks = Array.from(
      { length: 6 },
      (_, nth) => new Talk(`two-${seed}-${nth}`, () => at(nth)),
    );
    await Promise.all(
      talks.map(async ({ id }, nth) => {
        const url = `${at(nth)}/v1/conversations`;
        const begun = await call(url, { body: { agent: 'support', id, message: 'refund' } });
        // Admitted, or queued as a signal on a slow machine: both are durable.
        expect(begun.status).toBe(202);
        const isKnown = async () => (await call(`${url}/${id}`)).status === 200;
        await until('the conversation is known', isKnown);
      }),
    );
    // Each conversation is followed through the API that did not begin it.
    const streams = await Promise.all(
      talks.map(({ id }, nth) => openEventStream(`${at(nth + 1)}/v1/conversations/${id}/events`)),
    );
    const frames = (): number => streams.reduce((sum, stream) => sum + stream.frames.length, 0);
    const moment = 12 + dice.below(40);
    await until(`${moment} frames have come`, () => frames() >= moment);
    await dice.pick([first, second]).kill();
    for (const [nth, talk] of talks.entries()) {
      const [waiting] = await talk.waitingCalls(1);
      // Half of the answers go through the API that streams the conversation, the others through the other one.
      const calls = `${at(nth < 3 ? nth : nth + 1)}/v1/conversations/${talk.id}/tool-calls`;
      const reply = await call(`${calls}/${waiting?.toolCallId ?? ''}/resolution`, {
        body: { type: 'approve' },
      });
      expect(reply.body['verdict']).toBe('accepted');
    }
    for (const talk of talks) expect((await talk.ended()).text).toBe('It is paid back');
    expect((await world.lines('refunds.jsonl')).length - refunded).toBe(talks.length);
    for (const stream of streams) {
      await until('the stream has its end', () =>
        stream.frames.some(({ event }) => event === 'turn_ended'),
      );
      stream.close();
      const ids = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
      expect(ids).toEqual(ids.map((_, index) => `1-${index + 1}`));
    }
    // One worker is left for the next round. A finished conversation is deleted through one API, and gone in both.
    const [gone] = talks;
    expect(
      (await call(`${at(1)}/v1/conversations/${gone?.id ?? ''}`, { method: 'DELETE' })).body,
    ).toEqual({ deleted: true, conversationId: gone?.id });
    for (const url of apis)
      expect((await call(`${url}/v1/conversations/${gone?.id ?? ''}`)).status).toBe(404);
    await other.stop();
  },
);

it('a database outage stops no turn; after it the log has every event once', {
  ...promise('G225'),
}, async () => {
  const talk = world.talk('outage');
  await talk.begin('support', 'refund');
  const stream = await talk.stream();
  await until('the model speaks', () =>
    stream.frames.some(({ event }) => event === 'live.text_delta'),
  );
  const refunded = (await world.lines('refunds.jsonl')).length;
  await postgres.stop();
  // The outage covers the first answer of the turn, its approval, its refund and its end.
  const handle = world.temporal.workflow.getHandle(talk.workflowId);
  const [waiting] = await until(
    'the call waits',
    () => handle.query<readonly PendingCall[]>('pending'),
    { holds: (calls) => calls.length === 1 },
  );
  await handle.signal('resolveToolCall', {
    toolCallId: waiting?.toolCallId,
    resolution: { type: 'approve' },
    actor: { id: 'ops' },
  });
  // No events are stored or streamed during the outage; the refund and its turn continue nevertheless.
  const refunds = async (): Promise<number> => (await world.lines('refunds.jsonl')).length;
  await until('the money is back', refunds, {
    holds: (count) => count === refunded + 1,
  });
  const status = async () => (await handle.query<{ status: string }>('snapshot')).status;
  await until('the turn is over', status, { holds: (is) => is === 'idle' });
  await postgres.startAgain();
  expect((await talk.ended()).text).toBe('It is paid back');
  const events = await talk.events();
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  // A watcher that stayed connected has received each event once, in order.
  await until('the stream has its end', () =>
    stream.frames.some(({ event }) => event === 'turn_ended'),
  );
  stream.close();
  const ids = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(ids).toEqual(events.map(({ seq }) => `1-${seq}`));
});
