/**
 * The publishing side: finds the sockets of subscribing processes, connects to each, and sends the messages that each
 * watches.
 */
import type { FSWatcher } from 'node:fs';
import { readdirSync, statSync, unlinkSync, watch as watchFolder } from 'node:fs';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { join } from 'node:path';

import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveMessage, Watch } from '../ports/live.js';
import { onLines } from './framing.js';
import { Outlet } from './socket-writer.js';

/**
 * Age in milliseconds of a socket that is removed as a leftover, of a listener that died before its socket was ready.
 */
const UNREADY_LEFTOVER_MS = 60_000;

interface Subscriber {
  readonly socket: Socket;
  /** Keys of the conversations that it watches; the value is true if live events are wanted, too. */
  readonly interests: Map<string, boolean>;
  readonly outlet: Outlet;
}

export class LivePublisher {
  readonly #directory: string;
  readonly #ownPath: string;
  readonly #onJoin: (keyText: string) => void;
  readonly #subscribers = new Map<string, Subscriber>();
  #folder: FSWatcher | undefined;
  #closed = false;

  /** @param onJoin Called when another process begins to watch live events of a conversation. */
  constructor(directory: string, ownPath: string, onJoin: (keyText: string) => void) {
    this.#directory = directory;
    this.#ownPath = ownPath;
    this.#onJoin = onJoin;
  }

  /**
   * Searches the folder for new sockets. Also called each second, because change notices may be missing or lost. Never
   * throws.
   */
  scan(): void {
    if (this.#closed) return;
    this.#watchFolder();
    for (const name of this.#names()) {
      const path = join(this.#directory, name);
      if (name.endsWith('.new')) removeLeftover(path);
      if (!name.endsWith('.sock') || path === this.#ownPath) continue;
      if (!this.#subscribers.has(path)) this.#connect(path);
    }
  }

  publish(message: LiveMessage): void {
    const keyText = conversationKey(message);
    let line: string | undefined;
    for (const { interests, outlet } of this.#subscribers.values()) {
      const wantsLive = interests.get(keyText);
      if (wantsLive === undefined || (message.type !== 'appended' && !wantsLive)) continue;
      if (!outlet.canTake) continue;
      line ??= JSON.stringify(message);
      outlet.send(line, message);
    }
  }

  watchOf(keyText: string): Watch | undefined {
    let found: Watch | undefined;
    for (const { interests } of this.#subscribers.values()) {
      const live = interests.get(keyText);
      if (live === true) return { live };
      if (live === false) found = { live };
    }
    return found;
  }

  close(): void {
    this.#closed = true;
    this.#folder?.close();
    for (const { socket } of this.#subscribers.values()) {
      // Ended instead of destroyed, so that the last published messages still arrive.
      socket.end();
      socket.unref();
    }
    this.#subscribers.clear();
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#directory);
    } catch {
      return [];
    }
  }

  #watchFolder(): void {
    if (this.#folder !== undefined) return;
    try {
      const folder = watchFolder(this.#directory, { persistent: false });
      folder.on('change', () => {
        this.scan();
      });
      folder.on('error', () => {
        folder.close();
        if (this.#folder === folder) this.#folder = undefined;
      });
      this.#folder = folder;
    } catch {
      // The system has no watches left, or the folder is gone: the scan each second finds the sockets.
    }
  }

  #connect(path: string): void {
    const socket = createConnection({ path });
    const subscriber = {
      socket,
      interests: new Map<string, boolean>(),
      outlet: new Outlet(socket),
    };
    this.#subscribers.set(path, subscriber);
    socket.unref();
    socket.on('error', (error) => {
      // No process listens: the owner died without removing its socket.
      if ('code' in error && error.code === 'ECONNREFUSED') remove(path);
    });
    socket.on('close', () => {
      if (this.#subscribers.get(path) === subscriber) this.#subscribers.delete(path);
    });
    onLines(socket, (interest) => {
      const { watch, unwatch, live } = interest;
      if (typeof watch === 'string') {
        subscriber.interests.set(watch, live === true);
        if (live === true) this.#onJoin(watch);
      }
      if (typeof unwatch === 'string') subscriber.interests.delete(unwatch);
    });
  }
}

function removeLeftover(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > UNREADY_LEFTOVER_MS) unlinkSync(path);
  } catch {
    // Another process removed it first.
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process removed it first.
  }
}
