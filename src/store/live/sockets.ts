/**
 * The live channel between the processes of one machine that share a database file, over one unix socket beside it. The
 * process that listens is the hub: the others connect to it, and it passes their lines on. When it ends, another one
 * takes its place.
 *
 * S1  The newest socket file counts: a hub that finds another one in its place resigns and connects to that.
 * S2  A process that is slow or gone costs the hub 2 MB at most: further lines for it are dropped.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

import type { LiveChannel } from '../ports/live.js';
import type { Bus, BusEvents, Line, Topic } from './bus.js';
import { createLiveChannel } from './channel.js';
import { HUB_SOCKET, liveDirectoryFor, makeLiveDirectory } from './directory.js';
import { createLocalLiveChannel } from './local.js';

/** Milliseconds between two checks, which repair what was missed: a hub that is gone, a file that was removed. */
const CHECK_MS = 1_000;
/** A hub that was silent for more checks than this is taken for frozen. */
const MAX_SILENT_CHECKS = 3;
/** Maximum of milliseconds until processes that lost their hub connect again: at random, so that one is first. */
const RECONNECT_MS = 50;
/** Milliseconds after which a new hub checks for the first time whether its socket file is still in place. */
const RECHECK_MS = 100;
/** Ends the name of a socket file that is not in place yet. */
const NEW_SUFFIX = '.new';
/** A peer with this much unread data is slow. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** A longer line does not come from this channel. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;

/**
 * Opens the channel. Never fails: where sockets cannot be used, it works inside this process only, and readers poll the
 * store. So it does on Windows, which has no such socket files.
 */
export function openLiveChannel({ file }: { readonly file: string }): LiveChannel {
  if (file === ':memory:' || process.platform === 'win32') return createLocalLiveChannel();
  return createLiveChannel((events) => new SocketBus(liveDirectoryFor(file), events));
}

class SocketBus implements Bus {
  readonly #directory: string;
  readonly #path: string;
  readonly #events: BusEvents;
  readonly #topics = new Set<Topic>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The connection to the hub. */
  #hub: Socket | undefined;
  #silentChecks = 0;
  /** Present while this process is the hub, or about to be. */
  #server: Server | undefined;
  #inode: number | undefined;
  /** The connections to the hub, with the topics that each receives. */
  readonly #peers = new Map<Socket, Set<string>>();

  constructor(directory: string, events: BusEvents) {
    this.#directory = directory;
    this.#path = join(directory, HUB_SOCKET);
    this.#events = events;
  }

