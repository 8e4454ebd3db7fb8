/** One space of the API for a page under test: its messages grow and change, its streams are cut by the test. */
import type { Member, SpaceMessage } from '../../../src/protocol/spaces/spaces.js';
import { textMessage } from '../spaces/shown-messages.js';
import { FakeStream, type FetchCall, json, problem, scriptedFetch } from './scripted-fetch.js';

const SPACE = {
  ...{ id: 'sp_1', tenant: 'default', name: 'Desk', access: 'invited' },
  createdBy: { kind: 'person', id: 'ann' },
  createdAt: '2030-01-01T00:00:00.000Z',
};

export class ScriptedSpace {
  readonly calls: readonly FetchCall[];
  readonly fetch: typeof fetch;
  /** Streams that pages have opened, the newest last. */
  readonly streams: FakeStream[] = [];
  /** In the order of positions. */
  messages: readonly SpaceMessage[] = [];
  members: readonly Member[] = [{ kind: 'person', id: 'ann', joinedAt: SPACE.createdAt }];
  change = 0;
  /** Answers before all else. */
  instead: ((call: FetchCall) => Response | Promise<Response> | undefined) | undefined;

  constructor(texts = 0) {
    const { fetch, calls } = scriptedFetch(
      async (call) => (await this.instead?.(call)) ?? this.#answer(call),
    );
    this.fetch = fetch;
    this.calls = calls;
    this.messages = Array.from({ length: texts }, (_, index) => textMessage(index + 1));
    this.change = texts;
  }

  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no stream is open');
    return stream;
  }

  /** Stores a text, and sends it to the open stream unless it is `silent`. */
  write(text: string, { silent = false }: { readonly silent?: boolean } = {}): SpaceMessage {
    const position = this.messages.length + 1;
    this.change += 1;
    const message = textMessage(position, { text, change: this.change });
    this.messages = [...this.messages, message];
    if (!silent) this.stream.send(frameOf(message));
    return message;
  }

  /** Changes a message, and sends it to the open stream. */
  move(position: number, fields: Partial<SpaceMessage>): void {
    this.change += 1;
    const { change } = this;
    this.messages = this.messages.map((message) =>
      message.position === position ? { ...message, ...fields, change } : message,
    );
    const [message] = this.messages.slice(position - 1);
    if (message !== undefined) this.stream.send(frameOf(message));
  }

  /** Requests of this method to paths that end so. */
  sent(method: string, end: string): readonly FetchCall[] {
    return this.calls.filter(
      (call) => call.method === method && call.path.replace(/\?.*/, '').endsWith(end),
    );
  }

  page(query: URLSearchParams): object {
    const before = Number(query.get('before') ?? Number.MAX_SAFE_INTEGER);
    const older = this.messages.filter(({ position }) => position < before);
    return {
      messages: older.slice(-Number(query.get('limit'))),
      ...{ lastPosition: this.messages.length, lastChange: this.change },
    };
  }

  #answer({ method, path, headers }: FetchCall): Response {
    const { pathname, searchParams } = new URL(path, 'http://api');
    if (method !== 'GET') return problem(404, 'not_found');
    if (pathname.endsWith('/stream')) return this.#open(headers.get('last-event-id'));
    if (pathname.endsWith('/messages')) return json(this.page(searchParams));
    if (pathname.endsWith('/members')) return json({ members: this.members });
    return json({ ...SPACE, lastPosition: this.messages.length, lastChange: this.change });
  }

  #open(lastEventId: string | null): Response {
    const stream = new FakeStream();
    this.streams.push(stream);
    const after = Number(lastEventId);
    const missed = this.messages
      .filter(({ change }) => change > after)
      .sort((one, other) => one.change - other.change);
    const reset = after > this.change ? [`id: ${this.change}\nevent: reset\ndata: {}\n\n`] : [];
    stream.send([': open\nretry: 1000\n\n', ...reset, ...missed.map(frameOf)].join(''));
    return stream.response;
  }
}

export function frameOf(message: SpaceMessage): string {
  return `id: ${message.change}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
}
