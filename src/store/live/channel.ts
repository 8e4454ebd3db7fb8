/**
 * The live channel over a bus: the part that all adapters share. Subscribing processes report which conversations they
 * watch, and report all of them again from time to time; publishers send only messages that are watched.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { conversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { LiveChannel, LiveMessage } from '../ports/live.js';
import type { Bus, BusEvents, Line } from './bus.js';
import { Interests, type Notice, REPORT_MS } from './interests.js';
import { Outbox } from './outbox.js';
import { LiveSubscriptions } from './subscriptions.js';

/**
 * Opens a channel. The bus connects with the first use, so a process that does neither publish nor subscribe takes no
 * part. Without a connection the channel works inside this process.
 */
export function createLiveChannel(openBus: (events: BusEvents) => Bus): LiveChannel {
  return new BusChannel(openBus);
}

class BusChannel implements LiveChannel {
  /** Begins every line of this process. */
  readonly #id = randomBytes(6).toString('hex');
  readonly #bus: Bus;
  readonly #joins = new EventEmitter().setMaxListeners(0);
  readonly #interests = new Interests((keyText) => this.#joins.emit(keyText));
  readonly #subscriptions = new LiveSubscriptions((keyText, watch) => {
    this.#report(watch ? { watch: keyText, live: watch.live } : { unwatch: keyText });
    if (watch?.live === true) this.#joins.emit(keyText);
  });
  readonly #outbox = new Outbox((texts) => {
    this.#bus.send(texts.map((text) => ({ topic: 'live', text })));
  });
  /** Present from the first subscription on. */
  #reports: NodeJS.Timeout | undefined;
  #publishes = false;
  #closed = false;

  constructor(openBus: (events: BusEvents) => Bus) {
    this.#bus = openBus({
      onLine: (line) => {
        this.#receive(line);
      },
      onConnected: () => {
        // A process may have ended meanwhile; the others report again.
        this.#interests.clear();
        if (this.#publishes) this.#ask();
        if (this.#reports !== undefined) this.#reportAll();
      },
      will: this.#lineOf({ all: [] }),
    });
  }

  publish: LiveChannel['publish'] = (message) => {
    if (this.#closed) return;
    this.#startPublishing();
    this.#subscriptions.emit(message);
    const keyText = conversationKey(message);
    const watch = this.#interests.watchOf(keyText);
    if (watch === undefined || (message.type !== 'appended' && !watch.live)) return;
    this.#outbox.add(`${this.#id} ${keyText} ${JSON.stringify(message)}`, message);
  };

  subscribe: LiveChannel['subscribe'] = (key, watch, listener) => {
    if (this.#closed) return () => undefined;
    if (this.#reports === undefined) {
      this.#bus.listen('live');
      this.#bus.listen('ask');
      this.#reports = setInterval(() => {
        this.#reportAll();
      }, REPORT_MS).unref();
    }
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
    const keyText = conversationKey(key);
    const own = (): void => {
      listener();
    };
    this.#joins.on(keyText, own);
    return () => this.#joins.off(keyText, own);
  };

  close: LiveChannel['close'] = async () => {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#reports);
    this.#subscriptions.clear();
    this.#outbox.flush();
    if (this.#reports !== undefined) this.#reportAll();
    await this.#bus.close();
  };

  #startPublishing(): void {
    if (this.#publishes) return;
    this.#publishes = true;
    this.#bus.listen('watch');
    this.#ask();
  }

  #ask(): void {
    this.#bus.send([{ topic: 'ask', text: this.#id }]);
  }

  #reportAll(): void {
    this.#report({ all: this.#subscriptions.all() });
  }

  #report(notice: Notice): void {
    this.#bus.send([this.#lineOf(notice)]);
  }

  #lineOf(notice: Notice): Line {
    return { topic: 'watch', text: `${this.#id} ${JSON.stringify(notice)}` };
  }

  #receive({ topic, text }: Line): void {
    const [from = '', keyOrNotice = ''] = text.split(' ', 2);
    if (this.#closed || from === this.#id) return;
    if (topic === 'ask') this.#reportAll();
    else if (topic === 'watch') this.#interests.take(from, parsed(text.slice(from.length + 1)));
    else if (this.#subscriptions.watchOf(keyOrNotice) !== undefined) {
      // Other lines are skipped unread: every process gets those of all.
      const message = parsed(text.slice(from.length + keyOrNotice.length + 2));
      if (isLiveMessage(message)) this.#subscriptions.emit(message);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Checks only that the message is complete, because no other user's processes can send. */
function isLiveMessage(value: unknown): value is LiveMessage {
  if (!isRecord(value)) return false;
  const { type } = value;
  if (type === 'writing' || type === 'read') return type in value;
  return type === 'appended' || ((type === 'live' || type === 'so_far') && 'event' in value);
}
