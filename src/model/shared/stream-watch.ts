/**
 * Watches one request to a provider: its caller's signal, and the silence that is allowed between two pieces. Runs in
 * the worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AbortSignalLike } from '../../protocol/model/model.js';
import { streamBroken, unavailable } from './failure.js';

/** Reasoning models are silent for minutes; Node's own fetch gives up after as long. */
const DEFAULT_REQUEST_TIMEOUT_MS = 300_000;

/** Ends a request when its caller aborts it, or when its server is silent for too long. */
export class Watch {
  readonly #stop = new AbortController();
  readonly #caller: AbortSignalLike;
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout;
  #heardAt = 0;
  #isSilent = false;
  #hasHeard = false;

  constructor(caller: AbortSignalLike, silenceMs = DEFAULT_REQUEST_TIMEOUT_MS) {
    this.#caller = caller;
    this.#silenceMs = silenceMs;
    this.#timer = setTimeout(this.#onSilence, silenceMs);
    caller.addEventListener('abort', this.#onAbort);
    if (caller.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Called for each piece from the server: restarts the timeout. */
  heard(): void {
    this.#hasHeard = true;
    // Moving the timer for each of thousands of pieces would cost more than a check when it fires.
    this.#heardAt = performance.now();
  }

  throwIfOver(): void {
    throwIfAborted(this.#caller);
    if (!this.#isSilent) return;
    const text = `The model was silent for ${this.#silenceMs} ms`;
    throw this.#hasHeard ? streamBroken(text) : unavailable(text);
  }

  /** @throws as `throwIfOver`, at once if the request ends meanwhile */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => undefined);
    this.throwIfOver();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onAbort);
  }

  readonly #onSilence = (): void => {
    const leftMs = this.#hasHeard ? this.#heardAt + this.#silenceMs - performance.now() : 0;
    if (leftMs > 0) {
      this.#timer = setTimeout(this.#onSilence, Math.ceil(leftMs));
      return;
    }
    this.#isSilent = true;
    this.#stop.abort();
  };

  readonly #onAbort = (): void => {
    this.#stop.abort();
  };
}

/** @throws the signal's reason, which says who stopped the call; an `AbortError` if signals have none */
export function throwIfAborted(signal: AbortSignalLike): void {
  if (!signal.aborted) return;
  if (signal instanceof AbortSignal) signal.throwIfAborted();
  throw new DOMException('The model call was aborted', 'AbortError');
}
