/**
 * One connection that listens and notifies, and is opened again whenever it breaks. Nothing in it keeps a process
 * alive.
 */
import { Client } from 'pg';
import { identifier } from '../database/names.js';

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A notice takes a millisecond; a connection that takes this long is dead, even if no error was reported. */
const QUERY_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

export interface NoticesOptions {
  readonly url: string;
  readonly onNotice: (channel: string, payload: string) => void;
  /** Connected, for the first time or again; notices sent in between were missed. */
  readonly onConnected: () => void;
}

export class Notices {
  readonly #options: NoticesOptions;
  readonly #channels = new Set<string>();
  #client: Client | undefined;
  /** Settles with the last query so far: the driver takes one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #waitMs = FIRST_WAIT_MS;
  #started = false;
  #closed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Safe to repeat. */
  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    void this.#connect();
  }

  listen(channel: string): void {
    this.#channels.add(channel);
    this.start();
    this.#ask(`LISTEN ${identifier(channel)}`);
  }

  unlisten(channel: string): void {
    this.#channels.delete(channel);
    this.#ask(`UNLISTEN ${identifier(channel)}`);
  }

  /** Sends notices in this order, in one transaction. Rejects when they were lost. */
  async notify(notices: readonly (readonly [channel: string, payload: string])[]): Promise<void> {
    await this.#inOrder((client) =>
      client.query({
        name: 'colloquy-notify',
        text: 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS notice (channel, payload)',
        values: [notices.map(([channel]) => channel), notices.map(([, payload]) => payload)],
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await ended(client);
  }

  async #connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      application_name: 'colloquy live',
      keepAlive: true,
    });
    client.on('error', () => {
      this.#lost(client);
    });
    client.once('end', () => {
      this.#lost(client);
    });
    client.on('notification', ({ channel, payload = '' }) => {
      this.#options.onNotice(channel, payload);
    });
    try {
      await client.connect();
    } catch {
      await ended(client);
      this.#again();
      return;
    }
    if (this.#closed) {
      await ended(client);
      return;
    }
    // The driver has `unref`; its types do not.
    (client as Client & { unref(): void }).unref();
    this.#client = client;
    this.#waitMs = FIRST_WAIT_MS;
    for (const channel of this.#channels) this.#ask(`LISTEN ${identifier(channel)}`);
    this.#options.onConnected();
  }

  #lost(client: Client): void {
    if (this.#client === client) {
      this.#client = undefined;
      void ended(client);
    }
    this.#again();
  }

  #again(): void {
    if (this.#closed || this.#timer !== undefined || this.#client !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#connect();
    }, this.#waitMs);
    this.#timer.unref();
    this.#waitMs = Math.min(this.#waitMs * 2, MAX_WAIT_MS);
  }

  /** Sends a statement. A failed one is sent again by the next connection. */
  #ask(sql: string): void {
    if (this.#client !== undefined)
      this.#inOrder((client) => client.query(sql)).catch(() => undefined);
  }

  async #inOrder(query: (client: Client) => Promise<unknown>): Promise<void> {
    const before = this.#last;
    const mine = (async () => {
      await before.catch(() => undefined);
      const client = this.#client;
      if (client === undefined) throw new Error('not connected');
      try {
        await query(client);
      } catch (error) {
        // No query here fails on a working connection, so a new one is opened.
        this.#lost(client);
        throw error;
      }
    })();
    this.#last = mine;
    await mine;
  }
}

/** Ends the connection, but waits only a while: a server that is gone never answers. */
async function ended(client: Client): Promise<void> {
  const timeout = new Promise((resolve) => {
    setTimeout(resolve, CLOSE_TIMEOUT_MS).unref();
  });
  await Promise.race([client.end().catch(() => undefined), timeout]);
}
