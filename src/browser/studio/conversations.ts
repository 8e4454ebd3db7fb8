/** A list of conversations, kept up to date by the stream of their changes. */
import { isAborted } from '../../net/retries.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { ConversationsFrame } from '../../protocol/log/conversations-stream.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import type { Followed } from '../net/following.js';
import { LiveStore } from '../net/live-store.js';
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

/** `open` reads the list and follows it, over lost connections, until `stop`. */
export class BrowserConversations extends LiveStore<ConversationsView> {
  readonly #api: Api;
  readonly #choice: ConversationsChoice;
  #items = new Map<string, ConversationSnapshot>();
  #next: string | undefined;

  constructor(api: Api, choice: ConversationsChoice) {
    super({
      ...{ connection: { state: 'off' }, conversations: [], isRead: false, hasMore: false },
    });
    this.#api = api;
    this.#choice = choice;
  }

  /** Reads the next page. @throws {ApiError} */
  async loadMore(): Promise<void> {
    if (this.#next !== undefined) await this.#page(this.#next);
  }

  protected override followed(signal: AbortSignal, show: Followed['show']): Omit<Followed, 'show'> {
    const { timing } = this.#api;
    const { status, agent } = this.#choice;
    return {
      timing,
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

  async #page(cursor?: string, signal?: AbortSignal): Promise<void> {
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
    this.show({ ...part, conversations });
  }
}

/** Undefined for frames of a later version. */
function frameOf({ id, event = '', data }: StreamMessage): ConversationsFrame | undefined {
  if (!FRAMES.includes(event)) return undefined;
  const content: unknown = data === '' ? {} : JSON.parse(data);
  return { ...(content as object), type: event, id } as ConversationsFrame;
}
