/**
 * Carries the lines of a live channel by LISTEN and NOTIFY, with one channel of Postgres for each topic of a schema,
 * over one connection that is opened again whenever it breaks.
 */
import { createHash } from 'node:crypto';
import { Client } from 'pg';
import type { Bus, BusEvents, Line, Topic } from '../../live/bus.js';
import { identifier } from '../database/names.js';
import { Assembly, payloadsOf } from './payloads.js';

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A notice takes a millisecond; a connection that takes this long is dead, even if no error was reported. */
const QUERY_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** Maximum of characters that wait for a slow server; further lines are dropped. */
const MAX_WAITING_CHARS = 1024 * 1024;

interface Connection {
  readonly client: Client;
  readonly channels: Map<string, { readonly topic: Topic; readonly assembly: Assembly }>;
  isBusy: boolean;
  /** Settles when nothing waits; never rejects. */
  work: Promise<void>;
}

export class PostgresBus implements Bus {
  readonly #url: string;
  readonly #prefix: string;
  readonly #events: BusEvents;
  readonly #topics = new Set<Topic>();
  #connection: Connection | undefined;
  #waiting: Line[] = [];
  #waitingChars = 0;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = FIRST_WAIT_MS;
  #closed = false;

  constructor(options: { readonly url: string; readonly schema: string }, events: BusEvents) {
    this.#url = options.url;
    const hash = createHash('sha256').update(options.schema).digest('hex');
    this.#prefix = `colloquy_${hash.slice(0, 32)}`;
    this.#events = events;
  }

  listen(topic: Topic): void {
    const isFirst = this.#topics.size === 0;
    this.#topics.add(topic);
    if (isFirst) void this.#connect();
    else this.#proceed();
  }

  send(lines: readonly Line[]): void {
    if (this.#connection === undefined || this.#waitingChars > MAX_WAITING_CHARS) return;
    this.#waiting.push(...lines);
    for (const { text } of lines) this.#waitingChars += text.length;
    this.#proceed();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#connection?.work;
    const client = this.#connection?.client;
    this.#connection = undefined;
    if (client !== undefined) await ended(client);
  }

  async #connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      application_name: 'colloquy live',
      keepAlive: true,
    });
    const connection: Connection = {
      client,
      channels: new Map(),
      isBusy: false,
      work: Promise.resolve(),
    };
    client.on('error', () => {
      this.#lost(connection);
    });
    client.once('end', () => {
      this.#lost(connection);
    });
    client.on('notification', ({ channel, payload = '' }) => {
      const { topic, assembly } = connection.channels.get(channel) ?? {};
      if (topic === undefined) return;
      for (const text of assembly?.take(payload) ?? []) this.#events.onLine({ topic, text });
    });
    try {
      await client.connect();
    } catch {
      await ended(client);
      this.#connectLater();
      return;
    }
    if (this.#closed) {
      await ended(client);
      return;
    }
    // The driver has `unref`; its types do not.
    (client as Client & { unref(): void }).unref();
    this.#connection = connection;
    this.#waitMs = FIRST_WAIT_MS;
    this.#events.onConnected();
    this.#proceed();
  }

  #lost(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#waiting = [];
    this.#waitingChars = 0;
    void ended(connection.client);
    this.#connectLater();
  }

  #connectLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#connect(), this.#waitMs).unref();
    this.#waitMs = Math.min(this.#waitMs * 2, MAX_WAIT_MS);
  }

  #proceed(): void {
    const connection = this.#connection;
    if (connection?.isBusy === false) connection.work = this.#workOff(connection);
  }

  /** One query at a time, as the driver takes them. Listens first, so that answers to the lines arrive here. */
  async #workOff(connection: Connection): Promise<void> {
    const { client, channels } = connection;
    connection.isBusy = true;
    try {
      while (this.#connection === connection) {
        const topic = [...this.#topics].find((one) => !channels.has(this.#channelOf(one)));
        if (topic !== undefined) {
          const channel = this.#channelOf(topic);
          channels.set(channel, { topic, assembly: new Assembly() });
          await client.query(`LISTEN ${identifier(channel)}`);
        } else if (this.#waiting.length > 0) await client.query(this.#notices());
        else break;
      }
    } catch {
      // No query here fails on a working connection, so a new one is opened.
      this.#lost(connection);
    }
    connection.isBusy = false;
  }

  /** Takes all lines that wait, as one statement. */
  #notices() {
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingChars = 0;
    const notices = [...new Set(lines.map(({ topic }) => topic))].flatMap((topic) => {
      const texts = lines.filter((line) => line.topic === topic).map(({ text }) => text);
      return payloadsOf(texts).map((payload) => [this.#channelOf(topic), payload] as const);
    });
    return {
      name: 'colloquy-notify',
      text: 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS notice (channel, payload)',
      values: [notices.map(([channel]) => channel), notices.map(([, payload]) => payload)],
    };
  }

  #channelOf(topic: Topic): string {
    return `${this.#prefix}_${topic}`;
  }
}

/** Ends the connection, but waits only a while: a server that is gone never answers. */
async function ended(client: Client): Promise<void> {
  const timeout = new Promise((resolve) => {
    setTimeout(resolve, CLOSE_TIMEOUT_MS).unref();
  });
  await Promise.race([client.end().catch(() => undefined), timeout]);
}
