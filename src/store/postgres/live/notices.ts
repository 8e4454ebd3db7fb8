/** One connection that listens and notifies, and is made again whenever it breaks. Nothing of it keeps a process alive. */
import { Client } from 'pg';
import { identifier } from '../names.js';

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;

export interface NoticesOptions {
  readonly url: string;
  readonly onNotice: (channel: string, payload: string) => void;
  /** Connected, for the first time or again; what was sent meanwhile was missed. */
  readonly onConnected: () => void;
}

export class Notices {
  readonly #options: NoticesOptions;
  readonly #channels = new Set<string>();
  #client: Client | undefined;
  /** The end of the queries so far: the driver takes one at a time. */
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

  /** In this order, in one transaction. Rejects when they were lost. */
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
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'colloquy live',
      keepAlive: true,
    });
    const lost = (): void => {
      if (this.#client === client) this.#client = undefined;
      this.#again();
    };
    client.once('error', lost);
    client.once('end', lost);
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      this.#options.onNotice(channel, payload);
    });
    try {
      await client.connect();
    } catch {
      await client.end().catch(() => undefined);
      this.#again();
      return;
    }
    if (this.#closed) {
      await client.end().catch(() => undefined);
      return;
    }
    // The driver has it; its types do not.
    (client as Client & { unref(): void }).unref();
    this.#client = client;
    this.#waitMs = FIRST_WAIT_MS;
    for (const channel of this.#channels) this.#ask(`LISTEN ${identifier(channel)}`);
    this.#options.onConnected();
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

  /** A query that fails breaks the connection, or is asked again on the next one. */
  #ask(sql: string): void {
    if (this.#client !== undefined)
      this.#inOrder((client) => client.query(sql)).catch(() => undefined);
  }

  async #inOrder(query: (client: Client) => Promise<unknown>): Promise<void> {
    const before = this.#last;
    const mine = (async () => {
      await before.catch(() => undefined);
      if (this.#client === undefined) throw new Error('not connected');
      await query(this.#client);
    })();
    this.#last = mine;
    await mine;
  }
}
