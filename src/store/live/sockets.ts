/**
 * The live channel between the processes of one machine that share a database file. No broker: each subscribing process
 * listens on a unix socket of its own in a folder beside the file; each publishing process connects to all of them and
 * receives their interests. Windows has no such folders of sockets: there, processes receive only their own messages,
 * and readers fall back to polling the store.
 */
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveChannel } from '../ports/live.js';
import { liveDirectoryFor, makeLiveDirectory } from './directory.js';
import { Joins } from './joins.js';
import { LiveListener } from './listener.js';
import { createLocalLiveChannel } from './local.js';
import { LivePublisher } from './publisher.js';
import { LINGER_MS, LiveSubscriptions } from './subscriptions.js';

/** Repairs changes that file notices missed: new sockets, and a socket of this process that was removed. */
const RESCAN_MS = 1_000;

export interface LiveChannelOptions {
  /** The database file; all processes that open the same file receive each other's messages. */
  readonly file: string;
  /** Called once, with one line of text, when other processes cannot be reached. */
  readonly onUnavailable?: (reason: string) => void;
}

/**
 * Opens the channel. Never fails: where sockets cannot be used, it works inside this process only. Nothing in it keeps
 * a process alive. `close` removes this process's socket; the next publisher removes sockets of killed processes.
 */
export function openLiveChannel(options: LiveChannelOptions): LiveChannel {
  const { file, onUnavailable = () => undefined } = options;
  if (file === ':memory:') return createLocalLiveChannel();
  if (process.platform === 'win32') {
    onUnavailable('live events do not cross processes on Windows; readers poll the store');
    return createLocalLiveChannel();
  }
  try {
    const directory = liveDirectoryFor(file);
    makeLiveDirectory(directory);
    return createSocketChannel(directory);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    onUnavailable(`live events do not cross processes: ${reason}`);
    return createLocalLiveChannel();
  }
}

function createSocketChannel(directory: string): LiveChannel {
  const subscriptions: LiveSubscriptions = new LiveSubscriptions((keyText, watch) => {
    listener.changed(keyText, watch);
    if (watch?.live === true) joins.tell(keyText);
  }, LINGER_MS);
  const listener = new LiveListener(directory, subscriptions);
  const joins = new Joins();
  const publisher = new LivePublisher(directory, listener.path, (keyText) => {
    joins.tell(keyText);
  });
  const state = { publishes: false, subscribes: false, closed: false };
  const timer = whileThereIs(directory, () => {
    if (state.publishes) publisher.scan();
    if (state.subscribes) listener.ensure();
  });

  // A process that only reads never connects to the others, and one that only publishes never listens.
  const startPublishing = (): void => {
    if (state.publishes) return;
    state.publishes = true;
    publisher.scan();
  };

  return {
    publish: (message) => {
      if (state.closed) return;
      startPublishing();
      subscriptions.deliver(message);
      publisher.publish(message);
    },
    subscribe: (key, watch, onMessage) => {
      if (state.closed) return () => undefined;
      if (!state.subscribes) {
        state.subscribes = true;
        listener.ensure();
      }
      return subscriptions.add(key, watch, onMessage);
    },
    watched: (key) => {
      if (state.closed) return undefined;
      startPublishing();
      const keyText = conversationKey(key);
      const here = subscriptions.watchOf(keyText);
      const elsewhere = here?.live === true ? undefined : publisher.watchOf(keyText);
      return elsewhere?.live === true ? elsewhere : (here ?? elsewhere);
    },
    onJoin: (key, onJoin) => {
      if (!state.closed) startPublishing();
      return joins.add(key, onJoin);
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      clearInterval(timer);
      publisher.close();
      subscriptions.clear();
      await listener.close();
    },
  };
}

/** Repairs each second. Does nothing while the folder cannot be created; the next tick tries again. */
function whileThereIs(directory: string, repair: () => void): NodeJS.Timeout {
  const timer = setInterval(() => {
    try {
      makeLiveDirectory(directory);
    } catch {
      return;
    }
    repair();
  }, RESCAN_MS);
  return timer.unref();
}