  listen(topic: Topic): void {
    if (this.#closed) return;
    this.#topics.add(topic);
    this.#hub?.write(`+${topic}\n`);
    this.#timer ??= setInterval(this.#check, CHECK_MS).unref();
    this.#connect();
  }

  send(lines: readonly Line[]): void {
    if (this.#hub !== undefined) put(this.#hub, lines.map(frameOf).join(''));
    else this.#relay(lines);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    // Ended instead of destroyed, so that the last lines still arrive.
    for (const socket of [this.#hub, ...this.#peers.keys()]) socket?.end();
    if (this.#isHub()) rmSync(this.#path, { force: true });
    this.#server?.close();
    await Promise.resolve();
  }

  /** Connects to the hub, unless this process is connected or the hub itself. */
  readonly #connect = (): void => {
    if (this.#closed || this.#hub !== undefined || this.#server !== undefined) return;
    try {
      makeLiveDirectory(this.#directory);
    } catch {
      // The next check tries again.
      return;
    }
    const socket = createConnection(this.#path).unref();
    this.#hub = socket;
    this.#silentChecks = 0;
    let wasConnected = false;
    let isAbsent = false;
    socket.on('connect', () => {
      wasConnected = true;
      socket.write(`-${frameOf(this.#events.will)}`);
      for (const topic of this.#topics) socket.write(`+${topic}\n`);
      this.#events.onConnected();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // ECONNREFUSED: the hub was killed, and its socket file is left.
      isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
    });
    socket.on('close', () => {
      if (this.#hub !== socket) return;
      this.#hub = undefined;
      if (isAbsent && !wasConnected) this.#serve();
      else if (wasConnected) setTimeout(this.#connect, Math.random() * RECONNECT_MS).unref();
    });
    onLines(socket, (lines) => {
      this.#silentChecks = 0;
      this.#receive(lines.map(lineOf));
    });
  };

  /** Becomes the hub. */
  #serve(): void {
    if (this.#closed || this.#server !== undefined) return;
    const server = createServer((socket) => {
      this.#accept(socket);
    });
    this.#server = server;
    server.on('error', () => {
      if (this.#server === server) this.#resign();
    });
    // Created under another name, renamed once it listens: so its inode is known, and no process finds it too early.
    const path = join(
      this.#directory,
      `${process.pid}-${randomBytes(4).toString('hex')}${NEW_SUFFIX}`,
    );
    server.listen({ path, exclusive: true }, () => {
      if (this.#server !== server || this.#closed) return;
      try {
        // Another process may do the same at this moment.
        setTimeout(this.#check, RECHECK_MS).unref();
        this.#inode = inodeOf(path);
        renameSync(path, this.#path);
        this.#removeLeftovers();
        this.#events.onConnected();
      } catch {
        this.#resign();
      }
    });
    server.unref();
  }

  /**
   * Removes sockets of processes that were killed before they renamed them. A living process that is about to rename
   * its own finds this hub instead.
   */
  #removeLeftovers(): void {
    for (const name of readdirSync(this.#directory))
      if (name.endsWith(NEW_SUFFIX)) rmSync(join(this.#directory, name), { force: true });
  }

  #resign(): void {
    this.#server?.close();
    this.#server = undefined;
    this.#inode = undefined;
    for (const peer of this.#peers.keys()) peer.destroy();
  }

  #isHub(): boolean {
    return this.#inode !== undefined && inodeOf(this.#path) === this.#inode;
  }

  #accept(peer: Socket): void {
    const topics = new Set<string>();
    let will: Line[] = [];
    this.#peers.set(peer, topics);
    peer.unref();
    peer.on('error', () => undefined);
    peer.on('close', () => {
      this.#peers.delete(peer);
      pass(will);
    });
    const pass = (lines: readonly Line[]): void => {
      this.#receive(lines);
      this.#relay(lines);
    };
    onLines(peer, (lines) => {
      for (const line of lines)
        if (line.startsWith('+')) topics.add(line.slice(1));
        else if (line.startsWith('-')) will = [lineOf(line.slice(1))];
      pass(lines.filter((line) => !/^[+-]/.test(line)).map(lineOf));
    });
  }

  #receive(lines: readonly Line[]): void {
    for (const line of lines) if (this.#topics.has(line.topic)) this.#events.onLine(line);
  }

  /** As the hub, passes lines to the processes that listen, also to their sender, which skips its own. */
  #relay(lines: readonly Line[]): void {
    for (const [peer, topics] of this.#peers) {
      const wanted = lines.filter(({ topic }) => topics.has(topic));
      put(peer, wanted.map(frameOf).join(''));
    }
  }

  readonly #check = (): void => {
    if (this.#closed) return;
    if (this.#inode !== undefined && !this.#isHub()) this.#resign();
    // Shows the others that this hub is not frozen.
    for (const peer of this.#peers.keys()) put(peer, '\n');
    this.#silentChecks += 1;
    if (this.#hub !== undefined && this.#silentChecks > MAX_SILENT_CHECKS) {
      this.#hub.destroy();
      this.#hub = undefined;
      this.#serve();
    }
    this.#connect();
  };
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}

function frameOf({ topic, text }: Line): string {
  return `${topic} ${text}\n`;
}

function lineOf(frame: string): Line {
  const [topic = ''] = frame.split(' ', 1);
  return { topic: topic as Topic, text: frame.slice(topic.length + 1) };
}

/** Writes, unless the peer is slow, gone or not connected yet. */
function put(socket: Socket, text: string): void {
  if (text === '' || !socket.writable || socket.connecting) return;
  if (socket.writableLength <= MAX_UNREAD_BYTES) socket.write(text);
}

/** Calls back with the lines of each chunk; empty ones are left out. */
function onLines(socket: Socket, receive: (lines: readonly string[]) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) socket.destroy();
    receive(lines.filter((line) => line !== ''));
  });
}
