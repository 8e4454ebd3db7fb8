/** A list of conversations, kept up to date by the stream of their changes. */
import { isAborted } from '../../net/retries.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { ConversationsFrame } from '../../protocol/log/conversations-stream.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import { type Followed, follow } from '../net/following.js';
import { readFrames, type StreamMessage } from '../net/stream.js';
import type { ConversationsView } from './types.js';

const PATH = '/v1/conversations';
const PAGE = '50';
const FRAMES: readonly string[] = [
  'ready',
  'conversation',
  'removed',
  'reset',
  'place',
] satisfies readonly ConversationsFrame['type'][];

export interface ConversationsChoice {
  readonly status?: StatusFilter;
  readonly agent?: string;
  /** Only those that cannot continue without an operator. They change only when the list is read. */
  readonly attention?: 'agent_not_served';
}

interface Page {
  readonly conversations: readonly ConversationSnapshot[];
  readonly nextCursor?: string;
}

/** The conversations of the caller's tenant. `open` begins to read and follow them. */
export function conversationsOf(
  client: WithApi,
  choice: ConversationsChoice = {},
): BrowserConversations {
  return new BrowserConversations(client.api, choice);
}

export class BrowserConversations {
  readonly #api: Api;
  readonly #choice: ConversationsChoice;
  readonly #listeners = new Set<() => void>();
  #items = new Map<string, ConversationSnapshot>();
  #next: string | undefined;
  #view: ConversationsView = {
    ...{ connection: { state: 'off' }, conversations: [], isRead: false, hasMore: false },
  };
  #leaving: AbortController | undefined;

  constructor(api: Api, choice: ConversationsChoice) {
    this.#api = api;
    this.#choice = choice;
  }

  /** The present view: the same object until something changes. Bound, for `useSyncExternalStore`. */
  readonly getSnapshot = (): ConversationsView => this.#view;

  /** Calls the listener after each change of the view. Returns how to end that. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads the list and follows it, over lost connections, until `stop`. Never throws; a repeat changes nothing. */
  open(): void {
    if (this.#leaving !== undefined) return;
    const leaving = new AbortController();
    this.#leaving = leaving;
    this.#show({ connection: { state: 'connecting' } });
    const { signal } = leaving;
    void follow(this.#followed(signal), { signal, onRead: () => undefined }).then(() => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    });
  }

  /** Ends the connection. The view stays; `open` begins again. */
  stop(): void {
    this.#leaving?.abort();
    this.#leaving = undefined;
    this.#show({ connection: { state: 'off' } });
  }

  /** Reads the next page. @throws {ApiError} */
  async loadMore(): Promise<void> {
    if (this.#next !== undefined) await this.#page(this.#next, this.#leaving?.signal);
  }

  #followed(signal: AbortSignal): Followed {
    const { timing } = this.#api;
    const show: Followed['show'] = (connection) => {
      if (!signal.aborted) this.#show({ connection });
    };
    const { status, agent } = this.#choice;
    return {
      ...{ timing, show },
      // Read once the stream has said that it follows, so that no change falls between.
      read: async () => undefined,
      stream: async ({ heard }) => {
        const response = await this.#api.request(`${PATH}/stream`, {
          query: defined({ status, agent }),
          headers: { accept: 'text/event-stream' },
          signal,
        });
        const reads: Promise<void>[] = [];
        let isLost = false;
        const isFollowed = await readFrames(response, {
          ...{ silenceMs: timing.silenceMs, signal, frameOf },
          take: (frames) => {
            heard();
            if (signal.aborted) return true;
            if (isLost) return false;
            for (const frame of frames)
              if (frame.type === 'ready' || frame.type === 'reset') {
                const read = this.#page(undefined, signal).then(() => show({ state: 'live' }));
                read.catch(() => {
                  isLost = true;
                });
                reads.push(read);
              } else this.#take(frame);
            return true;
          },
        });
        await Promise.all(reads);
        return isFollowed;
      },
    };
  }

  async #page(cursor: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const query = defined({ ...this.#choice, cursor, limit: PAGE });
    const page = await this.#api.read<Page>(PATH, { query, signal });
    if (signal !== undefined && isAborted(signal)) return;
    const read = new Map(cursor === undefined ? [] : this.#items);
    for (const one of page.conversations) {
      const known = this.#items.get(one.conversationId);
      const isNewer = known !== undefined && known.seq > one.seq;
      read.set(one.conversationId, isNewer ? known : one);
    }
    this.#items = read;
    this.#next = page.nextCursor;
    this.#changed({ isRead: true, hasMore: page.nextCursor !== undefined });
  }

  #take(frame: ConversationsFrame): void {
    if (frame.type === 'removed') {
      this.#items.delete(frame.conversationId);
      this.#changed({});
    } else if (frame.type === 'conversation') {
      const { conversation } = frame;
      const isKnown = this.#items.has(conversation.conversationId);
      if (!isKnown && this.#choice.attention !== undefined) return;
      this.#items.set(conversation.conversationId, conversation);
      this.#changed({});
    }
  }

  #changed(part: Partial<ConversationsView>): void {
    const conversations = [...this.#items.values()].toSorted((one, other) =>
      other.updatedAt.localeCompare(one.updatedAt),
    );
    this.#show({ ...part, conversations });
  }

  #show(part: Partial<ConversationsView>): void {
    this.#view = { ...this.#view, ...part };
    for (const listener of this.#listeners) listener();
  }
}

/** Undefined for frames of a later version. */
function frameOf({ id, event = '', data }: StreamMessage): ConversationsFrame | undefined {
  if (!FRAMES.includes(event)) return undefined;
  const content: unknown = data === '' ? {} : JSON.parse(data);
  return { ...(content as object), type: event, id } as ConversationsFrame;
}
