/** Live events over LISTEN and NOTIFY in a real Postgres. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { LiveChannel, LiveMessage } from '../../src/store/ports/live.js';
import { openPostgresLiveChannel } from '../../src/store/postgres/live/channel.js';
import { describeLiveChannel } from '../support/conformance/live-channel.js';
import { startTestPostgres } from '../support/networks/postgres-server.js';
import { delta, textsOf } from '../support/samples/live-messages.js';
import { KEY } from '../support/samples/log-events.js';
import { until } from '../support/until.js';

const url = inject('postgresUrl');
const anySchema = (): string => `live_${randomUUID().slice(0, 8)}`;

describeLiveChannel('live channel over postgres', () => {
  const schema = anySchema();
  return {
    publisher: openPostgresLiveChannel({ url, schema }),
    subscriber: openPostgresLiveChannel({ url, schema }),
  };
});

describeLiveChannel('live channel over postgres, both sides in one process', () => {
  const channel = openPostgresLiveChannel({ url, schema: anySchema() });
  return { publisher: channel, subscriber: channel };
});

function opened(options: { url: string; schema: string }): LiveChannel {
  const channel = openPostgresLiveChannel(options);
  onTestFinished(() => channel.close());
  return channel;
}

function listening(channel: LiveChannel): LiveMessage[] {
  const heard: LiveMessage[] = [];
  channel.subscribe(KEY, { live: true }, (message) => heard.push(message));
  return heard;
}

it('delivers long messages whole, in order with short ones, in any script', async () => {
  const schema = anySchema();
  const [publisher, subscriber] = [opened({ url, schema }), opened({ url, schema })];
  const heard = listening(subscriber);
  await until('the publisher knows of the watcher', () => publisher.watched(KEY));
  const texts = ['a', '漢🙂é'.repeat(20_000), 'b', 'x'.repeat(100_000), 'c'];
  for (const text of texts) publisher.publish(delta(text));
  await until('all have come', () => heard.length === texts.length);
  expect(textsOf(heard)).toEqual(texts);
});

it('delivers a repeated message as often as it was sent', async () => {
  const schema = anySchema();
  const [publisher, subscriber] = [opened({ url, schema }), opened({ url, schema })];
  const heard = listening(subscriber);
  await until('the publisher knows of the watcher', () => publisher.watched(KEY));
  for (let count = 0; count < 5; count += 1) publisher.publish(delta('again'));
  publisher.publish(delta('end'));
  await until('the last has come', () => textsOf(heard).includes('end'));
  expect(textsOf(heard)).toEqual([...Array.from({ length: 5 }, () => 'again'), 'end']);
});

it('does not mix long messages that several processes send at once', async () => {
  const schema = anySchema();
  const subscriber = opened({ url, schema });
  const heard = listening(subscriber);
  const publishers = ['a', 'b', 'c'].map((name) => ({ name, channel: opened({ url, schema }) }));
  for (const { channel } of publishers)
    await until('each knows of the watcher', () => channel.watched(KEY));
  const textOf = (name: string, count: number): string => `${name}${count} ${name.repeat(30_000)}`;
  for (let count = 0; count < 10; count += 1) {
    for (const { name, channel } of publishers) channel.publish(delta(textOf(name, count)));
    await sleep(5);
  }
  await until('all have come', () => heard.length === 30);
  for (const { name } of publishers)
    expect(textsOf(heard).filter((text) => text.startsWith(name))).toEqual(
      Array.from({ length: 10 }, (_, count) => textOf(name, count)),
    );
});

it('does not receive from other schemas of the database', async () => {
  const publisher = opened({ url, schema: anySchema() });
  const [schema] = [anySchema()];
  const [other, mine] = [opened({ url, schema }), opened({ url, schema })];
  listening(mine);
  await until('those of one schema know each other', () => other.watched(KEY));
  expect(publisher.watched(KEY)).toBeUndefined();
});

it('reconnects to its listeners after an outage of the server', async () => {
  const server = await startTestPostgres();
  onTestFinished(() => server.stop());
  const at = { url: server.url, schema: anySchema() };
  const [publisher, subscriber] = [opened(at), opened(at)];
  const heard = listening(subscriber);
  await until('the publisher knows of the watcher', () => publisher.watched(KEY));
  await server.stop();
  publisher.publish(delta('lost'));
  await server.startAgain();
  let sent = 0;
  await until('messages come again', () => {
    sent += 1;
    publisher.publish(delta(`back ${sent}`));
    return textsOf(heard).some((text) => text.startsWith('back'));
  });
});

it('delivers to itself without a server', async () => {
  const channel = opened({ url: 'postgres://me@127.0.0.1:9/none', schema: 's' });
  const heard = listening(channel);
  channel.publish(delta('here'));
  expect(textsOf(heard)).toEqual(['here']);
  expect(channel.watched(KEY)).toEqual({ live: true });
  await channel.close();
});
