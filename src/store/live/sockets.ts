/**
 * The live channel between the processes of one machine that share a database file. No broker: each process that
 * subscribes listens on a unix socket of its own in a folder beside the file, each that publishes connects to all of them
 * and is told what is watched. Windows has no such folders of sockets: there, processes hear only themselves, and readers
 * fall back to polling the store.
 */
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveChannel } from '../ports/live.js';
import { liveDirectoryFor, makeLiveDirectory } from './directory.js';
import { Joins } from './joins.js';
import { LiveListener } from './listener.js';
import { createLocalLiveChannel } from './local.js';
import { LivePublisher } from './publisher.js';
import { LINGER_MS, LiveSubscriptions } from './subscriptions.js';

/** Repairs what file notices missed: new sockets, and a socket of ours that somebody removed. */
const RESCAN_MS = 1_000;

export interface LiveChannelOptions {
  /** The database file; all processes that open the same one hear each other. */
  readonly file: string;
  /** Told once, in one line, when other processes cannot be reached. */
  readonly onUnavailable?: (reason: string) => void;
}

/**
 * Opens the channel. Never fails: where sockets cannot be used, it works inside this process only. Nothing of it keeps a
 * process alive. `close` removes this process's socket; sockets of killed processes are removed by the next publisher.
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

/** Each second. Without a folder nobody is found; the next tick tries again. */
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
