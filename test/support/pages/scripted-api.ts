/** One conversation of the API for a page under test: its log grows, its streams are written and cut by the test. */
import { foldView } from '../../../src/core/view/view.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent, EventBody } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { parseCursor } from '../../../src/protocol/values/cursor.js';
import { stamped } from '../samples/log-events.js';
import {
  FakeStream,
  type FetchCall,
  frameText,
  json,
  problem,
  scriptedFetch,
} from './scripted-fetch.js';

export class ScriptedApi {
  readonly calls: readonly FetchCall[];
  readonly fetch: typeof fetch;
  /** Streams that pages have opened, the newest last. */
  readonly streams: FakeStream[] = [];
  generation = 1;
  events: readonly CanonicalEvent[] = [];
  /** Answers before all else. */
  instead: ((call: FetchCall) => Response | Promise<Response> | undefined) | undefined;

  constructor(...bodies: readonly EventBody[]) {
    this.events = stamped(bodies);
    const { fetch, calls } = scriptedFetch((call) => this.instead?.(call) ?? this.#answer(call));
    this.fetch = fetch;
    this.calls = calls;
  }

  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no stream is open');
    return stream;
  }

  /** Adds to the log, and to the open stream. */
  log(...bodies: readonly EventBody[]): void {
    const added = stamped(bodies, { from: this.events.length + 1 });
    this.events = [...this.events, ...added];
    this.stream.send(added.map((event) => frameText(event, this.generation)).join(''));
  }

  live(...events: readonly LiveEvent[]): void {
    this.stream.send(...events);
  }

  /** Requests of this method to paths that end so. */
  sent(method: string, end: string): readonly FetchCall[] {
    return this.calls.filter(
      (call) => call.method === method && call.path.replace(/\?.*/, '').endsWith(end),
    );
  }

  #answer({ method, path, headers }: FetchCall): Response {
    const isStream = headers.get('accept') === 'text/event-stream';
    const { searchParams, pathname } = new URL(path, 'http://api');
    if (method !== 'GET') return problem(404, 'not_found');
    if (this.events.length === 0 && searchParams.get('create') === null)
      return problem(404, 'unknown_conversation');
    if (isStream) return this.#open(headers.get('last-event-id'));
    return pathname.endsWith('/events') ? json(this.#page(searchParams)) : json(this.#snapshot());
  }

  #open(lastEventId: string | null): Response {
    const after = parseCursor(lastEventId ?? '');
    const isSame = after?.generation === this.generation;
    const missed = this.events.filter(({ seq }) => seq > (isSame ? after.seq : 0));
    const stream = new FakeStream();
    this.streams.push(stream);
    const marker = {
      type: 'log_rewritten',
      seq: 0,
      at: '',
      previousGeneration: 1,
      divergedAtSeq: 1,
    };
    const rewritten = after !== undefined && !isSame ? [marker as CanonicalEvent] : [];
    stream.send(
      [
        ': open\n\n',
        ...[...rewritten, ...missed].map((event) => frameText(event, this.generation)),
      ].join(''),
    );
    return stream.response;
  }

  #page(query: URLSearchParams) {
    const limit = Number(query.get('limit'));
    const before = parseCursor(query.get('before') ?? '')?.seq ?? Number.MAX_SAFE_INTEGER;
    const older = this.events.filter(({ seq }) => seq < before);
    const events = older.slice(-limit).toReversed();
    return { generation: this.generation, events, cursor: '1-1', more: older.length > limit };
  }

  #snapshot(): ConversationSnapshot & { readonly generation: number } {
    let view: ConversationSnapshot | undefined;
    for (const event of this.events) view = foldView(view, event);
    return { ...(view as ConversationSnapshot), generation: this.generation };
  }
}
