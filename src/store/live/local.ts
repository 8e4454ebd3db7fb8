/** The live channel inside one process: for a worker and an API in the same process, and for tests. */
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveChannel } from '../ports/live.js';
import { Joins } from './joins.js';
import { LiveSubscriptions } from './subscriptions.js';

/** Messages reach listeners before `publish` returns. After `close`, every call is ignored without an error. */
export function createLocalLiveChannel(): LiveChannel {
  const joins = new Joins();
  const subscriptions = new LiveSubscriptions((keyText, watch) => {
    if (watch?.live === true) joins.tell(keyText);
  });
  let closed = false;
  return {
    publish: (message) => {
      subscriptions.deliver(message);
    },
    subscribe: (key, watch, listener) =>
      closed ? () => undefined : subscriptions.add(key, watch, listener),
    watched: (key) => subscriptions.watchOf(conversationKey(key)),
    onJoin: (key, listener) => joins.add(key, listener),
    close: async () => {
      closed = true;
      subscriptions.clear();
      await Promise.resolve();
    },
  };
}
