/**
 * What one subscribing process is sent. Each write wakes it, and beside a busy worker that costs both more than what is written: so writes keep
 * a distance, and what comes between two of them goes out together.
 *
 * O1  After a pause nothing waits, but for what nobody misses.
 * O2  What ends a wait (the log has grown) waits least.
 */
import type { Socket } from 'node:net';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { LiveMessage } from '../ports/live.js';
import { canTake, sendLine } from './wire.js';

/** Of calls that began: what comes next takes these along. Nobody sees that they come this much later. */
const RIDES_ALONG: readonly LiveEvent['type'][] = ['model_call_started', 'tool_call_started'];
const RIDE_MS = 25;
/** Since the write before. Pieces of one text come thirty milliseconds apart. */
const LIVE_GAP_MS = 10;
const APPENDED_GAP_MS = 4;

export class Outlet {
  readonly #socket: Socket;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** False when the process is slow or gone: what it would be sent is dropped. */
  get canTake(): boolean {
    return canTake(this.#socket);
  }

  /** Takes one message as its line. */
  send(line: string, message: LiveMessage): void {
    // What is sent in one turn of the loop, at least, goes out in one write.
    if (this.#socket.writableCorked === 0) this.#socket.cork();
    sendLine(this.#socket, line);
    const now = performance.now();
    const dueAt = Math.max(now, this.#dueOf(message, now));
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    if (dueAt <= now) this.#immediate = setImmediate(this.#write);
    else this.#timer = setTimeout(this.#write, dueAt - now).unref();
  }

  #dueOf(message: LiveMessage, now: number): number {
    if (message.type === 'appended') return this.#writtenAt + APPENDED_GAP_MS;
    if (message.type === 'live' && RIDES_ALONG.includes(message.event.type)) return now + RIDE_MS;
    return this.#writtenAt + LIVE_GAP_MS;
  }

  readonly #write = (): void => {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#writtenAt = performance.now();
    this.#socket.uncork();
  };
}
