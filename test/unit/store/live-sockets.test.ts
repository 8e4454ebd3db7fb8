/**
 * The live channel between processes of one machine. One of them is the hub; the others are its peers.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { conversationKey } from '../../../src/protocol/values/ids.js';
import {
  HUB_SOCKET,
  liveDirectoryFor,
  makeLiveDirectory,
} from '../../../src/store/live/directory.js';
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import type { LiveChannel, LiveMessage } from '../../../src/store/ports/live.js';
import { describeLiveChannel } from '../../support/conformance/live-channel.js';
import { promise } from '../../support/promise.js';
import { begun, delta, textsOf } from '../../support/samples/live-messages.js';
import { KEY } from '../../support/samples/log-events.js';
import { type Child, startChild } from '../../support/servers/children.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

describeLiveChannel('live channel over a socket', () => {
  const file = join(temporaryFolder(), 'log.db');
  return { publisher: openLiveChannel({ file }), subscriber: openLiveChannel({ file }) };
});

describeLiveChannel('live channel over a socket, the subscriber is the hub', () => {
  const file = join(temporaryFolder(), 'log.db');
  const [publisher, subscriber] = [openLiveChannel({ file }), openLiveChannel({ file })];
  subscriber.subscribe({ ...KEY, conversationId: 'unused' }, { live: false }, () => undefined);
  return { publisher, subscriber };
});

describeLiveChannel('live channel over a socket, both sides in one process', () => {
  const channel = openLiveChannel({ file: join(temporaryFolder(), 'log.db') });
  return { publisher: channel, subscriber: channel };
});

function opened(file: string): LiveChannel {
  const channel = openLiveChannel({ file });
  onTestFinished(async () => {
    await channel.close();
  });
  return channel;
}

function hubOf(file: string): string {
  return join(liveDirectoryFor(file), HUB_SOCKET);
}

/** A channel whose process is the hub. */
async function hubAt(file: string): Promise<LiveChannel> {
  const channel = opened(file);
  channel.watched(KEY);
  await until('the hub listens', () => existsSync(hubOf(file)));
  return channel;
}

/** A connection to the hub that sends these lines, and collects the chunks that it gets. */
function connectedTo(file: string, lines: readonly string[]): { socket: Socket; chunks: string[] } {
  const chunks: string[] = [];
  const socket = createConnection(hubOf(file));
  socket.setEncoding('utf8');
  socket.on('error', () => undefined);
  socket.write(lines.map((line) => `${line}\n`).join(''));
  socket.on('data', (chunk: string) => {
    // Empty lines show that the hub is not frozen.
    if (chunk.trim() !== '') chunks.push(chunk);
  });
  onTestFinished(() => {
    socket.destroy();
  });
  return { socket, chunks };
}

/** The lines of a process that receives live events of the conversation. */
const WATCHING = [
  '+live',
  `watch other ${JSON.stringify({ watch: conversationKey(KEY), live: true })}`,
];

const PROGRAM = new URL('../../support/servers/live-child.ts', import.meta.url);

/** Texts of the deltas that a process printed. */
function heardBy(child: Child): readonly string[] {
  return textsOf(child.lines.flatMap((line) => (line as { heard?: LiveMessage }).heard ?? []));
}

async function hears(child: Child, sender = ''): Promise<void> {
  const before = heardBy(child).length;
  await until('messages arrive', () =>
    heardBy(child)
      .slice(before)
      .some((text) => text.startsWith(sender)),
  );
}

