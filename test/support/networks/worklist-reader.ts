/** A reader of a worklist's stream: keeps the list as a page would, and comes back after a cut with the last id. */
import type { EventSourceMessage } from 'eventsource-parser';
import type { WorklistCounts, WorklistItem } from '../../../src/protocol/log/worklist.js';
import { StreamReader } from './stream-reader.js';

export class WorklistReader extends StreamReader {
  #items = new Map<string, WorklistItem>();
  #isWhole = false;
  counts: WorklistCounts | undefined;

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

  protected take(message: EventSourceMessage): void {
    const data = JSON.parse(message.data) as {
      readonly items?: readonly WorklistItem[];
      readonly first?: boolean;
      readonly last?: boolean;
      readonly item?: WorklistItem;
      readonly ref?: string;
      readonly counts?: WorklistCounts;
    };
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
