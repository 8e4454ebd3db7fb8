/** Interests of other processes, as they reported them; forgotten when a process is silent for a while. */
import { isRecord } from '../../protocol/values/json.js';
import type { Watch } from '../ports/live.js';

/** A subscribing process reports all of its interests at least this often. */
export const REPORT_MS = 10_000;
/** Three missed reports. */
const FORGET_MS = 3 * REPORT_MS + 5_000;

/** A notice of a subscribing process. The lists replace what it reported before, so they repair lost notices. */
export type Notice =
  | { readonly all: readonly (readonly [keyText: string, live: boolean])[] }
  | { readonly watch: string; readonly live: boolean }
  | { readonly unwatch: string };

interface Process {
  watches: Map<string, boolean>;
  heardAt: number;
}

export class Interests {
  readonly #processes = new Map<string, Process>();
  readonly #onJoin: (keyText: string) => void;

  /** @param onJoin Called when another process begins to watch live events of a conversation. */
  constructor(onJoin: (keyText: string) => void) {
    this.#onJoin = onJoin;
  }

  /** Takes a notice of another process; ignores anything else. */
  take(from: string, notice: unknown): void {
    if (!isRecord(notice)) return;
    const { all, watch, unwatch, live } = notice;
    const process = this.#processes.get(from) ?? {
      watches: new Map<string, boolean>(),
      heardAt: 0,
    };
    this.#processes.set(from, process);
    process.heardAt = performance.now();
    if (Array.isArray(all)) {
      const before = process.watches;
      process.watches = new Map(all.filter(isWatch));
      for (const [keyText, isLive] of process.watches)
        if (isLive && before.get(keyText) !== true) this.#onJoin(keyText);
    }
    if (typeof watch === 'string') {
      process.watches.set(watch, live === true);
      if (live === true) this.#onJoin(watch);
    }
    if (typeof unwatch === 'string') process.watches.delete(unwatch);
  }

  clear(): void {
    this.#processes.clear();
  }

  watchOf(keyText: string): Watch | undefined {
    let found: Watch | undefined;
    for (const [from, { watches, heardAt }] of this.#processes) {
      const live = watches.get(keyText);
      if (performance.now() - heardAt > FORGET_MS) this.#processes.delete(from);
      else if (live === true) return { live };
      else if (live === false) found = { live };
    }
    return found;
  }
}

function isWatch(value: unknown): value is [string, boolean] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'boolean';
}
