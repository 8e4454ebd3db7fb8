/** The sender over a store in memory: against real receivers, and through hours of a clock that the test sets. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { WebhookEnvelope } from '../../../src/protocol/log/webhook-events.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { putDeliverEndpoint } from '../../../src/webhooks/endpoints.js';
import type { Post } from '../../../src/webhooks/post.js';
import { createWebhookSender, type WebhookSenderOptions } from '../../../src/webhooks/sender.js';
import { promise } from '../../support/promise.js';
import { keyed } from '../../support/samples/list-events.js';
import { KEY, stamped, started, suspends, turn } from '../../support/samples/log-events.js';
import { startReceiver } from '../../support/webhooks/receiver.js';
import { putEndpoint, SECRET } from '../../support/webhooks/samples.js';

const START_MS = Date.parse('2030-01-01T00:00:00.000Z');
const MINUTE_MS = 60_000;

async function stores() {
  const opened = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => opened.log.close());
  const append = async (bodies: readonly EventBody[], conversationId = KEY.conversationId) => {
    const key = keyed(conversationId);
    const events = stamped([started(key), ...bodies]);
    await opened.log.append({ ...key, runId: 'run-a', events });
  };
  return { ...opened, append };
}

/** A sender by a clock that stands still until the test moves it. */
function clocked(options: Omit<WebhookSenderOptions, 'now'>) {
  const clock = { nowMs: START_MS };
  const sender = createWebhookSender({ random: () => 0.5, ...options, now: () => clock.nowMs });
  return {
    clock,
    sender,
    /** Passes every second for so long, as the sender itself would. */
    run: async (forMs: number) => {
      for (const endMs = clock.nowMs + forMs; clock.nowMs < endMs; clock.nowMs += 1_000)
        await sender.pass();
    },
  };
}

