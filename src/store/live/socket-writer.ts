/**
 * Batches the messages for one subscribing process. Each write wakes that process, and beside a busy worker this costs
 * both more than the bytes: so writes keep a minimum distance, and messages that arrive between two writes go out
 * together.
 *
 * O1  After a pause every message goes out at once, except those that no reader misses for some milliseconds.
 * O2  The message that ends a reader's wait (the log has grown) is delayed least.
 */
import type { Socket } from 'node:net';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { LiveMessage } from '../ports/live.js';
import { canTake, sendLine } from './framing.js';

/** Events of calls that began. The next message takes them along; a reader cannot notice a delay this short. */
const RIDES_ALONG: readonly LiveEvent['type'][] = ['model_call_started', 'tool_call_started'];
const RIDE_MS = 25;
/** Milliseconds since the previous write. Pieces of one text come thirty milliseconds apart. */
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

  /** False when the process is slow or gone: its messages are dropped. */
  get canTake(): boolean {
    return canTake(this.#socket);
  }

  /** Queues one message, as its line. */
  send(line: string, message: LiveMessage): void {
    // Messages sent in one turn of the event loop, at least, go out in one write.
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
