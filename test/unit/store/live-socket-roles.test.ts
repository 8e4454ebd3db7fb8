/** Processes at one socket that change their part: they subscribe later, close, end, or send no line. */

import { once } from 'node:events';
import { existsSync, statSync, symlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  HUB_SOCKET,
  liveDirectoryFor,
  makeLiveDirectory,
} from '../../../src/store/live/directory.js';
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import type { LiveChannel, LiveMessage } from '../../../src/store/ports/live.js';
import { patient } from '../../support/patience.js';
import { delta, textsOf } from '../../support/samples/live-messages.js';
import { KEY } from '../../support/samples/log-events.js';
import { startChild } from '../../support/servers/children.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const OTHER = { ...KEY, conversationId: 'other' };

/** A hub that subscribes, and a process that is connected to it as a publisher. */
async function hubAndPeer(): Promise<{ file: string; hub: LiveChannel; peer: LiveChannel }> {
  const file = join(temporaryFolder(), 'log.db');
  const [hub, peer] = [openLiveChannel({ file }), openLiveChannel({ file })];
  onTestFinished(async () => {
    await hub.close();
    await peer.close();
  });
  hub.subscribe(OTHER, { live: true }, () => undefined);
  await until('the hub listens', () => inodeAt(file));
  await until('the peer is connected', () => peer.watched(OTHER));
  return { file, hub, peer };
}

function inodeAt(file: string): number | undefined {
  return statSync(join(liveDirectoryFor(file), HUB_SOCKET), { throwIfNoEntry: false })?.ino;
}

it('a process that has only published until now receives messages once it subscribes', async () => {
  const { hub, peer } = await hubAndPeer();
  const heard: LiveMessage[] = [];
  peer.subscribe(KEY, { live: true }, (message) => heard.push(message));
  await until('the hub knows', () => hub.watched(KEY));
  hub.publish(delta('a'));
  await until('the message', () => heard.length);
  expect(textsOf(heard)).toEqual(['a']);
});

it('a process that closes leaves the socket of the hub in place', async () => {
  const { file, peer } = await hubAndPeer();
  const inode = inodeAt(file);
  await peer.close();
  expect(inodeAt(file)).toBe(inode);
});

it('a process that sends a line without an end is disconnected, and no other is', async () => {
  const { file, hub, peer } = await hubAndPeer();
  const endless = createConnection(join(liveDirectoryFor(file), HUB_SOCKET));
  endless.on('error', () => undefined);
  endless.write('x'.repeat(5 * 1024 * 1024));
  await until('the connection is closed', () => endless.closed);
  const heard: LiveMessage[] = [];
  hub.subscribe(OTHER, { live: true }, (message) => heard.push(message));
  peer.publish(delta('a', OTHER));
  await until('the message', () => heard.length);
});

/** The checks of each second, which repair everything in the end, run only when the test advances them. */
function holdChecks(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

it('a hub that closes is replaced without waiting for the next check', async () => {
  holdChecks();
  const { file, hub, peer } = await hubAndPeer();
  const third = openLiveChannel({ file });
  onTestFinished(() => third.close());
  third.subscribe(KEY, { live: true }, () => undefined);
  await until('the third is connected', () => peer.watched(KEY));
  await hub.close();
  expect(inodeAt(file)).toBeUndefined();
  await until('another process listens', () => inodeAt(file));
  await until('the peer is connected again', () => peer.watched(KEY));
});

it('a hub that has nothing to pass on is not replaced', async () => {
  holdChecks();
  const { file } = await hubAndPeer();
  const inode = inodeAt(file);
  const socket = createConnection(join(liveDirectoryFor(file), HUB_SOCKET));
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  for (let check = 0; check < 8; check += 1) {
    const sign = once(socket, 'data', { signal: AbortSignal.timeout(patient(10_000)) });
    vi.advanceTimersByTime(1_000);
    expect(String(await sign)).toMatch(/^\n+$/);
  }
  expect(inodeAt(file)).toBe(inode);
});

it('a hub whose process has nothing else to do ends', async () => {
  const program = new URL('../../support/servers/live-child.ts', import.meta.url);
  const child = startChild(program, ['idle', join(temporaryFolder(), 'log.db')]);
  expect(await child.ended).toBe(0);
});

it('a folder of the socket is refused when it is a link, or belongs to another user', () => {
  const folder = temporaryFolder();
  const link = join(folder, 'link');
  symlinkSync(folder, link);
  expect(() => makeLiveDirectory(link)).toThrow('belongs to another user');
  vi.spyOn(process, 'getuid').mockReturnValueOnce((process.getuid?.() ?? 0) + 1);
  expect(() => makeLiveDirectory(folder)).toThrow('belongs to another user');
});

it('a database in memory has no folder, and a channel inside the process', async () => {
  const channel = openLiveChannel({ file: ':memory:' });
  onTestFinished(() => channel.close());
  const heard: LiveMessage[] = [];
  channel.subscribe(KEY, { live: true }, (message) => heard.push(message));
  channel.publish(delta('a'));
  expect(textsOf(heard)).toEqual(['a']);
  expect(existsSync(liveDirectoryFor(':memory:'))).toBe(false);
});
