/** Waits for a conversation to move: woken by the live channel, or by the clock if nothing comes through it. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { LiveChannel, LiveMessage } from '../../store/ports/live.js';

const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 1_000;
/** A watcher that does not read keeps this many messages; older ones are dropped. */
const MAX_KEPT_MESSAGES = 2_000;

export interface ChangeWaiterOptions {
  readonly live: LiveChannel | undefined;
  readonly key: ConversationKey;
  readonly signal?: AbortSignal | undefined;
  /**
   * Subscribes to live events, too, and keeps all messages for `take`; without it only messages of the log wake, and
   * none is kept.
   */
  readonly keepMessages?: boolean;
}

export class ChangeWaiter {
  readonly #signal: AbortSignal | undefined;
  readonly #subscribe: () => () => void;
  #stop: () => void;
  readonly #messages: LiveMessage[] = [];
  #woken = false;
  #resolve: (() => void) | undefined;
  #pollMs = FIRST_POLL_MS;
  #pollAt: number;

  /** Subscribes at once, so that nothing is missed between a read of the store and the wait. */
  constructor(options: ChangeWaiterOptions) {
    const { live, key, signal, keepMessages = false } = options;
    this.#signal = signal;
    this.#pollAt = performance.now() + this.#pollMs;
    const hear = (message: LiveMessage): void => {
      if (keepMessages) this.#messages.push(message);
      if (this.#messages.length > MAX_KEPT_MESSAGES) this.#messages.shift();
      this.#wake();
    };
    this.#subscribe = () => live?.subscribe(key, { live: keepMessages }, hear) ?? (() => undefined);
    this.#stop = this.#subscribe();
    signal?.addEventListener('abort', this.#wake);
  }

  /** Subscribes anew, before the old subscription ends, so that the publisher repeats the content streamed so far. */
  joinAgain(): void {
    const stop = this.#stop;
    this.#stop = this.#subscribe();
    stop();
  }

  /** The oldest kept message. */
  take(): LiveMessage | undefined {
    return this.#messages.shift();
  }

  /** Whether it is time to read the store without a message. */
  isPollDue(): boolean {
    return performance.now() >= this.#pollAt;
  }

  /** To be called after each read: polls come often at first and while the log moves, later each second. */
  polled(hasMoved: boolean): void {
    this.#pollMs = hasMoved ? FIRST_POLL_MS : Math.min(this.#pollMs * 1.5, MAX_POLL_MS);
    this.#pollAt = performance.now() + this.#pollMs;
  }

  /** Resolves on a message, on abort, when the next poll is due, or after `atMostMs`. */
  async wait(atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const untilPollMs = this.#pollAt - performance.now();
    if (!this.#woken && this.#signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, Math.min(untilPollMs, atMostMs)));
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#resolve = undefined;
    this.#woken = false;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#wake);
    this.#stop();
  }

  readonly #wake = (): void => {
    this.#woken = true;
    this.#resolve?.();
  };
}
