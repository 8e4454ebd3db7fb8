/** The publishing side: finds the sockets of subscribing processes, connects to each, and sends what each watches. */
import type { FSWatcher } from 'node:fs';
import { readdirSync, statSync, unlinkSync, watch as watchFolder } from 'node:fs';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { join } from 'node:path';

import { conversationKey } from '../../protocol/ids.js';
import type { LiveEvent } from '../../protocol/live-events.js';
import type { LiveMessage, Watch } from '../live-port.js';
import { canTake, onLines, sendLine } from './wire.js';

/**
 * Of calls that began: what comes next takes these along, for each write wakes another process. Nobody sees that they come this much later.
 */
const RIDES_ALONG: readonly LiveEvent['type'][] = ['model_call_started', 'tool_call_started'];
const RIDE_MS = 25;

/** Leftovers of a listener that died before its socket was ready. */
const UNREADY_LEFTOVER_MS = 60_000;

interface Subscriber {
  readonly socket: Socket;
  /** What it watches; the value says whether live events are wanted, too. */
  readonly interests: Map<string, boolean>;
  /** What is sent until then goes out in one write. */
  flushing?: NodeJS.Immediate | undefined;
  riding?: NodeJS.Timeout | undefined;
}

export class LivePublisher {
  readonly #directory: string;
  readonly #ownPath: string;
  readonly #onJoin: (keyText: string) => void;
  readonly #subscribers = new Map<string, Subscriber>();
  #folder: FSWatcher | undefined;
  #closed = false;

  /** @param onJoin Told when another process says that somebody there watches live events. */
  constructor(directory: string, ownPath: string, onJoin: (keyText: string) => void) {
    this.#directory = directory;
    this.#ownPath = ownPath;
    this.#onJoin = onJoin;
  }

  /** Looks for new sockets. Called each second as well: change notices may be missing or lost. Never throws. */
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
    const mayRide = message.type === 'live' && RIDES_ALONG.includes(message.event.type);
    let line: string | undefined;
    for (const subscriber of this.#subscribers.values()) {
      const wantsLive = subscriber.interests.get(keyText);
      if (wantsLive === undefined || (message.type !== 'appended' && !wantsLive)) continue;
      const { socket } = subscriber;
      if (!canTake(socket)) continue;
      line ??= JSON.stringify(message);
      if (socket.writableCorked === 0) socket.cork();
      sendLine(socket, line);
      flushLater(subscriber, mayRide);
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
      // Ends instead of being cut, so that what was published last still arrives.
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
      // The system has no watches left, or the folder is gone: the scan each second does it.
    }
  }

  #connect(path: string): void {
    const socket = createConnection({ path });
    const subscriber: Subscriber = { socket, interests: new Map() };
    this.#subscribers.set(path, subscriber);
    socket.unref();
    socket.on('error', (error) => {
      // Nobody listens: the process died without removing its socket.
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

/** What is sent in one turn of the loop, at least, goes out in one write. */
function flushLater(subscriber: Subscriber, mayRide: boolean): void {
  const flush = (): void => {
    clearImmediate(subscriber.flushing);
    clearTimeout(subscriber.riding);
    subscriber.flushing = undefined;
    subscriber.riding = undefined;
    subscriber.socket.uncork();
  };
  if (mayRide) subscriber.riding ??= setTimeout(flush, RIDE_MS).unref();
  else subscriber.flushing ??= setImmediate(flush);
}

function removeLeftover(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > UNREADY_LEFTOVER_MS) unlinkSync(path);
  } catch {
    // Somebody else was faster.
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody else was faster.
  }
}