describe('live channel between processes', () => {
  it('delivers the messages of one process to a subscriber in another, and to the next when that one is killed', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = startChild(PROGRAM, ['publish', file]);
    const watcher = startChild(PROGRAM, ['watch', file]);
    await until('messages arrive', () => heardBy(watcher).length > 5);
    expect(heardBy(watcher).slice(0, 3)).toEqual(['n1', 'n2', 'n3']);
    watcher.kill('SIGKILL');
    await watcher.ended;
    const later = startChild(PROGRAM, ['watch', file]);
    await hears(later);
    expect([publisher.errors, watcher.errors, later.errors]).toEqual([[], [], []]);
  });

  it('connects several publishers with several subscribers, also after the hub was killed', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const hub = startChild(PROGRAM, ['watch', file]);
    await until('the hub listens', () => existsSync(hubOf(file)));
    const publishers = ['a', 'b'].map((name) => startChild(PROGRAM, ['publish', file, name]));
    const watchers = [1, 2].map(() => startChild(PROGRAM, ['watch', file]));
    for (const watcher of [hub, ...watchers])
      for (const name of ['a', 'b']) await hears(watcher, name);
    hub.kill('SIGKILL');
    await hub.ended;
    for (const watcher of watchers) for (const name of ['a', 'b']) await hears(watcher, name);
    expect([...publishers, ...watchers].flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('replaces a hub that is frozen, which connects to the new one when it continues', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const hub = startChild(PROGRAM, ['watch', file]);
    await until('the hub listens', () => existsSync(hubOf(file)));
    startChild(PROGRAM, ['publish', file]);
    const watcher = startChild(PROGRAM, ['watch', file]);
    await hears(watcher);
    const { ino } = statSync(hubOf(file));
    hub.kill('SIGSTOP');
    await until('there is a new hub', () => statSync(hubOf(file)).ino !== ino);
    await hears(watcher);
    hub.kill('SIGCONT');
    await hears(hub);
    const before = Number(heardBy(watcher).at(-1)?.slice(1));
    await until(
      'the old hub hears the new messages',
      () => Number(heardBy(hub).at(-1)?.slice(1)) > before,
    );
  });

  it('elects one hub when many processes start at once', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const channels = Array.from({ length: 12 }, () => opened(file));
    const heard = channels.map((channel) => {
      const messages: LiveMessage[] = [];
      channel.subscribe(KEY, { live: true }, (message) => messages.push(message));
      return messages;
    });
    const texts = channels.map((_, index) => `from ${index}`);
    await until('each hears all', () => {
      for (const [index, channel] of channels.entries()) channel.publish(delta(texts[index] ?? ''));
      return heard.every((messages) => texts.every((text) => textsOf(messages).includes(text)));
    });
    expect(readdirSync(liveDirectoryFor(file))).toEqual([HUB_SOCKET]);
  });

  it('notifies a publisher of a subscriber in another process', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const channel = opened(file);
    startChild(PROGRAM, ['watch', file]);
    await until('there is a subscriber', () => channel.watched(KEY)?.live === true);
  });

  it.each(['a peer', 'the hub'])(
    'forgets %s that was killed, long before its silence shows it',
    async (role) => {
      const file = join(temporaryFolder(), 'log.db');
      const channel = role === 'a peer' ? await hubAt(file) : opened(file);
      const watcher = startChild(PROGRAM, ['watch', file]);
      await until('there is a hub', () => existsSync(hubOf(file)));
      await until('there is a subscriber', () => channel.watched(KEY));
      watcher.kill('SIGKILL');
      await until('there is none', () => channel.watched(KEY) === undefined, { timeoutMs: 5_000 });
    },
  );

  it('never keeps a process alive', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const other = opened(file);
    other.subscribe(KEY, { live: true }, () => undefined);
    const child = startChild(PROGRAM, ['idle', file]);
    expect(await child.ended).toBe(0);
    expect(child.errors).toEqual([]);
    expect(heardBy(child)).toEqual(['to myself']);
  });
});

describe('the chunks of a live channel', () => {
  /** The chunks that another process gets, as they arrive. */
  async function chunksOf(
    publish: (channel: LiveChannel, chunks: readonly string[]) => Promise<void> | void,
  ) {
    const file = join(temporaryFolder(), 'log.db');
    const channel = await hubAt(file);
    const { chunks } = connectedTo(file, WATCHING);
    await until('the publisher knows', () => channel.watched(KEY));
    await publish(channel, chunks);
    return chunks;
  }

  it('leave a process asleep for a call that began: the next message carries that along', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const chunks = await chunksOf(async (channel, before) => {
      for (const message of [begun('call-1'), begun('call-2'), delta('a')]) {
        expect(before).toEqual([]);
        channel.publish(message);
        await sleep(20);
      }
    });
    await until('all of it', () => chunks.join('').split('\n').length === 4);
    expect(chunks).toHaveLength(1);
  });

  it('are not lost when the publisher closes before they were due', async () => {
    const chunks = await chunksOf(async (channel) => {
      channel.publish(begun('call-1'));
      await channel.close();
    });
    await until('it', () => chunks.length === 1);
    expect(chunks.join('')).toContain('tool_call_started');
  });

  it('report by themselves that a call began where no message follows', async () => {
    const chunks = await chunksOf((channel) => {
      channel.publish(begun('call-1'));
    });
    await until('it', () => chunks.length === 1);
    expect(chunks.join('')).toContain('tool_call_started');
  });
});

