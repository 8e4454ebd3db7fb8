/** A reader of a worklist's stream: keeps the list as a page would, and comes back after a cut with the last id. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { WorklistCounts, WorklistItem } from '../../../src/protocol/log/worklist.js';

export class WorklistReader {
  readonly #address: () => string;
  readonly #headers: Readonly<Record<string, string>>;
  #cut: AbortController | undefined;
  #items = new Map<string, WorklistItem>();
  #isWhole = false;
  /** The id of the last message that had one. */
  lastId: string | undefined;
  counts: WorklistCounts | undefined;
  readonly messages: EventSourceMessage[] = [];
  status: number | undefined;
  retry: number | undefined;

  /** @param address The address of the next connection. */
  constructor(address: () => string, headers: Readonly<Record<string, string>> = {}) {
    this.#address = address;
    this.#headers = headers;
  }

  get items(): readonly WorklistItem[] {
    return [...this.#items.values()];
  }

  /** The refs on the list, in order. */
  get refs(): readonly string[] {
    return [...this.#items.keys()].sort();
  }

  /** Whether a whole list has come since the reader began. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Reads until the connection ends. Never throws. */
  async read(): Promise<void> {
    const cut = new AbortController();
    this.#cut = cut;
    try {
      const response = await fetch(this.#address(), {
        headers: {
          accept: 'text/event-stream',
          ...(this.lastId === undefined ? {} : { 'last-event-id': this.lastId }),
          ...this.#headers,
        },
        signal: cut.signal,
      });
      this.status = response.status;
      if (response.status !== 200) return;
      const parser = createParser({
        onEvent: (message) => {
          this.#take(message);
        },
        onRetry: (retry) => {
          this.retry = retry;
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? [])
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch {
      // Cut here, or by the server: the caller connects again.
    }
  }

  cut(): void {
    this.#cut?.abort();
  }

  #take(message: EventSourceMessage): void {
    this.messages.push(message);
    const data = JSON.parse(message.data) as {
      readonly items?: readonly WorklistItem[];
      readonly first?: boolean;
      readonly last?: boolean;
      readonly item?: WorklistItem;
      readonly ref?: string;
      readonly counts?: WorklistCounts;
    };
    if (message.id !== undefined) this.lastId = message.id;
    if (message.event === 'snapshot') {
      if (data.first === true) this.#items = new Map();
      for (const item of data.items ?? []) this.#items.set(item.ref, item);
      this.#isWhole ||= data.last === true;
    }
    if (data.item !== undefined) this.#items.set(data.item.ref, data.item);
    if (message.event === 'gone' && data.ref !== undefined) this.#items.delete(data.ref);
    if (data.counts !== undefined) this.counts = data.counts;
  }
}
