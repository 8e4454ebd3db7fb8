/** Interests of other processes, as they reported them; forgotten when a process is silent for a while. */
import { isRecord } from '../../../protocol/values/json.js';
import type { Watch } from '../../ports/live.js';

/** A process reports at least this often that it is alive. */
export const ALIVE_MS = 10_000;
/** Three missed reports. */
const FORGET_MS = 3 * ALIVE_MS + 5_000;

/** Notices on the control channel. */
export type Notice =
  /** Sent by a publishing process, which asks all others for their interests. */
  | { readonly type: 'ask' }
  | { readonly type: 'watch'; readonly watches: readonly (readonly [key: string, live: boolean])[] }
  | { readonly type: 'unwatch'; readonly key: string }
  | { readonly type: 'alive' }
  | { readonly type: 'gone' };

interface Process {
  readonly watches: Map<string, boolean>;
  seenAt: number;
}

export class Interests {
  readonly #processes = new Map<string, Process>();
  readonly #onJoin: (keyText: string) => void;

  /** @param onJoin Called when another process begins to watch live events of a conversation. */
  constructor(onJoin: (keyText: string) => void = () => undefined) {
    this.#onJoin = onJoin;
  }

  /**
   * Takes a notice of another process. `tell`: the sender asks for the interests of this process; `ask`: the sender was
   * forgotten here, and has to report all of its interests again.
   */
  take(from: string, notice: unknown): 'tell' | 'ask' | undefined {
    if (!isRecord(notice)) return undefined;
    const { type, watches, key } = notice;
    if (type === 'ask') return 'tell';
    const isForgotten = type === 'alive' && !this.#processes.has(from);
    if (type === 'gone') this.#processes.delete(from);
    else {
      const process = this.#processes.get(from) ?? {
        watches: new Map<string, boolean>(),
        seenAt: 0,
      };
      this.#processes.set(from, process);
      process.seenAt = performance.now();
      if (type === 'unwatch' && typeof key === 'string') process.watches.delete(key);
      if (type === 'watch' && Array.isArray(watches))
        for (const [watched, live] of watches as readonly (readonly [unknown, unknown])[])
          if (typeof watched === 'string') {
            process.watches.set(watched, live === true);
            if (live === true) this.#onJoin(watched);
          }
    }
    return isForgotten ? 'ask' : undefined;
  }

  watchOf(keyText: string): Watch | undefined {
    let found: Watch | undefined;
    for (const [from, { watches, seenAt }] of this.#processes) {
      if (performance.now() - seenAt > FORGET_MS) this.#processes.delete(from);
      else {
        const live = watches.get(keyText);
        if (live === true) return { live };
        if (live === false) found = { live };
      }
    }
    return found;
  }

  clear(): void {
    this.#processes.clear();
  }
}
