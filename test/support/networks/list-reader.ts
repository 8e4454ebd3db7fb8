/** A page with the conversations of a tenant: reads the list after `ready` and `reset`, and applies what follows. */
import type { EventSourceMessage } from 'eventsource-parser';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import { StreamReader } from './stream-reader.js';

export class ListReader extends StreamReader {
  readonly #list: () => Promise<readonly ConversationSnapshot[]>;
  #rows = new Map<string, ConversationSnapshot>();
  /** Frames that have come while the list is read. */
  #waiting: EventSourceMessage[] | undefined;
  #reads = 0;
  /** Failures to read the list. */
  readonly failures: unknown[] = [];

  /** @param list Reads the whole list. */
  constructor(address: () => string, list: () => Promise<readonly ConversationSnapshot[]>) {
    super(address);
    this.#list = list;
  }

  /** `id status seq` of each conversation, in order; undefined while the list is read. */
  get shown(): readonly string[] | undefined {
    return this.#waiting === undefined ? [...this.#rows.values()].map(outlineOf).sort() : undefined;
  }

  /** Types of the frames without `place`, and the conversations that they name. */
  get told(): readonly string[] {
    return this.messages
      .filter(({ event }) => event !== 'place')
      .map(({ event = '', data }) => {
        const { conversationId } = JSON.parse(data) as { readonly conversationId?: string };
        return conversationId === undefined ? event : `${event} ${conversationId}`;
      });
  }

  protected take(message: EventSourceMessage): void {
    if (message.event === 'ready' || message.event === 'reset') void this.#readList();
    else if (this.#waiting !== undefined) this.#waiting.push(message);
    else this.#apply(message);
  }

  async #readList(): Promise<void> {
    this.#waiting = [];
    this.#reads += 1;
    const read = this.#reads;
    for (;;) {
      try {
        const rows = await this.#list();
        // Another frame asked for it again.
        if (read !== this.#reads) return;
        this.#rows = new Map(rows.map((row) => [row.conversationId, row]));
        break;
      } catch (error) {
        this.failures.push(error);
      }
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const message of waiting) this.#apply(message);
  }

  #apply({ event, data }: EventSourceMessage): void {
    const row = JSON.parse(data) as ConversationSnapshot;
    if (event === 'conversation') this.#rows.set(row.conversationId, row);
    if (event === 'removed') this.#rows.delete(row.conversationId);
  }
}

export function outlineOf({ conversationId, status, seq }: ConversationSnapshot): string {
  return `${conversationId} ${status} ${seq}`;
}