describe('live channel and its folder', () => {
  it('is empty when the last process has closed its channel', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const channel = await hubAt(file);
    await channel.close();
    expect(readdirSync(liveDirectoryFor(file))).toEqual([]);
  });

  it('may hold the socket of a killed process', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const killed = startChild(PROGRAM, ['watch', file]);
    await until('the hub listens', () => existsSync(hubOf(file)));
    killed.kill('SIGKILL');
    await killed.ended;
    expect(existsSync(hubOf(file))).toBe(true);
    const [publisher, subscriber] = [opened(file), opened(file)];
    subscriber.subscribe(KEY, { live: true }, () => undefined);
    await until('they are connected', () => publisher.watched(KEY));
  });

  it('loses the sockets that killed processes left before they were in place', async () => {
    const file = join(temporaryFolder(), 'log.db');
    makeLiveDirectory(liveDirectoryFor(file));
    writeFileSync(join(liveDirectoryFor(file), '17-0123abcd.new'), '');
    await hubAt(file);
    expect(readdirSync(liveDirectoryFor(file))).toEqual([HUB_SOCKET]);
  });

  it('is open to this user only', () => {
    const file = join(temporaryFolder(), 'log.db');
    mkdirSync(`${file}.live`);
    chmodSync(`${file}.live`, 0o777);
    makeLiveDirectory(`${file}.live`);
    expect(statSync(`${file}.live`).mode & 0o077).toBe(0);
  });

  it('lies in the temporary folder when the path is too long for a socket, the same for every way to the file', async () => {
    const folder = temporaryFolder();
    const deep = join(folder, 'long'.repeat(20), 'er'.repeat(20));
    mkdirSync(deep, { recursive: true });
    symlinkSync(deep, join(folder, 'link'));
    const directory = liveDirectoryFor(join(deep, 'log.db'));
    onTestFinished(() => {
      rmSync(directory, { recursive: true, force: true });
    });
    expect(Buffer.byteLength(directory)).toBeLessThan(70);
    expect(liveDirectoryFor(join(folder, 'link', 'log.db'))).toBe(directory);
    const heard: LiveMessage[] = [];
    const publisher = opened(join(deep, 'log.db'));
    opened(join(folder, 'link', 'log.db')).subscribe(KEY, { live: true }, (message) =>
      heard.push(message),
    );
    await until('the publisher knows', () => publisher.watched(KEY));
    publisher.publish(delta('a'));
    await until('the message', () => heard.length);
  });

  it('is not needed inside the process, and is made later where it cannot be made at first', async () => {
    const file = join(temporaryFolder(), 'log.db');
    writeFileSync(`${file}.live`, 'in the way');
    const [channel, other] = [opened(file), opened(file)];
    const heard: LiveMessage[] = [];
    channel.subscribe(KEY, { live: true }, (message) => heard.push(message));
    channel.publish(delta('a'));
    expect(textsOf(heard)).toEqual(['a']);
    rmSync(`${file}.live`);
    await until('they are connected', () => other.watched(KEY));
  });

  it('is made again when it was removed with the socket', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const [publisher, subscriber] = [await hubAt(file), opened(file)];
    const heard: LiveMessage[] = [];
    subscriber.subscribe(KEY, { live: true }, (message) => heard.push(message));
    await until('they are connected', () => publisher.watched(KEY));
    rmSync(liveDirectoryFor(file), { recursive: true });
    const third = opened(file);
    await until('a third process finds them', () => {
      third.publish(delta('of the third'));
      return heard.length;
    });
  });
});

describe('live channel and faulty peers', () => {
  it('drops messages for a peer that does not read, and stays usable', {
    ...promise('2.A.2'),
  }, async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = await hubAt(file);
    const { socket: slow } = connectedTo(file, WATCHING);
    slow.pause();
    await until('the slow one is known', () => publisher.watched(KEY));
    for (let count = 0; count < 50; count += 1) {
      for (let ten = 0; ten < 10; ten += 1) publisher.publish(delta('x'.repeat(50_000)));
      await sleep(2);
    }
    const heard: LiveMessage[] = [];
    opened(file).subscribe({ ...KEY, conversationId: 'c2' }, { live: true }, (message) =>
      heard.push(message),
    );
    await until('the quick one is known', () =>
      publisher.watched({ ...KEY, conversationId: 'c2' }),
    );
    publisher.publish(delta('a', { ...KEY, conversationId: 'c2' }));
    await until('the quick one hears', () => heard.length);
    let received = 0;
    slow.on('data', (chunk: string) => {
      received += chunk.length;
    });
    slow.resume();
    await publisher.close();
    await until('the slow one has read all there is', () => slow.readableEnded);
    expect(received).toBeGreaterThan(500_000);
    expect(received).toBeLessThan(3_000_000);
  });

  it('skips malformed lines', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = await hubAt(file);
    const heard: LiveMessage[] = [];
    publisher.subscribe(KEY, { live: true }, (message) => heard.push(message));
    connectedTo(file, [
      ...['no json', 'watch', 'watch a', 'watch a null', 'watch a [1]', 'watch a {"watch":7}', '+'],
      ...['live', 'live a', 'live a default/c1', 'other a b', 'ask', '-', '-watch'],
      'live a default/c1 {"tenant":"default","conversationId":"c1","type":"live"}',
      ...[
        'watch a {"all":[7,["default/c1",true]]}',
        'watch a {"all":[["default/c1"],["default/c2",false]]}',
      ],
    ]);
    await until('the interest is known', () => publisher.watched({ ...KEY, conversationId: 'c2' }));
    expect(publisher.watched({ ...KEY, conversationId: 'c2' })).toEqual({ live: false });
    expect(heard).toEqual([]);
  });
});
