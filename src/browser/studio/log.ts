/** The whole log of one conversation, kept up to date by its stream. */
import { isAborted } from '../../net/retries.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { formatCursor } from '../../protocol/values/cursor.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import type { Connection, Followed } from '../net/following.js';
import { LiveStore } from '../net/live-store.js';
import { type Frame, frameOf, readFrames } from '../net/stream.js';
import { Replay } from './replay.js';

/** A whole log, and its connection. */
export interface LogView {
  readonly connection: Connection;
  readonly generation: number;
  readonly replay: Replay;
  /** Whether the log has been read to its end. */
  readonly isRead: boolean;
}

const PAGE_EVENTS = 1_000;

interface Page {
  readonly generation: number;
  readonly events: readonly CanonicalEvent[];
  readonly cursor: string;
  readonly more: boolean;
}

/** The log of a conversation. `open` begins to read and follow it. */
export function logOf(client: WithApi, conversationId: string): BrowserLog {
  return new BrowserLog(client.api, conversationId);
}

/** `open` reads the log and follows it, over lost connections, until `stop`. */
export class BrowserLog extends LiveStore<LogView> {
  readonly #api: Api;
  readonly #path: string;

  constructor(api: Api, conversationId: string) {
    super({
      ...{ connection: { state: 'off' }, generation: 1, replay: new Replay(), isRead: false },
    });
    this.#api = api;
    this.#path = `/v1/conversations/${encodeURIComponent(conversationId)}/events`;
  }

  protected override followed(signal: AbortSignal, show: Followed['show']): Omit<Followed, 'show'> {
    return {
      timing: this.#api.timing,
      read: async () => await this.#read(signal),
      stream: async ({ heard }) => {
        const seq = this.#lastSeq();
        const response = await this.#api.request(this.#path, {
          headers: {
            accept: 'text/event-stream',
            'last-event-id': formatCursor({ generation: this.getSnapshot().generation, seq }),
          },
          signal,
        });
        show({ state: 'live' });
        return await readFrames(response, {
          ...{ silenceMs: this.#api.timing.silenceMs, signal, frameOf },
          take: (frames) => {
            heard();
            return signal.aborted || this.#take(frames);
          },
        });
      },
    };
  }

  async #read(signal: AbortSignal): Promise<void> {
    let replay = new Replay();
    let known: number | undefined;
    let after: string | undefined;
    for (let more = true; more; ) {
      const query = { after, limit: String(PAGE_EVENTS) };
      const page = await this.#api.read<Page>(this.#path, { query: defined(query), signal });
      if (isAborted(signal)) return;
      const { events, generation } = page;
      replay = generation === known ? replay.with(events) : new Replay(events);
      known = generation;
      ({ cursor: after, more } = page);
      // A log that is shown whole stays until the other one is whole, too.
      if (!more) this.show({ generation, replay, isRead: true });
      else if (!this.getSnapshot().isRead) this.show({ generation, replay });
    }
  }

  /** False when the log is another one than before, or has a gap: it has to be read anew. */
  #take(frames: readonly Frame[]): boolean {
    const came: CanonicalEvent[] = [];
    let last = this.#lastSeq();
    let follows = true;
    for (const frame of frames) {
      if (frame.type !== 'event') continue;
      const { cursor, event } = frame;
      if (cursor.generation === this.getSnapshot().generation && event.seq <= last) continue;
      follows = cursor.generation === this.getSnapshot().generation && event.seq === last + 1;
      if (!follows) break;
      came.push(event);
      last = event.seq;
    }
    if (came.length > 0) this.show({ replay: this.getSnapshot().replay.with(came) });
    return follows;
  }

  #lastSeq(): number {
    return this.getSnapshot().replay.events.at(-1)?.seq ?? 0;
  }
}
