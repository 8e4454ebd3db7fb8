/** A `fetch` that a test answers: requests as they were sent, and event streams that the test writes and cuts. */
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';

export interface FetchCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** A body that is sent as it is. */
  readonly file: Blob | undefined;
  readonly signal: AbortSignal | undefined;
  /** The request outlives its page. */
  readonly keepalive: boolean;
}

export type Answerer = (call: FetchCall) => Response | Promise<Response>;

/** An answer that is thrown stands for a lost connection. */
export function scriptedFetch(answer: Answerer): {
  readonly fetch: typeof fetch;
  readonly calls: FetchCall[];
} {
  const calls: FetchCall[] = [];
  const fetched = async (address: string | URL | Request, init: RequestInit = {}) => {
    const { pathname, search } = new URL(
      address instanceof Request ? address.url : address,
      'http://api',
    );
    const { body } = init;
    const file = body instanceof Blob ? body : undefined;
    const call: FetchCall = {
      method: init.method ?? 'GET',
      path: pathname + search,
      headers: new Headers(init.headers),
      body: file === undefined ? parsed(body) : {},
      file,
      signal: init.signal ?? undefined,
      keepalive: init.keepalive === true,
    };
    calls.push(call);
    return answer(call);
  };
  return { fetch: fetched, calls };
}

function parsed(body: RequestInit['body']): FetchCall['body'] {
  return JSON.parse((body as string | undefined) ?? '{}') as FetchCall['body'];
}

export function json(body: unknown, init: ResponseInit = {}): Response {
  return Response.json(body, init);
}

export function problem(status: number, code: string, headers: Record<string, string> = {}) {
  const body = { status, code, title: code, type: `urn:${code}`, detail: `${code} it is` };
  return Response.json(body, { status, headers });
}

/** One connection of an event stream. */
export class FakeStream {
  readonly response: Response;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isCancelled = false;
  #isCut = false;

  constructor() {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#isCancelled = true;
      },
    });
    this.response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  /** The reader has left. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The test has cut it. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Sends these in one piece. */
  send(...frames: readonly (CanonicalEvent | LiveEvent | string)[]): void {
    const text = frames.map((frame) => (typeof frame === 'string' ? frame : frameText(frame)));
    this.#controller?.enqueue(this.#encoder.encode(text.join('')));
  }

  end(): void {
    this.#controller?.close();
  }

  cut(): void {
    this.#isCut = true;
    this.#controller?.error(new TypeError('the connection was lost'));
  }
}

export function frameText(event: CanonicalEvent | LiveEvent, generation = 1): string {
  const data = `data: ${JSON.stringify(event)}\n\n`;
  return 'seq' in event
    ? `id: ${generation}-${event.seq}\nevent: ${event.type}\n${data}`
    : `event: live.${event.type}\n${data}`;
}
