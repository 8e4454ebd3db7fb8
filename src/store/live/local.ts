/** The live channel inside one process: for a worker and an API in the same process, and for tests. */
import type { LiveChannel } from '../ports/live.js';
import { createLiveChannel } from './channel.js';

/** Messages reach listeners before `publish` returns. After `close`, every call is ignored without an error. */
export function createLocalLiveChannel(): LiveChannel {
  return createLiveChannel(() => ({
    listen: () => undefined,
    send: () => undefined,
    close: () => Promise.resolve(),
  }));
}
