/** The Temporal server is killed by SIGKILL and restarted on its database file. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const ANSWERS: Readonly<Record<string, object>> = {
  'payments.refund': { type: 'approve' },
  'customer.ask': { type: 'answer', value: { answer: 'Size 42' } },
  'cart.read': { type: 'result', value: { items: ['red shoes', 'laces'] } },
};
const SUMMARY =
  'Here is where we are. It is 18 degrees in Berlin. Your refund re_p_1 is on its way. You answered: Size 42. Your cart holds 2 items.';

let world: World;
let restarted: DevServer | undefined;
beforeAll(async () => {
  world = await startWorld({ env: { COLLOQUY_LOG_LEVEL: 'info' } });
});
afterAll(async () => {
  await restarted?.stop();
  await world.stop();
});

describe('a Temporal server that is killed while calls wait', () => {
  it('still has them after its restart: the worker and the API reconnect by themselves', {
    ...promise('G22', 'G245'),
  }, async () => {
    const talk = world.talk('server-killed');
    await talk.begin('support', 'first');
    const pending = await talk.waiting(3);
    await world.server.kill();

    const down = await talk.resolve(pending.get('customer.ask')?.toolCallId ?? '', {
      type: 'answer',
      value: { answer: 'too early' },
    });
    expect(down).toMatchObject({ status: 503, body: { code: 'temporal_unreachable' } });
    expect(down.body['detail']).toContain(
      `No Temporal server listens at ${world.server.address}. Start one`,
    );
    const worker = world.stack.worker();
    await until('the worker says that it is gone', () => times(worker, GONE), {
      holds: (count) => count === 1,
    });
    // Reads of the waiting calls do not need the server.
    expect((await talk.waiting(3)).size).toBe(3);

    await restartServer();
    await until('the worker says that it is back', () => times(worker, BACK), {
      holds: (count) => count === 1,
    });
    await answerAll(talk);
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: SUMMARY });
    expect(await world.lines('refunds.jsonl')).toHaveLength(1);
    expect([times(worker, GONE), times(worker, BACK)]).toEqual([1, 1]);
  });

  it('may take the worker with it: a new worker on the restarted server completes the turn', {
    ...promise('G23'),
  }, async () => {
    const talk = world.talk('both-killed');
    await talk.begin('support', 'second', { mayWait: true });
    await talk.waiting(3);
    await Promise.all([(restarted ?? world.server).kill(), world.stack.worker().kill()]);
    await restartServer();
    await world.stack.startWorker();
    await answerAll(talk);
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: SUMMARY });
    expect(await world.lines('refunds.jsonl')).toHaveLength(2);
    expect(world.model.asked('second')).toBe(2);
  });
});

describe('processes that receive SIGTERM while the server is down', () => {
  it('exit with code 0 and in time, despite their pending requests', async () => {
    const talk = world.talk('stop');
    await talk.begin('support', 'third', { mayWait: true });
    const pending = await talk.waiting(3);
    await (restarted ?? world.server).kill();
    const toolCallId = pending.get('customer.ask')?.toolCallId ?? '';
    const refused = await talk.resolve(toolCallId, { type: 'decline' });
    expect(refused.status).toBe(503);
    const { api } = world.stack;
    const worker = world.stack.worker();
    await Promise.all([api.stop(20_000), worker.stop(20_000)]);
    expect([await api.ended, await worker.ended], `${api.output()}\n${worker.output()}`).toEqual([
      0, 0,
    ]);
  });
});

const GONE = 'does not answer. Conversations wait';
const BACK = 'answers again';

function times(worker: { output(): string }, said: string): number {
  return worker.output().split(said).length - 1;
}

async function restartServer(): Promise<void> {
  const { dbFile, port } = world.server;
  restarted = await startDevServer({ dbFile, port });
}

/**
 * Repeats each answer until it is accepted: the gRPC clients of the API and the worker reconnect a few seconds after
 * the server's start.
 */
async function answerAll(talk: Talk): Promise<void> {
  for (const { name, toolCallId } of (await talk.waiting(3)).values())
    await until(
      `the answer to ${name} is taken`,
      () => talk.resolve(toolCallId, ANSWERS[name] ?? {}),
      {
        holds: ({ status }) => status === 200 || status === 202,
        timeoutMs: 60_000,
      },
    );
}
