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
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { conversationKey } from '../../../src/protocol/values/ids.js';
import { liveDirectoryFor, makeLiveDirectory } from '../../../src/store/live/directory.js';
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import type { LiveChannel, LiveMessage } from '../../../src/store/ports/live.js';
import { describeLiveChannel } from '../../support/conformance/live-channel.js';
import { promise } from '../../support/promise.js';
import { begun, delta, textsOf } from '../../support/samples/live-messages.js';
import { KEY } from '../../support/samples/log-events.js';
import { startChild } from '../../support/servers/children.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

describeLiveChannel('live channel over sockets', () => {
  const file = join(temporaryFolder(), 'log.db');
  return { publisher: openLiveChannel({ file }), subscriber: openLiveChannel({ file }) };
});

describeLiveChannel('live channel over sockets, both sides in one process', () => {
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

function socketsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.sock'));
}

const PROGRAM = new URL('../../support/servers/live-child.ts', import.meta.url);

describe('live channel between processes', () => {
  it('brings the messages of one process to a subscriber in another, until that one is killed', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = startChild(PROGRAM, ['publish', file]);
    const watcher = startChild(PROGRAM, ['watch', file]);
    await until('messages arrive', () => watcher.lines.length, { holds: (count) => count > 5 });
    const heard = watcher.lines.flatMap((line) =>
      (line as { heard?: LiveMessage }).heard === undefined
        ? []
        : [(line as { heard: LiveMessage }).heard],
    );
    expect(textsOf(heard).slice(0, 3)).toEqual(['n1', 'n2', 'n3']);
    watcher.kill('SIGKILL');
    await watcher.ended;
    const later = startChild(PROGRAM, ['watch', file]);
    await until('the next watcher hears', () => later.lines.length, {
      holds: (count) => count > 2,
    });
    await until('the dead socket is gone', () => socketsIn(`${file}.live`).length === 1);
    expect([publisher.errors, watcher.errors, later.errors]).toEqual([[], [], []]);
  });

  it('notifies a publisher of a subscriber in another process', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const channel = opened(file);
    startChild(PROGRAM, ['watch', file]);
    await until('there is a subscriber', () => channel.watched(KEY)?.live === true);
  });

  it('never keeps a process alive', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const other = opened(file);
    other.subscribe(KEY, { live: true }, () => undefined);
    const child = startChild(PROGRAM, ['idle', file]);
    expect(await child.ended).toBe(0);
    expect(child.errors).toEqual([]);
    expect(
      textsOf(child.lines.flatMap((line) => (line as { heard?: LiveMessage }).heard ?? [])),
    ).toEqual(['to myself']);
  });
});

describe('the chunks of a live channel', () => {
  /** The chunks that another process gets, as they arrive. */
  async function chunksOf(
    publish: (channel: LiveChannel, chunks: readonly string[]) => Promise<void> | void,
  ) {
    const file = join(temporaryFolder(), 'log.db');
    const directory = liveDirectoryFor(file);
    makeLiveDirectory(directory);
    const chunks: string[] = [];
    const server = createServer((socket) => {
      socket.setEncoding('utf8');
      socket.write(`${JSON.stringify({ watch: conversationKey(KEY), live: true })}\n`);
      socket.on('data', (chunk: string) => chunks.push(chunk));
    });
    await new Promise<void>((resolve) => {
      server.listen(join(directory, 'other.sock'), resolve);
    });
    onTestFinished(() => {
      server.close();
    });
    const channel = opened(file);
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
  it('removes its socket when it is closed', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const channel = openLiveChannel({ file });
    channel.subscribe(KEY, { live: true }, () => undefined);
    await until('the socket is there', () => socketsIn(`${file}.live`).length === 1);
    await channel.close();
    expect(readdirSync(`${file}.live`)).toEqual([]);
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

  it('works inside the process, and logs the reason once, where the folder cannot be made', () => {
    const file = join(temporaryFolder(), 'log.db');
    writeFileSync(`${file}.live`, 'in the way');
    const reasons: string[] = [];
    const channel = openLiveChannel({ file, onUnavailable: (reason) => reasons.push(reason) });
    const heard: LiveMessage[] = [];
    channel.subscribe(KEY, { live: true }, (message) => heard.push(message));
    channel.publish(delta('a'));
    expect(textsOf(heard)).toEqual(['a']);
    expect(reasons).toHaveLength(1);
  });

  it('listens again when its socket was removed', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const [publisher, subscriber] = [opened(file), opened(file)];
    subscriber.subscribe(KEY, { live: true }, () => undefined);
    await until('the socket is there', () => socketsIn(`${file}.live`).length === 1);
    rmSync(`${file}.live`, { recursive: true });
    await until('it is found again', () => publisher.watched(KEY));
    expect(existsSync(`${file}.live`)).toBe(true);
  });
});

describe('live channel and faulty peers', () => {
  it('drops messages for a peer that does not read, and stays usable', {
    ...promise('2.A.2'),
  }, async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = opened(file);
    let slowSocket: Socket | undefined;
    let receivedBytes = 0;
    const slow = createServer((socket) => {
      slowSocket = socket.pause();
      socket.on('error', () => undefined);
      socket.write(`${JSON.stringify({ watch: 'default/c1', live: true })}\n`);
    });
    slow.listen(join(`${file}.live`, '1-slow.sock'));
    onTestFinished(() => {
      slow.close();
    });
    await until('the slow one is known', () => publisher.watched(KEY));
    for (let count = 0; count < 500; count += 1) publisher.publish(delta('x'.repeat(50_000)));
    const heard: LiveMessage[] = [];
    opened(file).subscribe({ ...KEY, conversationId: 'c2' }, { live: true }, (message) =>
      heard.push(message),
    );
    await until('the quick one is known', () =>
      publisher.watched({ ...KEY, conversationId: 'c2' }),
    );
    publisher.publish(delta('a', { ...KEY, conversationId: 'c2' }));
    await until('the quick one hears', () => heard.length);
    slowSocket?.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
    slowSocket?.resume();
    await publisher.close();
    await until('the slow one has read all there is', () => slowSocket?.readableEnded);
    expect(receivedBytes).toBeGreaterThan(500_000);
    expect(receivedBytes).toBeLessThan(3_000_000);
  });

  it('skips malformed lines', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const publisher = opened(file);
    const rude = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('no json\n[1]\n{"watch":7}\nnull\n{"watch":"default/c1"}\n');
    });
    rude.listen(join(`${file}.live`, '1-rude.sock'));
    onTestFinished(() => {
      rude.close();
    });
    await until('the rude one is known', () => publisher.watched(KEY));
    expect(publisher.watched(KEY)).toEqual({ live: false });
  });
});
