/**
 * The subscribing side: a socket of this process, where publishers connect, receive its interests, and send matching
 * messages.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, unlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';

import type { LiveMessage, Watch } from '../ports/live.js';
import { onLines, sendInterest } from './framing.js';
import type { LiveSubscriptions } from './subscriptions.js';

export class LiveListener {
  readonly path: string;
  readonly #subscriptions: LiveSubscriptions;
  readonly #publishers = new Set<Socket>();
  #server: Server | undefined;

  constructor(directory: string, subscriptions: LiveSubscriptions) {
    this.path = join(directory, `${process.pid}-${randomBytes(4).toString('hex')}.sock`);
    this.#subscriptions = subscriptions;
  }

  /** Listens, unless it already does and its socket still exists. Safe to repeat; never throws. */
  ensure(): void {
    if (this.#server !== undefined && (!this.#server.listening || existsSync(this.path))) return;
    this.#server?.close();
    const server = createServer((socket) => {
      this.#accept(socket);
    });
    this.#server = server;
    server.on('error', () => {
      if (this.#server === server) this.#server = undefined;
    });
    // Created under another name and renamed once it listens: a publisher that found the socket earlier would be
    // refused, and would take it for one of a dead process.
    const unready = `${this.path}.new`;
    server.listen(unready, () => {
      try {
        renameSync(unready, this.path);
      } catch {
        server.close();
        if (this.#server === server) this.#server = undefined;
      }
    });
    server.unref();
  }

  changed(keyText: string, watch: Watch | undefined): void {
    for (const socket of this.#publishers) tell(socket, keyText, watch);
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#publishers) socket.destroy();
    try {
      unlinkSync(this.path);
    } catch {
      // The socket was never created, or is already removed.
    }
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  }

  #accept(socket: Socket): void {
    this.#publishers.add(socket);
    socket.unref();
    socket.on('error', () => undefined);
    socket.on('close', () => this.#publishers.delete(socket));
    onLines(socket, (message) => {
      if (isLiveMessage(message)) this.#subscriptions.deliver(message);
    });
    for (const [keyText, watch] of this.#subscriptions.all()) tell(socket, keyText, watch);
  }
}

function tell(socket: Socket, keyText: string, watch: Watch | undefined): void {
  const interest =
    watch === undefined ? { unwatch: keyText } : { watch: keyText, live: watch.live };
  sendInterest(socket, interest);
}

/** Checks only that the message is complete, because no other user's processes can connect. */
function isLiveMessage(value: object): value is LiveMessage {
  if (!('tenant' in value) || typeof value.tenant !== 'string') return false;
  if (!('conversationId' in value) || typeof value.conversationId !== 'string') return false;
  if (!('type' in value)) return false;
  const { type } = value;
  return type === 'appended' || ((type === 'live' || type === 'so_far') && 'event' in value);
}
