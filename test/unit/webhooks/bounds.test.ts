/** No receiver holds up a sender for long, nor other receivers; and a sender can be stopped and started. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { WebhookStore } from '../../../src/store/ports/webhooks.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { putDeliverEndpoint } from '../../../src/webhooks/endpoints.js';
import type { Post } from '../../../src/webhooks/post.js';
import { MAX_ATTEMPTS } from '../../../src/webhooks/retries.js';
import { createWebhookSender, type WebhookSenderOptions } from '../../../src/webhooks/sender.js';
import { promise } from '../../support/promise.js';
import { keyed } from '../../support/samples/list-events.js';
import { KEY, stamped, started, turn } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';
import { putEndpoint } from '../../support/webhooks/samples.js';

async function stores() {
  const opened = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => opened.log.close());
  const append = async (conversationId = KEY.conversationId, turns = ['t1']) => {
    const key = keyed(conversationId);
    const events = stamped([started(key), ...turns.flatMap((id) => turn(id))]);
    await opened.log.append({ ...key, runId: 'run-a', events });
  };
  const only = async (endpointId = 'hook') =>
    (await opened.webhooks.deliveries({ endpointId, limit: 1 })).deliveries[0];
  return { ...opened, append, only };
}

/** A store in which some methods are replaced. */
function changed(store: WebhookStore, methods: Partial<WebhookStore>): WebhookStore {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

function senderOf(options: WebhookSenderOptions) {
  const sender = createWebhookSender(options);
  onTestFinished(() => sender.stop());
  return sender;
}

/** Never ends an answer: sends a piece of it again and again. */
async function startDribbler(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => {
    answer(response);
    const timer = setInterval(() => response.socket?.write('x'), 20);
    response.on('close', () => {
      clearInterval(timer);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const never = () => new Promise<never>(() => undefined);

it('ends an attempt whose receiver sends its headers for ever', async () => {
  const { webhooks, append, only } = await stores();
  const url = await startDribbler((response) => response.socket?.write('HTTP/1.1 200 OK\r\nX: '));
  await putEndpoint(webhooks, { url });
  await append();
  const sender = senderOf({ store: webhooks, allowPrivate: true, timeoutMs: 200 });
  expect(await sender.pass()).toBe(1);
  expect(await only()).toMatchObject({ status: 'pending', lastError: /longer than 200 ms/ });
});

it('goes by the status of a receiver that sends its body for ever', async () => {
  const { webhooks, append, only } = await stores();
  const url = await startDribbler((response) => response.writeHead(200).write('a body'));
  await putEndpoint(webhooks, { url });
  await append();
  const sender = senderOf({ store: webhooks, allowPrivate: true });
  expect(await sender.pass()).toBe(1);
  expect(await only()).toMatchObject({ status: 'delivered', lastStatus: 200 });
});

it('ends a call of the application that takes too long, and aborts its signal', async () => {
  const { webhooks, append, only } = await stores();
  await putDeliverEndpoint(webhooks);
  await append();
  const signals: AbortSignal[] = [];
  const sender = senderOf({
    store: webhooks,
    timeoutMs: 100,
    deliver: (_event, { signal }) => {
      signals.push(signal);
      return never();
    },
  });
  expect(await sender.pass()).toBe(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await only('deliver')).toMatchObject({ status: 'pending', attempts: 1 });
});

it('notes any error in a form that every store takes', async () => {
  const { webhooks, append, only } = await stores();
  await putDeliverEndpoint(webhooks);
  await append();
  const error = new Error(`a\0b ${'\u{1f600}'.repeat(200)}`);
  await senderOf({ store: webhooks, deliver: () => Promise.reject(error) }).pass();
  expect((await only('deliver'))?.lastError).toBe(`ab ${'\u{1f600}'.repeat(148)}`);
});

it('stops while a receiver does not answer, and while the store does not', async () => {
  const { webhooks, append, only } = await stores();
  await putEndpoint(webhooks);
  await append();
  let posted = 0;
  const post: Post = () => {
    posted += 1;
    return never();
  };
  const sender = createWebhookSender({ store: webhooks, post, stopMs: 50 });
  void sender.pass();
  await until('it is sent', () => posted > 0);
  await sender.stop();
  expect(await only()).toMatchObject({ lastError: 'the sender was stopped' });
  await webhooks.setEndpointStatus('hook', 'active');
  const stuck = changed(webhooks, { settleDelivery: never });
  const other = createWebhookSender({ store: stuck, post, stopMs: 50 });
  void other.pass();
  await until('it is sent again', () => posted > 1);
  await other.stop();
});

it('sends again when it is started after a stop', async () => {
  const { webhooks, append, only } = await stores();
  await putEndpoint(webhooks, {
    url: await startDribbler((response) => response.writeHead(200).end()),
  });
  const sender = senderOf({ store: webhooks, allowPrivate: true, intervalMs: 10 });
  sender.start();
  await sender.stop();
  await append();
  sender.start();
  await until('it arrives', async () => (await only())?.status === 'delivered');
});

it('looks into the outbox once at a time', async () => {
  const { webhooks } = await stores();
  let [looking, most, looks] = [0, 0, 0];
  const slow = changed(webhooks, {
    dueTargets: async () => {
      looking += 1;
      looks += 1;
      most = Math.max(most, looking);
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
      looking -= 1;
      return [];
    },
  });
  const sender = senderOf({ store: slow, intervalMs: 2 });
  sender.start();
  await until('it has looked three times', () => looks > 2);
  await sender.stop();
  expect(most).toBe(1);
});

it(
  'serves an endpoint before it returns to slow ones, of which there are more than it has places',
  promise('G359'),
  async () => {
    const { webhooks, append, only } = await stores();
    for (let n = 0; n < 40; n += 1)
      await putEndpoint(webhooks, { id: `slow-${n}`, url: `https://slow-${n}.example/` });
    for (let n = 0; n < 16; n += 1) await append(`many-${n}`);
    await putEndpoint(webhooks, { id: 'quick', url: 'https://quick.example/' });
    await append('last');
    const requests = new Map<string, number>();
    let most = 0;
    const post: Post = (url) => {
      requests.set(url, (requests.get(url) ?? 0) + 1);
      if (url.includes('slow')) return never();
      most = Math.max(...requests.values());
      return Promise.resolve({ status: 200 });
    };
    const sender = senderOf({ store: webhooks, post, intervalMs: 10, timeoutMs: 100, stopMs: 10 });
    sender.start();
    await until('it arrives', async () => (await only('quick'))?.status === 'delivered');
    expect(most).toBe(8);
  },
);

it('gives each endpoint its turn, however much is due to another', async () => {
  const { webhooks, append } = await stores();
  for (const id of ['first', 'second'])
    await putEndpoint(webhooks, { id, url: `https://${id}.example/` });
  for (let n = 0; n < 20; n += 1) await append(`many-${n}`);
  const order: string[] = [];
  const post: Post = (url) => {
    order.push(new URL(url).hostname.replace('.example', ''));
    return Promise.resolve({ status: 200 });
  };
  expect(await senderOf({ store: webhooks, post }).pass()).toBe(40);
  expect(order.slice(0, 16).toSorted()).toEqual([
    ...Array.from({ length: 8 }, () => 'first'),
    ...Array.from({ length: 8 }, () => 'second'),
  ]);
});

it('goes on with other endpoints and deliveries when the store fails for one', async () => {
  const { webhooks, append, only } = await stores();
  for (const id of ['broken', 'sound']) await putEndpoint(webhooks, { id });
  for (const id of ['one', 'two']) await append(id, ['t1', 't2']);
  const failing = changed(webhooks, {
    announceExpiring: () => Promise.reject(new Error('a broken row')),
    claimDeliveries: async (options) =>
      options.endpointId === 'broken'
        ? await Promise.reject(new Error('another'))
        : await webhooks.claimDeliveries(options),
  });
  const warnings: unknown[] = [];
  const logger = { warn: (...line: unknown[]) => void warnings.push(line) };
  const post: Post = () => Promise.resolve({ status: 200 });
  const sender = senderOf({ store: failing, post, intervalMs: 5, logger });
  await expect(sender.pass()).rejects.toThrow('a broken row');
  sender.start();
  await until('the sound one has all', async () => (await only('sound'))?.status === 'delivered');
  expect((await only('broken'))?.status).toBe('pending');
  expect(warnings).toHaveLength(1);
});

it('ends a delivery each of whose attempts kills its process', promise('G359'), async () => {
  const { webhooks, append, only } = await stores();
  await putEndpoint(webhooks);
  await append();
  let nowMs = Date.parse('2030-01-02T00:00:00.000Z');
  for (let kills = 0; kills < MAX_ATTEMPTS; kills += 1) {
    await webhooks.claimDeliveries({ endpointId: 'hook', limit: 9, nowMs, leaseMs: 60_000 });
    nowMs += 60_000;
  }
  let posted = 0;
  const post: Post = () => {
    posted += 1;
    return Promise.resolve({ status: 200 });
  };
  await senderOf({ store: webhooks, post, now: () => nowMs }).pass();
  expect(posted).toBe(0);
  expect(await only()).toMatchObject({ status: 'dead', lastError: 'no attempt came to an end' });
});

it('removes old deliveries in a pass, those that no sender serves included', async () => {
  const { webhooks, append } = await stores();
  await putEndpoint(webhooks);
  await putEndpoint(webhooks, { id: 'dead', url: 'https://dead.example/' });
  await putDeliverEndpoint(webhooks);
  await append();
  let nowMs = Date.parse('2030-01-01T01:00:00.000Z');
  const post: Post = (url) => Promise.resolve({ status: url.includes('dead') ? 500 : 200 });
  const sender = senderOf({ store: webhooks, post, now: () => nowMs });
  const passUntil = async (days: number) => {
    for (
      const endMs = Date.parse('2030-01-01') + days * 86_400_000;
      nowMs < endMs;
      nowMs += 14_400_000
    )
      await sender.pass();
  };
  const left = async () => {
    const ids = ['hook', 'dead', 'deliver'];
    const pages = ids.map((endpointId) => webhooks.deliveries({ endpointId, limit: 9 }));
    return (await Promise.all(pages)).flatMap(({ deliveries }) =>
      deliveries.map(({ endpointId, status }) => `${endpointId} ${status}`),
    );
  };
  await passUntil(6);
  expect(await left()).toEqual(['hook delivered', 'dead dead', 'deliver pending']);
  await passUntil(8);
  expect(await left()).toEqual(['dead dead', 'deliver pending']);
  await passUntil(31);
  expect(await left()).toEqual(['dead dead']);
  await passUntil(40);
  expect(await left()).toEqual([]);
});
