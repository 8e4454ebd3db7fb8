/**
 * The live channel over LISTEN and NOTIFY: between processes that share a Postgres event log. Each conversation that is
 * watched has a channel; on one more, the control channel, the processes exchange their interests, so that no unneeded
 * message is sent.
 */
import { createHash, randomBytes } from 'node:crypto';
import { conversationKey } from '../../../protocol/values/ids.js';
import { Joins } from '../../live/joins.js';
import { LINGER_MS, LiveSubscriptions } from '../../live/subscriptions.js';
import type { LiveChannel, LiveMessage } from '../../ports/live.js';
import { ALIVE_MS, Interests, type Notice } from './interests.js';
import { Notices } from './notices.js';
import { Assembly, payloadsOf } from './payloads.js';

/** Maximum of messages that wait for a slow server; further ones are dropped. */
const MAX_WAITING = 2_000;
/** Notices of one transaction. */
const MAX_AT_ONCE = 200;
/** Interests in one notice. */
const MAX_WATCHES = 500;

export interface PostgresLiveOptions {
  /**
   * The same database as the log's. Not through a pooler that hands connections on by transaction: those lose
   * listeners.
   */
  readonly url: string;
  /**
   * The same as the log's; processes with another one do not receive each other's messages. @defaultValue 'colloquy'
   */
  readonly schema?: string;
}

/** Opens the channel. Never fails: without a server it works inside this process, and tries to connect again. */
export function openPostgresLiveChannel(options: PostgresLiveOptions): LiveChannel {
  return new PostgresLive(options);
}

class PostgresLive implements LiveChannel {
  readonly #id = randomBytes(6).toString('hex');
  readonly #schema: string;
  readonly #notices: Notices;
  readonly #subscriptions: LiveSubscriptions;
  readonly #joins = new Joins();
  readonly #interests = new Interests((keyText) => {
    this.#joins.tell(keyText);
  });
  readonly #assembly = new Assembly();
  readonly #control: string;
  #waiting: (readonly [channel: string, payload: string])[] = [];
  #sending = false;
  #sent = 0;
  #publishes = false;
  #closed = false;
  #alive: NodeJS.Timeout | undefined;

  constructor({ url, schema = 'colloquy' }: PostgresLiveOptions) {
    this.#schema = schema;
    this.#control = this.#channelOf('');
    this.#notices = new Notices({
      url,
      onNotice: (_channel, payload) => {
        this.#heard(payload);
      },
      onConnected: () => {
        this.#connected();
      },
    });
    this.#subscriptions = new LiveSubscriptions((keyText, watch) => {
      const channel = this.#channelOf(keyText);
      if (watch === undefined) {
        this.#tell({ type: 'unwatch', key: keyText });
        this.#notices.unlisten(channel);
      } else {
        this.#notices.listen(channel);
        this.#tell({ type: 'watch', watches: [[keyText, watch.live]] });
        if (watch.live) this.#joins.tell(keyText);
      }
    }, LINGER_MS);
  }

  publish(message: LiveMessage): void {
    if (this.#closed) return;
    this.#startPublishing();
    this.#subscriptions.deliver(message);
    const keyText = conversationKey(message);
    const watch = this.#interests.watchOf(keyText);
    if (watch === undefined || (message.type !== 'appended' && !watch.live)) return;
    this.#send(this.#channelOf(keyText), message);
  }

  subscribe: LiveChannel['subscribe'] = (key, watch, listener) => {
    if (this.#closed) return () => undefined;
    this.#startSubscribing();
    return this.#subscriptions.add(key, watch, listener);
  };

  watched: LiveChannel['watched'] = (key) => {
    if (this.#closed) return undefined;
    this.#startPublishing();
    const keyText = conversationKey(key);
    const here = this.#subscriptions.watchOf(keyText);
    const elsewhere = here?.live === true ? undefined : this.#interests.watchOf(keyText);
    return elsewhere?.live === true ? elsewhere : (here ?? elsewhere);
  };

  onJoin: LiveChannel['onJoin'] = (key, listener) => {
    if (!this.#closed) this.#startPublishing();
    return this.#joins.add(key, listener);
  };

  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#alive !== undefined) this.#tell({ type: 'gone' });
    this.#closed = true;
    clearInterval(this.#alive);
    this.#subscriptions.clear();
    this.#interests.clear();
    await this.#flush();
    await this.#notices.close();
  }

  /** Listens on the control channel and asks for interests, which only publishers need. */
  #startPublishing(): void {
    if (this.#publishes) return;
    this.#publishes = true;
    this.#notices.listen(this.#control);
    this.#tell({ type: 'ask' });
  }

  /**
   * Listens on the control channel for publishers that ask, and reports from time to time that this process is alive.
   */
  #startSubscribing(): void {
    if (this.#alive !== undefined) return;
    this.#notices.listen(this.#control);
    this.#alive = setInterval(() => {
      this.#tell({ type: 'alive' });
    }, ALIVE_MS);
    this.#alive.unref();
  }

  #connected(): void {
    if (this.#publishes) this.#tell({ type: 'ask' });
    this.#tellAll();
  }

  #tellAll(): void {
    const all = this.#subscriptions.all().map(([key, { live }]) => [key, live] as const);
    for (let from = 0; from < all.length; from += MAX_WATCHES)
      this.#tell({ type: 'watch', watches: all.slice(from, from + MAX_WATCHES) });
  }

  #heard(payload: string): void {
    const heard = this.#assembly.take(payload);
    if (heard === undefined || heard.from === this.#id || this.#closed) return;
    const { from, value } = heard;
    if (isMessage(value)) {
      this.#subscriptions.deliver(value);
      return;
    }
    const wanted = this.#interests.take(from, value);
    if (wanted === 'tell') this.#tellAll();
    if (wanted === 'ask' && this.#publishes) this.#tell({ type: 'ask' });
  }

  #tell(notice: Notice): void {
    this.#send(this.#control, notice);
  }

  #send(channel: string, value: LiveMessage | Notice): void {
    // Without a connection no process receives it; one that connects later asks for all interests.
    if (this.#closed || !this.#notices.isConnected || this.#waiting.length > MAX_WAITING) return;
    this.#sent += 1;
    for (const payload of payloadsOf(this.#id, this.#sent, value))
      this.#waiting.push([channel, payload]);
    if (this.#sending) return;
    this.#sending = true;
    // Messages published in one turn of the event loop go out in one transaction.
    setImmediate(() => {
      void this.#flush().then(() => {
        this.#sending = false;
      });
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0 && this.#notices.isConnected) {
      const batch = this.#waiting.slice(0, MAX_AT_ONCE);
      this.#waiting = this.#waiting.slice(MAX_AT_ONCE);
      try {
        await this.#notices.notify(batch);
      } catch {
        // Lost, as live messages may be.
      }
    }
  }

  #channelOf(keyText: string): string {
    const hash = createHash('sha256').update(`${this.#schema}\n${keyText}`).digest('hex');
    return `colloquy_${hash.slice(0, 40)}`;
  }
}

function isMessage(value: unknown): value is LiveMessage {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return ['live', 'so_far', 'appended'].includes(String(value.type));
}
