/**
 * Open streams of the routes: no caller has more than its share, and a stream ends with the credentials that opened it.
 * Runs in Node.
 */
import type { Request, RequestHandler, Response } from 'express';
import { type Answer, type Caller, callerOf, type Identify, isAnswer, refusal } from './callers.js';
import type { StreamOf } from './stream.js';

/** Open streams of one caller. */
export const MAX_STREAMS = 1_000;
/** Milliseconds after which the callers of open streams are identified again: a key may have been revoked. */
export const RECHECK_MS = 5_000;
/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type StreamRight = 'answer' | 'read';

/** Resolves when the stream has ended; to an answer where none was opened. */
type OpenStream = (caller: Caller, of: StreamOf) => Promise<Answer | undefined>;

interface Streaming {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller;
  readonly right: StreamRight;
  readonly open: OpenStream;
}

export class OpenStreams {
  readonly #identify: Identify;
  readonly #ended: AbortSignal | undefined;
  /** Numbers of streams by caller; a caller without one takes no memory. */
  readonly #counts = new Map<string, number>();

  /** `ended` ends all streams. */
  constructor(identify: Identify, ended: AbortSignal | undefined) {
    this.#identify = identify;
    this.#ended = ended;
  }

  /** Answers a request of a caller who has the right with the stream that `open` writes. */
  answering(right: StreamRight, open: OpenStream): RequestHandler {
    return async (request, response) => {
      const caller = await callerOf(this.#identify, request, right);
      const answer = isAnswer(caller)
        ? caller
        : await this.run({ request, response, caller, right, open });
      if (answer !== undefined) response.status(answer.status).json(answer.body);
    };
  }

  /** Resolves when the stream has ended; to an answer where none was opened. @throws errors of `open` */
  async run(streaming: Streaming): Promise<Answer | undefined> {
    const { request, response, caller, open } = streaming;
    // The client may have left while its request was checked.
    if (response.closed) return undefined;
    const leave = this.#enter(caller);
    if (leave === undefined)
      return refusal(429, `A caller may have ${MAX_STREAMS} streams open at once`);
    const own = new AbortController();
    const end = (): void => {
      own.abort();
    };
    const signals = [own.signal, ...(this.#ended === undefined ? [] : [this.#ended])];
    const forget = [expiry(caller, end), this.#rechecks(streaming, own)];
    response.once('close', end);
    try {
      return await open(caller, { request, response, signal: AbortSignal.any(signals) });
    } catch (error) {
      // The reader may report the end that was asked for.
      if (own.signal.aborted) return undefined;
      throw error;
    } finally {
      for (const each of forget) each();
      end();
      leave();
    }
  }

  /** Counts a stream until the returned function is called; undefined where the caller has as many as it may. */
  #enter({ tenant, actor, conversation }: Caller): (() => void) | undefined {
    const name = JSON.stringify([tenant, actor.id, conversation]);
    const count = this.#counts.get(name) ?? 0;
    if (count >= MAX_STREAMS) return undefined;
    this.#counts.set(name, count + 1);
    return () => {
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left === 0) this.#counts.delete(name);
      else this.#counts.set(name, left);
    };
  }

  /** One check at a time: a scheme may be slow. Returns a function that ends the checks. */
  #rechecks({ request, caller, right }: Streaming, own: AbortController): () => void {
    let timer: NodeJS.Timeout | undefined;
    const check = async (): Promise<void> => {
      // A scheme that cannot say now says it later.
      const isSame = await this.#isSame({ request, caller, right }).catch(() => true);
      if (!isSame) own.abort();
      else if (!own.signal.aborted) wait();
    };
    const wait = (): void => {
      timer = setTimeout(() => void check(), RECHECK_MS);
    };
    wait();
    return () => {
      clearTimeout(timer);
    };
  }

  /** Whether the credentials still identify the same caller, who may do and answer no less than before. */
  async #isSame({
    request,
    caller,
    right,
  }: Pick<Streaming, 'caller' | 'request' | 'right'>): Promise<boolean> {
    const now = await callerOf(this.#identify, request, right);
    if (isAnswer(now)) return false;
    const keeps = (had: readonly string[] = [], has: readonly string[] = []): boolean =>
      had.every((one) => has.includes(one));
    return (
      now.tenant === caller.tenant &&
      now.actor.id === caller.actor.id &&
      now.conversation === caller.conversation &&
      (now.actor.verified || !caller.actor.verified) &&
      keeps(caller.actor.roles, now.actor.roles) &&
      keeps(caller.rights, now.rights)
    );
  }
}

/** Calls `end` at the end of the caller's credentials. Returns a function that forgets it. */
function expiry({ expiresAt }: Caller, end: () => void): () => void {
  if (expiresAt === undefined) return () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const leftMs = expiresAt.getTime() - Date.now();
    timer = leftMs > MAX_TIMER_MS ? setTimeout(wait, MAX_TIMER_MS) : setTimeout(end, leftMs);
  };
  wait();
  return () => {
    clearTimeout(timer);
  };
}