/** Answers with these statuses, the last one again and again; notes what it was sent. */
function scripted(...statuses: readonly [number, ...number[]]) {
  const posted: { readonly id: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const post: Post = (_url, { headers, body }) => {
    posted.push({ id: (JSON.parse(body) as WebhookEnvelope).id, headers });
    const status = statuses[Math.min(posted.length, statuses.length) - 1] ?? 200;
    return Promise.resolve({ status });
  };
  return { posted, post };
}

describe('a sender', () => {
  it(
    'sends every event so that standardwebhooks and cloudevents accept it',
    promise('G359'),
    async () => {
      const { webhooks, log, append } = await stores();
      const receiver = await startReceiver(SECRET);
      await putEndpoint(webhooks, { url: receiver.url });
      const limit: EventBody = { type: 'turn_limit_reached', turnId: 't1', limit: 'max_steps' };
      const closed: EventBody = {
        type: 'conversation_closed',
        reason: 'requested',
        actor: { id: 'ann', verified: true, channel: 'api' },
      };
      const [message, begun, ...rest] = turn('t1');
      await append([
        message,
        begun,
        suspends('t1', 'call-1'),
        limit,
        ...rest,
        closed,
      ] as EventBody[]);
      await append([...turn('t2').slice(0, 2), suspends('t2', 'call-2')], 'second');
      await log.markTrouble(KEY, {
        ...{ kind: 'failing', runId: 'run-a', attempts: 4 },
        since: '2030-01-01T00:00:00.000Z',
      });
      await webhooks.announceExpiring({ nowMs: START_MS + 23 * 60 * MINUTE_MS, limit: 9 });
      const sender = createWebhookSender({ store: webhooks, allowPrivate: true });
      await sender.pass();
      await sender.stop();
      expect(receiver.refused).toEqual([]);
      expect(
        receiver.events.map(({ type }) => type.replace('conversation.', '')).toSorted(),
      ).toEqual([
        ...['budget.reached', 'closed', 'failing', 'suspension.ended', 'suspension.expiring'],
        ...['suspension.opened', 'suspension.opened', 'turn.ended'],
      ]);
      expect(await webhooks.deliveryCounts()).toEqual({ pending: 0, dead: 0 });
    },
  );

  it(
    'delivers all of it in order when a receiver fails for ten minutes',
    promise('G359'),
    async () => {
      const { webhooks, append } = await stores();
      const failing = { until: START_MS + 10 * MINUTE_MS };
      const received: string[] = [];
      const refused = new Set<string>();
      const post: Post = (_url, { body }) => {
        const { data, subject } = JSON.parse(body) as WebhookEnvelope<
          string,
          { conversationId: string }
        >;
        if (clock.nowMs < failing.until) {
          refused.add(subject ?? '');
          return Promise.resolve({ status: 503 });
        }
        received.push(`${data.conversationId} ${subject ?? ''}`);
        return Promise.resolve({ status: 200 });
      };
      const { clock, run } = clocked({ store: webhooks, post });
      await putEndpoint(webhooks);
      await append([...turn('t1'), ...turn('t2')]);
      await append([...turn('t3'), ...turn('t4')], 'second');
      await run(10 * MINUTE_MS);
      expect(received).toEqual([]);
      // Nothing is tried that stands behind another.
      expect([...refused].toSorted()).toEqual(['t1', 't3']);
      await run(30 * MINUTE_MS);
      expect(received.filter((each) => each.startsWith('c1'))).toEqual(['c1 t1', 'c1 t2']);
      expect(received.filter((each) => each.startsWith('second'))).toEqual([
        'second t3',
        'second t4',
      ]);
    },
  );

  it(
    'sends again, under the same id, what a killed sender had sent and not noted',
    promise('G359'),
    async () => {
      const { webhooks, append } = await stores();
      const { posted, post } = scripted(200);
      await putEndpoint(webhooks);
      await append(turn('t1'));
      const killed = {
        ...webhooksOf(webhooks),
        settleDelivery: () => new Promise<boolean>(() => undefined),
      };
      void clocked({ store: killed, post }).sender.pass();
      await expect.poll(() => posted.length).toBe(1);
      const other = clocked({ store: webhooks, post });
      await other.run(30_000);
      expect(posted).toHaveLength(1);
      await other.run(60_000);
      expect(posted.map(({ id }) => id)).toEqual([posted[0]?.id, posted[0]?.id]);
      expect(await webhooks.deliveryCounts()).toEqual({ pending: 0, dead: 0 });
    },
  );

  it('never sends a delivery from two senders at once', promise('G359'), async () => {
    const { webhooks, append } = await stores();
    const { posted, post } = scripted(200);
    await putEndpoint(webhooks);
    for (let index = 0; index < 20; index += 1)
      await append([...turn(`a${index}`), ...turn(`b${index}`)], `many-${index}`);
    const senders = [1, 2, 3].map(() => clocked({ store: webhooks, post }));
    await Promise.all(senders.map(({ sender }) => sender.pass()));
    await senders[0]?.sender.pass();
    expect(posted).toHaveLength(40);
    expect(new Set(posted.map(({ id }) => id)).size).toBe(40);
  });

  it(
    'gives up after about three days, and leaves a dead delivery that can be sent again',
    promise('G359'),
    async () => {
      const { webhooks, append } = await stores();
      const { posted, post } = scripted(500);
      const { clock, sender } = clocked({ store: webhooks, post });
      await putEndpoint(webhooks);
      await append(turn('t1'));
      const hours = () => (clock.nowMs - START_MS) / 3_600_000;
      for (; (await webhooks.deliveryCounts()).dead === 0; clock.nowMs += 10 * MINUTE_MS)
        await sender.pass();
      expect(hours()).toBeGreaterThan(60);
      expect(hours()).toBeLessThan(80);
      expect(posted).toHaveLength(13);
      const [dead] = (await webhooks.deliveries({ endpointId: 'hook', limit: 9 })).deliveries;
      expect(dead).toMatchObject({ status: 'dead', lastStatus: 500, attempts: 13 });
      await webhooks.resendDelivery('hook', dead?.id ?? '', clock.nowMs);
      await sender.pass();
      expect(posted).toHaveLength(14);
    },
  );

  it('waits as long as `Retry-After` says', async () => {
    const { webhooks, append } = await stores();
    let requests = 0;
    const post: Post = () => {
      requests += 1;
      return Promise.resolve({ status: 429, retryAfter: '600' });
    };
    const { run } = clocked({ store: webhooks, post });
    await putEndpoint(webhooks);
    await append(turn('t1'));
    await run(9 * MINUTE_MS);
    expect(requests).toBe(1);
    await run(2 * MINUTE_MS);
    expect(requests).toBe(2);
  });

  it('disables an endpoint whose receiver answers 410', async () => {
    const { webhooks, append } = await stores();
    const { posted, post } = scripted(410);
    const { run } = clocked({ store: webhooks, post });
    await putEndpoint(webhooks);
    await append(turn('t1'));
    await run(10 * MINUTE_MS);
    expect(posted).toHaveLength(1);
    expect((await webhooks.endpoint('hook'))?.endpoint.status).toBe('disabled');
  });

  it('signs by both secrets for a while after a rotation', async () => {
    const { webhooks, append } = await stores();
    const { posted, post } = scripted(500, 200);
    const { run } = clocked({ store: webhooks, post });
    const endpoint = await putEndpoint(webhooks);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await webhooks.putEndpoint(endpoint, { secret, previousUntilMs: START_MS + 2_000 });
    await append(turn('t1'));
    await run(MINUTE_MS);
    const signatures = posted.map(({ headers }) => headers['webhook-signature']?.split(' ').length);
    expect(signatures).toEqual([2, 1]);
  });

  it.each(['http://127.0.0.1:PORT/', 'http://localhost:PORT/', 'http://[::ffff:127.0.0.1]:PORT/'])(
    'does not reach %s unless it is allowed',
    promise('G360'),
    async (target) => {
      const { webhooks, append } = await stores();
      const receiver = await startReceiver(SECRET);
      await putEndpoint(webhooks, { url: target.replace('PORT', new URL(receiver.url).port) });
      await append(turn('t1'));
      const sender = createWebhookSender({ store: webhooks });
      await sender.pass();
      await sender.stop();
      expect([receiver.events, receiver.refused]).toEqual([[], []]);
      const [delivery] = (await webhooks.deliveries({ endpointId: 'hook', limit: 1 })).deliveries;
      expect(delivery?.lastError).toMatch(/has no address that may be reached/);
    },
  );

  it('reaches no metadata service, however that is allowed', promise('G360'), async () => {
    const { webhooks, append } = await stores();
    await putEndpoint(webhooks, { url: 'http://169.254.169.254/latest/meta-data' });
    await append(turn('t1'));
    for (const allowPrivate of [true, ['169.254.0.0/16', '169.254.169.254']] as const) {
      const sender = createWebhookSender({ store: webhooks, allowPrivate });
      await webhooks.setEndpointStatus('hook', 'active');
      expect(await sender.pass()).toBe(1);
      await sender.stop();
      const [delivery] = (await webhooks.deliveries({ endpointId: 'hook', limit: 1 })).deliveries;
      expect(delivery?.lastError).toMatch(/has no address that may be reached/);
    }
  });

  it('follows no redirect', promise('G360'), async () => {
    const { webhooks, append } = await stores();
    const inside = await startReceiver(SECRET);
    const receiver = await startReceiver(SECRET, {
      answer: () => ({ status: 307, headers: { location: inside.url } }),
    });
    await putEndpoint(webhooks, { url: receiver.url });
    await append(turn('t1'));
    const sender = createWebhookSender({ store: webhooks, allowPrivate: true });
    await sender.pass();
    await sender.stop();
    expect([receiver.events.length, inside.events.length]).toEqual([1, 0]);
    const [delivery] = (await webhooks.deliveries({ endpointId: 'hook', limit: 1 })).deliveries;
    expect(delivery).toMatchObject({ status: 'pending', lastStatus: 307 });
  });

  it('gives events to a function of the application, and again when it rejects', async () => {
    const { webhooks, append } = await stores();
    const given: string[] = [];
    const deliver = (event: WebhookEnvelope) => {
      given.push(event.subject ?? '');
      return given.length === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    };
    await putDeliverEndpoint(webhooks);
    await append([...turn('t1'), ...turn('t2')]);
    await clocked({ store: webhooks, post: scripted(200).post }).run(10_000);
    expect(given).toEqual([]);
    await clocked({ store: webhooks, deliver }).run(10_000);
    expect(given).toEqual(['t1', 't1', 't2']);
  });
});

function webhooksOf<Store extends object>(store: Store): Store {
  return new Proxy({} as Store, {
    get: (_target, name) => {
      const member: unknown = Reflect.get(store, name);
      return typeof member === 'function' ? (member.bind(store) as unknown) : member;
    },
    ownKeys: () => Object.getOwnPropertyNames(Object.getPrototypeOf(store)),
    getOwnPropertyDescriptor: (_target, name) => ({
      configurable: true,
      enumerable: name !== 'constructor',
    }),
  });
}
