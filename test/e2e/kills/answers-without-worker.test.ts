/** Acceptance scenario S10: all waiting calls survive the worker, and can be answered while no worker runs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { call } from '../support/api.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('a worker that is killed while calls of each kind wait', () => {
  it('loses none of them: answers by signal and by HTTP in between count, and a new worker finishes the turn', {
    ...promise('G1', 'S10', 'A40', 'A41', 'A46', 'A56', 'C22'),
  }, async () => {
    const talk = world.talk('s10');
    await talk.begin('support', 'refund me, please');
    const pending = await talk.waiting(3);
    expect([...pending.values()].map(({ kind }) => kind).toSorted()).toEqual([
      'approval',
      'client_execution',
      'elicitation',
    ]);
    const idOf = (name: string): string => pending.get(name)?.toolCallId ?? '';
    await world.stack.worker().kill();

    // A signal with only the fields that a person would type.
    await world.temporal.workflow.getHandle(talk.workflowId).signal('resolveToolCall', {
      toolCallId: idOf('payments.refund'),
      resolution: { type: 'approve' },
      actor: { id: 'ops' },
    });
    const queued = await talk.resolve(
      idOf('customer.ask'),
      { type: 'answer', value: { answer: 'Size 42' } },
      { headers: { 'idempotency-key': 'webhook-1' } },
    );
    expect(queued).toMatchObject({
      status: 202,
      body: { verdict: 'queued', requestId: 'webhook-1' },
    });
    expect(queued.body['warning']).toContain(`task queue "${world.taskQueue}"`);
    expect(queued.body['warning']).toContain('npx colloquy worker');
    expect(await world.lines('refunds.jsonl')).toEqual([]);

    await world.stack.startWorker();
    await talk.waiting(1);
    const cart = { type: 'result', value: { items: ['red shoes', 'laces'] } };
    expect(await talk.resolve(idOf('cart.read'), cart)).toMatchObject({
      status: 200,
      body: { verdict: 'accepted' },
    });

    expect(await talk.ended()).toMatchObject({
      status: 'completed',
      text: 'Here is where we are. It is 18 degrees in Berlin. Your refund re_p_1 is on its way. You answered: Size 42. Your cart holds 2 items.',
    });
    expect(await world.lines('refunds.jsonl')).toMatchObject([{ paymentId: 'p_1', cents: 7_500 }]);
    expect(world.model.asked('refund me, please')).toBe(2);
    const resolutions = await talk.eventsOf('resolution');
    expect(resolutions.map(({ kind, actor }) => [kind, actor.id, actor.channel])).toEqual([
      ['approval', 'ops', 'temporal'],
      ['elicitation', 'http', 'api'],
      ['client_execution', 'http', 'api'],
    ]);

    // The new worker has the answers and their actors.
    const again = async (answer: string) =>
      await talk.resolve(
        idOf('customer.ask'),
        { type: 'answer', value: { answer } },
        { headers: { 'idempotency-key': 'webhook-1' } },
      );
    expect(await again('Size 42')).toMatchObject({ status: 200, body: { verdict: 'duplicate' } });
    // One request id names one request.
    expect(await again('Size 43')).toMatchObject({ status: 422, body: { verdict: 'invalid' } });
    const answer = { type: 'answer', value: { answer: 'Size 43' } };
    expect(await talk.resolve(idOf('customer.ask'), answer)).toMatchObject({
      status: 409,
      body: { verdict: 'stale', why: 'already_resolved', by: 'http' },
    });
  });
});

describe('a message sent while no worker runs', () => {
  it('is queued with the next command, and answered as soon as a worker starts', {
    ...promise('G2'),
  }, async () => {
    await world.stack.worker().kill();
    const talk = world.talk('s10-late');
    const sent = await call(`${world.apiUrl}/v1/conversations`, {
      body: { agent: 'support', id: talk.id, message: 'is anybody there?' },
      headers: { 'idempotency-key': 'job-1' },
    });
    expect(sent).toMatchObject({ status: 202, body: { status: 'queued', requestId: 'job-1' } });
    expect(sent.body['warning']).toContain('npx colloquy worker');
    await world.stack.startWorker();
    expect((await talk.waiting(3)).size).toBe(3);
    const [message, ...others] = await talk.eventsOf('user_message');
    expect(message).toMatchObject({ requestId: 'job-1' });
    expect(others).toEqual([]);
  });
});
