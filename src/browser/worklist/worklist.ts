/** The waiting calls of a page: one list over all conversations, kept up to date by the worklist's stream. */
import type { WorklistFilter, WorklistFrame, WorklistItem } from '../../protocol/log/worklist.js';
import type { Api, WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';
import { type Followed, follow } from '../net/following.js';
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

export class BrowserWorklist {
  readonly #api: Api;
  readonly #query: Readonly<Record<string, string>>;
  readonly #listeners = new Set<() => void>();
  #items: Items = new Map();
  /** Items of a list whose end has not come: until then the list before is shown. */
  #coming: Items | undefined;
  /** Names the whole list to the API. */
  #id: string | undefined;
  #view: WorklistView = { connection: { state: 'off' }, items: [], isRead: false };
  #leaving: AbortController | undefined;

  constructor(api: Api, choice: WorklistChoice) {
    this.#api = api;
    const given = Object.entries(defined(choice));
    this.#query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  }

  /** The present view: the same object until something changes. Bound, for `useSyncExternalStore`. */
  readonly getSnapshot = (): WorklistView => this.#view;

  /** Calls the listener after each change of the view. Returns how to end that. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows the list, over lost connections, until `stop`. Never throws; a repeat changes nothing. */
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

  #followed(signal: AbortSignal): Followed {
    const { timing } = this.#api;
    const show: Followed['show'] = (connection) => {
      if (!signal.aborted) this.#show({ connection });
    };
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
      show,
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
        this.#view = { ...this.#view, isRead: true };
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
        this.#view = { ...this.#view, counts: frame.counts };
    }
  }

  /** The item before, where the new one says the same. */
  #same(item: WorklistItem): WorklistItem {
    const before = this.#items.get(item.ref);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(item) ? before : item;
  }

  #show(part: Partial<WorklistView>): void {
    this.#view = { ...this.#view, ...part };
    this.#tell();
  }

  #changed(): void {
    this.#show({ items: [...this.#items.values()] });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Undefined for frames of a later version. */
function frameOf({ id, event = '', data }: StreamMessage): WorklistFrame | undefined {
  if (!FRAMES.includes(event)) return undefined;
  return { ...(JSON.parse(data) as object), type: event, id } as WorklistFrame;
}
