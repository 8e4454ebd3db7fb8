/**
 * Calls of older servers that stay open in this worker while a question waits for its answer. The question is durable;
 * the call is not: it ends with this worker, with its connection, or when the time for the answer is over. Runs in the
 * worker.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MCP_FAREWELL_MS } from '../../define/mcp/limits.js';
import type { ToolContext } from '../../define/tool/context.js';
import type { Json } from '../../protocol/values/json.js';
import type { PushedQuestions } from './pushed.js';
import type { HeldPlace } from './session/questions.js';

type Onlooker = Pick<ToolContext<never>, 'signal' | 'progress'>;

interface HeldCallDeps {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Json) => void;
}

/** A request in progress: for one run, or longer while its server waits for an answer. */
export class LiveCall {
  readonly pushed: PushedQuestions;
  /** The server's final response. `under` reports rejections. */
  readonly answer: Promise<unknown>;
  readonly #stop = new AbortController();
  #onlooker: Onlooker | undefined;

  constructor(pushed: PushedQuestions, send: (deps: HeldCallDeps) => Promise<unknown>) {
    this.pushed = pushed;
    this.answer = send({
      signal: AbortSignal.any([this.#stop.signal, pushed.signal]),
      onProgress: (progress) => this.#onlooker?.progress(progress),
    });
    this.answer.catch(() => undefined);
  }

  /**
   * Attaches one run, whose end ends the call, until the server has responded or waits for an answer.
   * @throws the error of the request
   */
  async under(run: Onlooker): Promise<'asked' | { readonly answer: unknown }> {
    const stop = (): void => {
      this.#stop.abort(run.signal.reason);
    };
    this.#onlooker = run;
    run.signal.addEventListener('abort', stop, { once: true });
    if (run.signal.aborted) stop();
    try {
      return await Promise.race([
        this.answer.then((answer) => ({ answer })),
        this.pushed.asked.then(() => 'asked' as const),
      ]);
    } finally {
      run.signal.removeEventListener('abort', stop);
      this.#onlooker = undefined;
    }
  }
}

interface Held {
  readonly call: LiveCall;
  readonly timer: NodeJS.Timeout;
}

/** The held calls of one worker. */
export class HeldCalls {
  readonly #place: () => Promise<string>;
  readonly #held = new Map<string, Held>();
  #isClosed = false;

  /** `place`: the worker's own task queue, polled from then on. */
  constructor(place: () => Promise<string>) {
    this.#place = place;
  }

  /** Holds a call for this many milliseconds. Undefined when it cannot be held. Never throws. */
  async keep(call: LiveCall, forMs: number): Promise<HeldPlace | undefined> {
    const at = await this.#place().catch(() => undefined);
    if (at === undefined || this.#isClosed) return undefined;
    const id = randomUUID();
    const timer = setTimeout(
      () => {
        this.take(id)?.pushed.giveUp();
      },
      Math.min(forMs, MAX_TIMER_MS),
    );
    timer.unref();
    this.#held.set(id, { call, timer });
    return { id, at };
  }

  /** Returns the call and stops holding it; undefined when this worker does not hold it, or no longer. */
  take(id: string): LiveCall | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    clearTimeout(held.timer);
    this.#held.delete(id);
    return held.call;
  }

  /** Cancels the questions of waiting servers, and waits a bounded time for their calls to end. Never throws. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#held.keys()].flatMap((id) => this.take(id) ?? []);
    if (calls.length === 0) return;
    for (const { pushed } of calls) pushed.giveUp();
    const over = new AbortController();
    const waited = delay(MCP_FAREWELL_MS, undefined, { signal: over.signal }).catch(
      () => undefined,
    );
    await Promise.race([Promise.allSettled(calls.map(({ answer }) => answer)), waited]);
    over.abort();
  }
}

/** Node's limit for timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;
