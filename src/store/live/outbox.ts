/**
 * Collects the messages for other processes. Each batch wakes them, and beside a busy worker this costs both sides more
 * than the bytes: so batches keep a minimum distance, and messages that arrive between two of them go out together.
 *
 * O1  After a pause every message goes out at once, except those that no reader misses for some milliseconds.
 * O2  The message that ends a reader's wait (the log has grown) is delayed least.
 */
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { LiveMessage } from '../ports/live.js';

/** Events of calls that began. The next message takes them along; a reader cannot notice a delay this short. */
const RIDES_ALONG: readonly LiveEvent['type'][] = ['model_call_started', 'tool_call_started'];
const RIDE_MS = 25;
/** Milliseconds since the previous batch. Pieces of one text come thirty milliseconds apart. */
const LIVE_GAP_MS = 10;
const APPENDED_GAP_MS = 4;
/** A batch with this many characters takes no further message. */
const MAX_BATCH_CHARS = 1024 * 1024;

export class Outbox {
  readonly #send: (texts: readonly string[]) => void;
  #texts: string[] = [];
  #chars = 0;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(send: (texts: readonly string[]) => void) {
    this.#send = send;
  }

  /** Queues one message, as its text. Messages of one turn of the event loop, at least, go out together. */
  add(text: string, message: LiveMessage): void {
    if (this.#chars > MAX_BATCH_CHARS) return;
    this.#texts.push(text);
    this.#chars += text.length;
    const now = performance.now();
    const dueAt = Math.max(now, this.#dueOf(message, now));
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    if (dueAt <= now) this.#immediate = setImmediate(this.flush);
    else this.#timer = setTimeout(this.flush, dueAt - now).unref();
  }

  readonly flush = (): void => {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    const texts = this.#texts;
    this.#texts = [];
    this.#chars = 0;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#sentAt = performance.now();
    if (texts.length > 0) this.#send(texts);
  };

  #dueOf(message: LiveMessage, now: number): number {
    if (message.type === 'appended') return this.#sentAt + APPENDED_GAP_MS;
    if (message.type === 'live' && RIDES_ALONG.includes(message.event.type)) return now + RIDE_MS;
    return this.#sentAt + LIVE_GAP_MS;
  }
}
