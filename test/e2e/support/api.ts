/** The HTTP API from the view of its clients: replies, and event streams frame by frame. */
import { createParser } from 'eventsource-parser';

/** The secret of the development identity of every process that tests start. */
export const DEV_SECRET = 'secret-of-the-tests';
export const IDENTIFIED = { authorization: `Bearer ${DEV_SECRET}` };

export type Fields = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Empty when the body is not a JSON object. */
  readonly body: Fields;
  readonly text: string;
}

export interface Call {
  readonly method?: string;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function call(url: string, { method, body, headers }: Call = {}): Promise<Reply> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...IDENTIFIED, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    body: text.startsWith('{') ? (JSON.parse(text) as Fields) : {},
    text,
  };
}

export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Fields;
}

export interface EventStream {
  /** All received frames, in order; grows. */
  readonly frames: readonly Frame[];
  /** Resolves when the connection is closed, by either side. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream. @throws when the server refuses */
export async function openEventStream(url: string, lastEventId?: string): Promise<EventStream> {
  const closing = new AbortController();
  const response = await fetch(url, {
    signal: closing.signal,
    headers: {
      ...IDENTIFIED,
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  if (!response.ok || response.body === null)
    throw new Error(`no event stream: ${response.status} ${await response.text()}`);
  const frames: Frame[] = [];
  return {
    frames,
    ended: read(response.body, frames).catch(() => undefined),
    close: () => {
      closing.abort();
    },
  };
}

async function read(body: AsyncIterable<Uint8Array>, frames: Frame[]): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      frames.push({ id, event: event ?? '', data: JSON.parse(data) as Fields });
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
}
