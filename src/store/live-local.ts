/** The live channel inside one process: for a worker and an API that live together, and for tests. */
import { conversationKey } from '../protocol/ids.js';
import { LiveSubscriptions } from './live/subscriptions.js';
import type { LiveChannel } from './live-port.js';

/** Messages reach listeners before `publish` returns. After `close`, everything is quietly ignored. */
export function createLocalLiveChannel(): LiveChannel {
  const subscriptions = new LiveSubscriptions();
  let closed = false;
  return {
    publish: (message) => {
      subscriptions.deliver(message);
    },
    subscribe: (key, watch, listener) =>
      closed ? () => undefined : subscriptions.add(key, watch, listener),
    watched: (key) => subscriptions.watchOf(conversationKey(key)),
    close: async () => {
      closed = true;
      subscriptions.clear();
      await Promise.resolve();
    },
  };
}
