/**
 * OpenAI's background mode, as far as an adapter sees it: responses that are made with or without a listener, streams
 * that can be cut and resumed behind any event, polls, and cancels. Speaks in the types of the `openai` package; a
 * test has its client read it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type OpenAI from 'openai';
import { eventsOf, wholeResponse } from '../samples/wire-events.js';

type Response = OpenAI.Responses.Response;
type StreamEvent = OpenAI.Responses.ResponseStreamEvent;
type Body = OpenAI.Responses.ResponseCreateParams;

export interface BackgroundOptions {
  /** The answer to the n-th creation, from 1. */
  readonly items: (ordinal: number) => Parameters<typeof eventsOf>[0];
  /** Fields of the response at its end. */
  readonly last?: (ordinal: number) => Partial<Response>;
  /**
   * Behind so many events comes an `error` with this code, and no other; the response fails without an event, unless
   * `continues` is set.
   */
  readonly error?: { readonly behind: number; readonly code: string; readonly continues?: boolean };
  /** No more events than these are made before `release`. @defaultValue all */
  readonly heldAfter?: number;
  /** Time to make an event, until `release`. @defaultValue 0 */
  readonly paceMs?: number;
  /** The n-th stream is cut behind so many events. */
  readonly cuts?: readonly (number | undefined)[];
  /** @defaultValue true */
  readonly streamsAgain?: boolean;
}

interface Made {
  readonly id: string;
  readonly events: readonly StreamEvent[];
  /** The response at its end. */
  readonly end: Response;
  readonly since: number;
  isCancelled: boolean;
}

export interface BackgroundServer {
  /** With the `/v1`. */
  readonly url: string;
  readonly creations: readonly Body[];
  /** Streams that were resumed: behind which event, undefined for the first. */
  readonly resumptions: readonly { readonly id: string; readonly after: number | undefined }[];
  readonly polls: number;
  readonly cancelled: readonly string[];
  /** Lets responses be made to their end. */
  release(): void;
  /** Acts as after the time for which the provider keeps responses. */
  forget(): void;
  close(): Promise<void>;
}

export async function startBackgroundServer(options: BackgroundOptions): Promise<BackgroundServer> {
  const fake = new Fake(options);
  const server = createServer((request, response) => {
    void fake.serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    creations: fake.creations,
    resumptions: fake.resumptions,
    get polls() {
      return fake.polls;
    },
    cancelled: fake.cancelled,
    release: () => {
      fake.isHeld = false;
    },
    forget: () => {
      fake.made.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

const POLL_MS = 5;
const CUT_MS = 30;

class Fake {
  readonly creations: Body[] = [];
  readonly resumptions: { id: string; after: number | undefined }[] = [];
  readonly cancelled: string[] = [];
  readonly made = new Map<string, Made>();
  polls = 0;
  isHeld = true;
  #streams = 0;
  readonly #options: BackgroundOptions;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    const [, id, action] =
      /^\/v1\/responses(?:\/([^/]+))?(?:\/(cancel))?$/.exec(url.pathname) ?? [];
    if (request.method === 'POST' && id === undefined) {
      await this.#create(await bodyOf(request), response);
      return;
    }
    const made = this.made.get(id ?? '');
    if (made === undefined) {
      refuse(response, 404, `Response with id '${id ?? ''}' not found.`);
      return;
    }
    if (action === 'cancel') {
      this.cancelled.push(made.id);
      made.isCancelled = true;
      send(response, this.#stateOf(made));
    } else if (url.searchParams.get('stream') === 'true') {
      const text = url.searchParams.get('starting_after');
      const after = text === null ? undefined : Number(text);
      this.resumptions.push({ id: made.id, after });
      if (this.#options.streamsAgain === false) refuse(response, 400, 'It cannot be streamed.');
      else await this.#stream(made, after ?? -1, response);
    } else {
      this.polls += 1;
      send(response, this.#stateOf(made));
    }
  }

  async #create(body: Body, response: ServerResponse): Promise<void> {
    if (body.background !== true || body.store !== true || body.stream !== true) {
      refuse(response, 400, 'Background responses are stored.');
      return;
    }
    this.creations.push(body);
    const ordinal = this.creations.length;
    const id = `resp_${ordinal}`;
    const { items, last, error } = this.#options;
    const whole = eventsOf(items(ordinal), last?.(ordinal)).map((event) =>
      'response' in event ? { ...event, response: { ...event.response, id } } : event,
    );
    const events = error === undefined ? whole : brokenOff(whole, error);
    const end = wholeResponse(whole);
    if (error !== undefined && error.continues !== true) end.status = 'failed';
    const made = { id, events, end, since: performance.now(), isCancelled: false };
    this.made.set(id, made);
    await this.#stream(made, -1, response);
  }

  #countOf({ events, since }: Made): number {
    if (!this.isHeld) return events.length;
    const { heldAfter = events.length, paceMs = 0 } = this.#options;
    const made = paceMs === 0 ? events.length : 1 + (performance.now() - since) / paceMs;
    return Math.min(heldAfter, events.length, Math.floor(made));
  }

  #stateOf(made: Made): Response {
    const isWhole = this.#countOf(made) === made.events.length;
    const state = isWhole ? made.end : wholeResponse(made.events.slice(0, 1));
    return made.isCancelled ? { ...state, status: 'cancelled' } : state;
  }

  async #stream(made: Made, after: number, response: ServerResponse): Promise<void> {
    const cutAfter = this.#options.cuts?.[this.#streams];
    this.#streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    let sent = 0;
    for (let next = after + 1; next < made.events.length; ) {
      if (response.destroyed || made.isCancelled) break;
      if (sent === cutAfter) {
        // A cut also drops the events that were not read yet.
        await pause(CUT_MS);
        response.destroy();
        return;
      }
      if (next < this.#countOf(made)) {
        const event = made.events[next];
        response.write(`event: ${event?.type ?? ''}\ndata: ${JSON.stringify(event)}\n\n`);
        next += 1;
        sent += 1;
      } else await pause(POLL_MS);
    }
    response.end();
  }
}

function brokenOff(
  events: readonly StreamEvent[],
  { behind, code }: NonNullable<BackgroundOptions['error']>,
): readonly StreamEvent[] {
  const said = { code, message: 'It cannot be answered.', param: null };
  return [...events.slice(0, behind), { type: 'error', ...said, sequence_number: behind }];
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Body;
}

function send(response: ServerResponse, body: Response): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error }));
}
