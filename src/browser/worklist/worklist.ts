/** The waiting calls of a page: one list over all conversations, kept up to date by the worklist's stream. */
import type {
  WorklistCounts,
  WorklistFilter,
  WorklistFrame,
  WorklistItem,
} from '../../protocol/log/worklist.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import type { Followed } from '../net/following.js';
import { LiveStore } from '../net/live-store.js';
import { readFrames, type StreamMessage } from '../net/stream.js';
import type { WorklistView } from './types.js';

const PATH = '/v1/worklist/stream';
const FRAMES: readonly string[] = [
  'snapshot',
  'item',
  'gone',
  'counts',
] satisfies readonly WorklistFrame['type'][];

/** By `ref`. */
type Items = Map<string, WorklistItem>;

export interface WorklistChoice extends WorklistFilter {
  /** False: also the calls that the caller may not answer. @defaultValue true */
  readonly mine?: boolean;
}

/** The calls that wait, across the conversations of the caller's tenant. `open` begins to follow them. */
export function worklistOf(client: WithApi, choice: WorklistChoice = {}): BrowserWorklist {
  return new BrowserWorklist(client.api, choice);
}

/** `open` follows the list, over lost connections, until `stop`. */
export class BrowserWorklist extends LiveStore<WorklistView> {
  readonly #api: Api;
  readonly #query: Readonly<Record<string, string>>;
  #items: Items = new Map();
  /** Items of a list whose end has not come: until then the list before is shown. */
  #coming: Items | undefined;
  #isRead = false;
  #counts: WorklistCounts | undefined;
  /** Names the whole list to the API. */
  #id: string | undefined;

  constructor(api: Api, choice: WorklistChoice) {
    super({ connection: { state: 'off' }, items: [], isRead: false });
    this.#api = api;
    const given = Object.entries(defined(choice));
    this.#query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  }

  protected override followed(signal: AbortSignal, show: Followed['show']): Omit<Followed, 'show'> {
    const { timing } = this.#api;
    return {
      timing,
      // The stream begins with the whole list, or with the proof that it has not changed.
      read: async () => undefined,
      stream: async ({ heard }) => {
        const response = await this.#api.request(PATH, {
          query: { ...this.#query, after: this.#id },
          headers: { accept: 'text/event-stream' },
          signal,
        });
        this.#coming = undefined;
        show({ state: 'live' });
        return await readFrames(response, {
          ...{ silenceMs: timing.silenceMs, signal, frameOf },
          take: (frames) => {
            heard();
            for (const frame of frames) this.#take(frame);
            if (!signal.aborted) this.#changed();
            return true;
          },
        });
      },
    };
  }

  #take(frame: WorklistFrame): void {
    switch (frame.type) {
      case 'snapshot': {
        const coming = (frame.first ? undefined : this.#coming) ?? new Map<string, WorklistItem>();
        for (const item of frame.items) coming.set(item.ref, this.#same(item));
        this.#coming = frame.last ? undefined : coming;
        if (!frame.last) return;
        this.#items = coming;
        this.#id = frame.id;
        this.#isRead = true;
        return;
      }
      case 'item':
        this.#items.set(frame.item.ref, frame.item);
        this.#id = frame.id;
        return;
      case 'gone':
        this.#items.delete(frame.ref);
        this.#id = frame.id;
        return;
      case 'counts':
        this.#counts = frame.counts;
    }
  }

  /** The item before, where the new one says the same. */
  #same(item: WorklistItem): WorklistItem {
    const before = this.#items.get(item.ref);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(item) ? before : item;
  }

  #changed(): void {
    const [items, counts] = [[...this.#items.values()], this.#counts];
    this.show({ items, isRead: this.#isRead, ...defined({ counts }) });
  }
}

/** Undefined for frames of a later version. */
function frameOf({ id, event = '', data }: StreamMessage): WorklistFrame | undefined {
  if (!FRAMES.includes(event)) return undefined;
  return { ...(JSON.parse(data) as object), type: event, id } as WorklistFrame;
}
