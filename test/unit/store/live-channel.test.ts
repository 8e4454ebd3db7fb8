/** The part of the live channel that all adapters share, over a bus in memory. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { BusEvents, Line, Topic } from '../../../src/store/live/bus.js';
import { createLiveChannel } from '../../../src/store/live/channel.js';
import { REPORT_MS } from '../../../src/store/live/interests.js';
import { LINGER_MS } from '../../../src/store/live/subscriptions.js';
import type { LiveChannel, LiveMessage } from '../../../src/store/ports/live.js';
import { delta, textsOf } from '../../support/samples/live-messages.js';
import { KEY } from '../../support/samples/log-events.js';

interface Process {
  readonly channel: LiveChannel;
  /** Disconnects, and after a while connects again. */
  disconnect(): void;
  connect(): void;
}

let members: { events: BusEvents; topics: Set<Topic>; isConnected: boolean }[] = [];
let sent: Line[] = [];

beforeEach(() => {
  members = [];
  sent = [];
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

/** A process whose channel is connected with those of all others. Lines come back to their sender, too. */
function started(): Process {
  const member = {
    events: undefined as never as BusEvents,
    topics: new Set<Topic>(),
    isConnected: true,
  };
  members.push(member);
  const channel = createLiveChannel((events) => {
    member.events = events;
    return {
      listen: (topic) => member.topics.add(topic),
      send: (lines) => {
        if (!member.isConnected) return;
        sent.push(...lines);
        for (const { events: other, topics, isConnected } of members)
          for (const line of lines) if (isConnected && topics.has(line.topic)) other.onLine(line);
      },
      close: () => Promise.resolve(),
    };
  });
  onTestFinished(() => channel.close());
  return {
    channel,
    disconnect: () => {
      member.isConnected = false;
    },
    connect: () => {
      member.isConnected = true;
      member.events.onConnected();
    },
  };
}

function listening({ channel }: Process, live = true): LiveMessage[] {
  const heard: LiveMessage[] = [];
  channel.subscribe(KEY, { live }, (message) => heard.push(message));
  return heard;
}

it('a live channel forgets the interests of a process that was killed', () => {
  const [publisher, subscriber] = [started(), started()];
  listening(subscriber);
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  subscriber.disconnect();
  vi.advanceTimersByTime(3 * REPORT_MS);
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  vi.advanceTimersByTime(REPORT_MS);
  expect(publisher.channel.watched(KEY)).toBeUndefined();
});

it('a live channel forgets at its next connection what was reported before, and hears it again', () => {
  const [publisher, killed, subscriber] = [started(), started(), started()];
  const other = { ...KEY, conversationId: 'another' };
  killed.channel.subscribe(other, { live: true }, () => undefined);
  listening(subscriber);
  expect(publisher.channel.watched(other)).toEqual({ live: true });
  killed.disconnect();
  publisher.disconnect();
  publisher.connect();
  expect(publisher.channel.watched(other)).toBeUndefined();
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
});

it('a live channel remembers the interests of a process that is alive but has nothing new to report', () => {
  const [publisher, subscriber] = [started(), started()];
  listening(subscriber, false);
  vi.advanceTimersByTime(100 * REPORT_MS);
  expect(publisher.channel.watched(KEY)).toEqual({ live: false });
});

it('a live channel forgets the interests of a process at once when that closes its channel', async () => {
  const [publisher, subscriber] = [started(), started()];
  listening(subscriber);
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  await subscriber.channel.close();
  expect(publisher.channel.watched(KEY)).toBeUndefined();
});

it('a live channel forgets a watcher that has left, after a moment in which the next one may come', () => {
  const [publisher, subscriber] = [started(), started()];
  const stop = subscriber.channel.subscribe(KEY, { live: true }, () => undefined);
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  stop();
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  vi.advanceTimersByTime(LINGER_MS);
  expect(publisher.channel.watched(KEY)).toBeUndefined();
});

it('a live channel repairs a lost report with the next list, and notifies publishers of the watchers that they missed', () => {
  const [publisher, subscriber] = [started(), started()];
  let joins = 0;
  publisher.channel.onJoin(KEY, () => {
    joins += 1;
  });
  subscriber.disconnect();
  const heard = listening(subscriber);
  expect(publisher.channel.watched(KEY)).toBeUndefined();
  subscriber.connect();
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  expect(joins).toBe(1);
  vi.advanceTimersByTime(10 * REPORT_MS);
  subscriber.connect();
  expect(joins).toBe(1);
  publisher.channel.publish(delta('a'));
  vi.advanceTimersByTime(100);
  expect(textsOf(heard)).toEqual(['a']);
});

it('a live channel knows that another process wants live events of a conversation whose log this one follows', () => {
  const [publisher, subscriber] = [started(), started()];
  listening(publisher, false);
  expect(publisher.channel.watched(KEY)).toEqual({ live: false });
  listening(subscriber);
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
});

it('a live channel asks for interests when it begins to publish, and when it is connected again', () => {
  const subscriber = started();
  listening(subscriber);
  const publisher = started();
  publisher.channel.publish(delta('a'));
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
  publisher.disconnect();
  vi.advanceTimersByTime(5 * REPORT_MS);
  expect(publisher.channel.watched(KEY)).toBeUndefined();
  publisher.connect();
  expect(publisher.channel.watched(KEY)).toEqual({ live: true });
});

it('a live channel notifies a publisher of a watcher before it has published anything', () => {
  const [publisher, subscriber] = [started(), started()];
  let joins = 0;
  publisher.channel.onJoin(KEY, () => {
    joins += 1;
  });
  listening(subscriber);
  expect(joins).toBe(1);
});

it('a live channel sends nothing that no other process watches', () => {
  const [publisher, subscriber] = [started(), started()];
  listening(publisher);
  listening(subscriber, false);
  publisher.channel.publish(delta('a'));
  publisher.channel.publish(delta('b', { ...KEY, conversationId: 'another' }));
  vi.advanceTimersByTime(100);
  expect(sent.filter(({ topic }) => topic === 'live')).toEqual([]);
});

it('a live channel delivers a message once, where the bus returns lines to their sender', () => {
  const [one, other] = [started(), started()];
  const [here, there] = [listening(one), listening(other)];
  expect(one.channel.watched(KEY)).toEqual({ live: true });
  one.channel.publish(delta('a'));
  vi.advanceTimersByTime(100);
  expect([textsOf(here), textsOf(there)]).toEqual([['a'], ['a']]);
});

it('a live channel gives a listener nothing of a conversation with a similar name, or of another tenant', () => {
  const [publisher, subscriber] = [started(), started()];
  const heard = listening(subscriber);
  for (const key of [
    { tenant: 'default', conversationId: 'c' },
    { tenant: 'default', conversationId: 'c12' },
    { tenant: 'another', conversationId: 'c1' },
    KEY,
  ]) {
    subscriber.channel.subscribe(
      { ...key, tenant: `${key.tenant}x` },
      { live: true },
      () => undefined,
    );
    publisher.channel.publish(delta(`${key.tenant} ${key.conversationId}`, key));
  }
  vi.advanceTimersByTime(100);
  expect(textsOf(heard)).toEqual(['default c1']);
});
