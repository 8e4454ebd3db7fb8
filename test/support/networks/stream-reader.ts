/** A reader of server-sent events that comes back after a cut with the last id, as a page would. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';

export abstract class StreamReader {
  readonly #address: () => string;
  readonly #headers: Readonly<Record<string, string>>;
  #cut: AbortController | undefined;
  /** The id of the last message that had one. */
  lastId: string | undefined;
  readonly messages: EventSourceMessage[] = [];
  status: number | undefined;
  retry: number | undefined;

  /** @param address The address of the next connection. */
  constructor(address: () => string, headers: Readonly<Record<string, string>> = {}) {
    this.#address = address;
    this.#headers = headers;
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
          this.messages.push(message);
          if (message.id !== undefined) this.lastId = message.id;
          this.take(message);
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

  protected abstract take(message: EventSourceMessage): void;
}
