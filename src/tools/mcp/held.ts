/**
 * Calls of older servers that stay open in this worker while somebody is asked. The question itself is as durable as any; the call is
 * not: it ends with this worker, with its connection, or when the time for the answer is over. Runs in the worker.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MCP_FAREWELL_MS } from '../../define/mcp/limits.js';
import type { ToolContext } from '../../define/tool/context.js';
import type { Json } from '../../protocol/values/json.js';
import type { PushedQuestions } from './pushed.js';
import type { HeldPlace } from './session/questions.js';

type Onlooker = Pick<ToolContext<never>, 'signal' | 'progress'>;

interface CallMeans {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Json) => void;
}

/** A request that is under way: for the time of one run, or, while its server waits for an answer, for longer. */
export class LiveCall {
  readonly pushed: PushedQuestions;
  /** What the server answers in the end. Rejections are seen by whoever looks on. */
  readonly answer: Promise<unknown>;
  readonly #stop = new AbortController();
  #onlooker: Onlooker | undefined;

  constructor(pushed: PushedQuestions, send: (means: CallMeans) => Promise<unknown>) {
    this.pushed = pushed;
    this.answer = send({
      signal: AbortSignal.any([this.#stop.signal, pushed.signal]),
      onProgress: (progress) => this.#onlooker?.progress(progress),
    });
    this.answer.catch(() => undefined);
  }

  /**
   * Looks on for one run, whose end ends the call, until the server has answered or waits for an answer.
   * @throws what the request threw
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

/** Those of one worker. */
export class HeldCalls {
  readonly #place: () => Promise<string>;
  readonly #held = new Map<string, Held>();
  #isClosed = false;

  /** `place`: the worker's own task queue, polled from then on. */
  constructor(place: () => Promise<string>) {
    this.#place = place;
  }

  /** Holds a call for so many milliseconds. Undefined when it cannot be held. Never throws. */
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

  /** The call, which is held no more; undefined when this worker has it not, or no more. */
  take(id: string): LiveCall | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    clearTimeout(held.timer);
    this.#held.delete(id);
    return held.call;
  }

  /** Servers that wait hear that nobody answers; those that do not end their calls then are not waited for. Never throws. */
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

/** Of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
