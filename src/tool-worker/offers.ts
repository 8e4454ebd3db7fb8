/**
 * The offers that a worker knows: a copy of what the API has sent in its stream, over any number of connections. Data of
 * the stream is not trusted: what is not an offer of one of the worker's tools is left out.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { BackOff, isAborted, pause } from '../net/retries.js';
import type { ToolOffer } from '../protocol/calls/claims.js';
import { isRecord } from '../protocol/values/json.js';
import { type Api, messageOf, NoVerdict, PAUSES } from './api.js';

/** Milliseconds. The API writes something every 15 s at least. */
const SILENCE_MS = 45_000;
/** Characters of one event: an input has 1 MB at most. */
const MAX_EVENT_CHARS = 8_000_000;
/** The API sends a thousand at most. */
const MAX_OFFERS = 2_000;
/** So many tries without a stream take several seconds. */
const LONG_TRIES = 6;
/** Workers choose one of so many, so that few of them claim the same. */
const CHOICE = 16;
const ID = /^[\x21-\x7e]{1,100}$/;

export class Offers {
  readonly #api: Api;
  readonly #tools: ReadonlySet<string>;
  readonly #onChange: () => void;
  readonly #onFailure: (failure: Error) => void;
  /** By ref. */
  readonly #known = new Map<string, ToolOffer>();
  /** States of calls that were tried, by ref: a call is tried again when it is offered in another state. */
  readonly #tried = new Map<string, string>();
  #lastId: string | undefined;

  constructor(
    api: Api,
    tools: Iterable<string>,
    on: { readonly change: () => void; readonly failure: (failure: Error) => void },
  ) {
    this.#api = api;
    this.#tools = new Set(tools);
    this.#onChange = on.change;
    this.#onFailure = on.failure;
  }

  /**
   * One of the first offers that were not tried, and whose call does not run here. Counts as tried from now on.
   */
  take(isRunning: (ref: string) => boolean): ToolOffer | undefined {
    const choice: ToolOffer[] = [];
    for (const offer of this.#known.values()) {
      if (this.#tried.get(offer.ref) === stateOf(offer) || isRunning(offer.ref)) continue;
      if (choice.push(offer) === CHOICE) break;
    }
    const offer = choice[Math.floor(Math.random() * choice.length)];
    if (offer !== undefined) this.#tried.set(offer.ref, stateOf(offer));
    return offer;
  }

  /** Reads the stream, over and over, until the signal aborts. */
  async read(stopped: AbortSignal): Promise<void> {
    const backOff = new BackOff(PAUSES);
    let reported = '';
    while (!isAborted(stopped)) {
      let waitMs: number | undefined;
      try {
        await this.#connect(stopped, () => {
          backOff.reset();
          reported = '';
        });
      } catch (error) {
        const failure = error instanceof NoVerdict ? error : undefined;
        waitMs = failure?.retryAfterMs;
        // The id may be the reason.
        if (failure?.isPassing === false) this.#forget();
        const text = messageOf(error);
        // An API that restarts is no failure; one that does not come back, or refuses, is reported once.
        const isFailure = (failure?.status ?? 0) > 0 || backOff.tries >= LONG_TRIES;
        if (!isAborted(stopped) && text !== reported && isFailure) {
          reported = text;
          this.#onFailure(error instanceof Error ? error : new Error(text));
        }
      }
      await pause(backOff.next(waitMs), stopped);
    }
  }

  /** Calls `onNews` when the stream has more than its beginning, which a server that ends it at once sends as well. */
  async #connect(stopped: AbortSignal, onNews: () => void): Promise<void> {
    const leaving = new AbortController();
    const signal = AbortSignal.any([stopped, leaving.signal]);
    let unusable: string | undefined;
    const leave = (why: string): void => {
      unusable = why;
      leaving.abort();
    };
    const onSilence = (): void => leave(`The stream was silent for ${SILENCE_MS} ms`);
    let timer = setTimeout(onSilence, SILENCE_MS);
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (message) => {
        onNews();
        this.#take(message);
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded')
          leave(`An event of the stream has more than ${MAX_EVENT_CHARS} characters`);
      },
    });
    try {
      const response = await this.#api.stream(this.#lastId, signal);
      const decoder = new TextDecoder();
      const reader = response.body?.getReader();
      for (let chunks = 0; ; chunks += 1) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done || signal.aborted) break;
        if (chunks > 0) onNews();
        clearTimeout(timer);
        timer = setTimeout(onSilence, SILENCE_MS);
        parser.feed(decoder.decode(chunk.value, { stream: true }));
      }
    } catch (error) {
      if (unusable === undefined) throw error;
    } finally {
      clearTimeout(timer);
      leaving.abort();
    }
    // Not a cut connection: the peer may be something else than the API.
    if (unusable !== undefined) throw new NoVerdict(unusable, 502);
  }

  #take({ event, id, data }: EventSourceMessage): void {
    const value = parsed(data);
    if (event === 'reset') this.#forget();
    else if (event === 'offer' && isOffer(value)) {
      if (
        this.#tools.has(value.tool) &&
        (this.#known.has(value.ref) || this.#known.size < MAX_OFFERS)
      )
        this.#known.set(value.ref, value);
    } else if (event === 'gone' && isRecord(value) && typeof value['ref'] === 'string') {
      this.#known.delete(value['ref']);
      this.#tried.delete(value['ref']);
    }
    if (id !== undefined && ID.test(id)) this.#lastId = id;
    this.#onChange();
  }

  #forget(): void {
    this.#known.clear();
    this.#lastId = undefined;
    // An offer that another worker holds by now may be tried once more, and is refused once more.
    this.#tried.clear();
  }
}

function stateOf({ attempt, openedAt, deadline, argsDigest }: ToolOffer): string {
  return JSON.stringify([attempt, openedAt, deadline, argsDigest]);
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

const TEXTS = [
  'ref',
  'conversationId',
  'toolCallId',
  'turnId',
  'agent',
  'tool',
  'deadline',
] as const;

function isOffer(value: unknown): value is ToolOffer {
  if (!isRecord(value)) return false;
  const isText = (field: string): boolean =>
    typeof value[field] === 'string' && value[field] !== '';
  return (
    TEXTS.every(isText) &&
    Number.isSafeInteger(value['attempt']) &&
    'input' in value &&
    (value['argsDigest'] === undefined || isText('argsDigest'))
  );
}
