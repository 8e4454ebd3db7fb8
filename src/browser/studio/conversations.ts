/** A list of conversations, kept up to date by the stream of their changes. */
import { isAborted } from '../../net/retries.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { ConversationsFrame } from '../../protocol/log/conversations-stream.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import type { Followed } from '../net/following.js';
import { LiveStore } from '../net/live-store.js';
import { unreachable } from '../net/problem.js';
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
  /** Up to here all changes are in the list. */
  #place: string | undefined;
  /** Pages and changes are applied in the order in which they were asked for or came. */
  #applied: Promise<void> = Promise.resolve();

  constructor(api: Api, choice: ConversationsChoice) {
    super({
      ...{ connection: { state: 'off' }, conversations: [], isRead: false, hasMore: false },
    });
    this.#api = api;
    this.#choice = choice;
  }

  /** Reads the next page. @throws {ApiError} */
  async loadMore(): Promise<void> {
    await this.#apply(async () => {
      if (this.#next !== undefined) await this.#page(this.#next);
    });
  }

  protected override followed(signal: AbortSignal, show: Followed['show']): Omit<Followed, 'show'> {
    const { timing } = this.#api;
    const { status, agent } = this.#choice;
    return {
      timing,
      // Read once the stream has said that it follows, so that no change falls between.
      read: async () => undefined,
      stream: async ({ heard }) => {
        const ended = new AbortController();
        const own = AbortSignal.any([signal, ended.signal]);
        let failure: Error | undefined;
        try {
          const response = await this.#api.request(`${PATH}/stream`, {
            query: defined({ status, agent, after: this.#place }),
            headers: { accept: 'text/event-stream' },
            signal: own,
          });
          const live = (): void => show({ state: 'live' });
          if (this.#place !== undefined) live();
          const isFollowed = await readFrames(response, {
            ...{ silenceMs: timing.silenceMs, signal: own, frameOf },
            take: (frames) => {
              void this.#apply(async () => {
                try {
                  await this.#take(frames, { signal: own, live });
                  heard();
                } catch (error) {
                  // Before the next frames: their places are behind a page that was not read.
                  failure ??= error instanceof Error ? error : unreachable(error);
                  ended.abort();
                }
              });
              return true;
            },
          });
          await this.#applied;
          if (failure !== undefined) throw failure;
          return isFollowed;
        } finally {
          ended.abort();
        }
      },
    };
  }

  async #apply(work: () => Promise<void>): Promise<void> {
    const applied = this.#applied.then(work);
    this.#applied = applied.catch(() => undefined);
    await applied;
  }

  async #page(cursor?: string, signal?: AbortSignal): Promise<void> {
    const query = defined({ ...this.#choice, cursor, limit: PAGE });
    const page = await this.#api.read<Page>(PATH, { query, signal });
    if (signal !== undefined && isAborted(signal)) return;
    const read = new Map(cursor === undefined ? [] : this.#items);
    for (const one of page.conversations) {
      const known = this.#items.get(one.conversationId) ?? one;
      read.set(one.conversationId, isOlder(one, known) ? known : one);
    }
    this.#items = read;
    this.#next = page.nextCursor;
    this.#changed({ isRead: true, hasMore: page.nextCursor !== undefined });
  }

  /** @throws {ApiError} when the list cannot be read */
  async #take(
    frames: readonly ConversationsFrame[],
    { signal, live }: { readonly signal: AbortSignal; readonly live: () => void },
  ): Promise<void> {
    for (const frame of frames) {
      // What is left out comes again behind the place.
      if (isAborted(signal)) return;
      if (frame.type === 'ready' || frame.type === 'reset') {
        await this.#page(undefined, signal);
        if (isAborted(signal)) return;
        live();
      } else this.#change(frame);
      // The stream does not follow the choice `attention`: a list of it is read anew by each connection.
      if (this.#choice.attention === undefined) this.#place = frame.id ?? this.#place;
    }
    this.#changed({});
  }

  #change(frame: ConversationsFrame): void {
    if (frame.type === 'removed') this.#items.delete(frame.conversationId);
    if (frame.type !== 'conversation') return;
    const { conversation } = frame;
    const known = this.#items.get(conversation.conversationId);
    if (known === undefined && this.#choice.attention !== undefined) return;
    if (known === undefined || !isOlder(conversation, known))
      this.#items.set(conversation.conversationId, conversation);
  }

  #changed(part: Partial<ConversationsView>): void {
    const conversations = [...this.#items.values()].toSorted((one, other) =>
      other.updatedAt.localeCompare(one.updatedAt),
    );
    this.show({ ...part, conversations });
  }
}

/** A conversation that has begun anew under its id has fewer events, and is newer. */
function isOlder(one: ConversationSnapshot, known: ConversationSnapshot): boolean {
  return one.seq < known.seq && one.updatedAt <= known.updatedAt;
}

/** Undefined for frames of a later version. */
function frameOf({ id, event = '', data }: StreamMessage): ConversationsFrame | undefined {
  if (!FRAMES.includes(event)) return undefined;
  const content = JSON.parse(data === '' ? '{}' : data) as object;
  const own = event === 'conversation' ? { conversation: content } : content;
  return { ...own, type: event, id } as ConversationsFrame;
}
