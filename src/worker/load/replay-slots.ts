/**
 * Slots for workflow tasks: few of them for tasks from the queue of all, which bring whole histories. Such a task is a replay unless its run is
 * new, and replays take a thousand times as long as other tasks. After a restart, or where runs have fallen out of memory, many come at once;
 * taken together, each takes as long as all of them, the server gives every one up, and they come again as replays (decision 32).
 *
 * R1  Tasks from the queue of this worker alone, for runs that it has in memory, have slots of their own, so replays take none of these.
 * R2  Few replays at a time; fewer while they take long, down to one. The others wait with the server, where no time limit runs.
 */
import type { CustomSlotSupplier, WorkflowSlotInfo } from '@temporalio/worker';
import {
  MAX_REPLAYS_AT_ONCE,
  QUICK_REPLAY_MS,
  REPLAYS_AT_START,
  SLOW_REPLAY_MS,
} from '../../protocol/limits/service-limits.js';

type Supplier = CustomSlotSupplier<WorkflowSlotInfo>;
type Kind = 'held' | 'replay';

interface Permit {
  readonly kind: Kind;
  /** When its task came. */
  usedAt?: number;
}

interface Pool {
  given: number;
  readonly waiting: ((permit: Permit) => void)[];
}

export interface ReplaySlotsOptions {
  /** Slots for tasks of runs that are in memory. */
  readonly slots: number;
  /** Milliseconds, by any clock. */
  readonly now?: () => number;
}

export class ReplaySlots implements Supplier {
  readonly type = 'custom' as const;
  readonly #pools: Readonly<Record<Kind, Pool>> = {
    held: { given: 0, waiting: [] },
    replay: { given: 0, waiting: [] },
  };
  readonly #slots: number;
  readonly #now: () => number;
  #replays: number;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor({ slots, now = () => performance.now() }: ReplaySlotsOptions) {
    this.#slots = slots;
    this.#now = now;
    this.#replays = Math.min(slots, REPLAYS_AT_START);
  }

  /** Tasks with whole histories that may be under way now. */
  get replays(): number {
    return this.#replays;
  }

  async reserveSlot(
    { isSticky }: Parameters<Supplier['reserveSlot']>[0],
    abortSignal: AbortSignal,
  ): Promise<Permit> {
    abortSignal.throwIfAborted();
    const kind = isSticky ? 'held' : 'replay';
    const permit = this.#take(kind) ?? (await this.#wait(kind, abortSignal));
    // The SDK either takes the permit or aborts, and returns no permit that it has not taken.
    abortSignal.addEventListener('abort', () => {
      this.releaseSlot({ permit });
    });
    return permit;
  }

  async #wait(kind: Kind, abortSignal: AbortSignal): Promise<Permit> {
    const { waiting } = this.#pools[kind];
    return await new Promise((resolve, reject) => {
      const given = (permit: Permit): void => {
        abortSignal.removeEventListener('abort', aborted);
        resolve(permit);
      };
      const aborted = (): void => {
        waiting.splice(waiting.indexOf(given), 1);
        reject(abortSignal.reason as Error);
      };
      waiting.push(given);
      abortSignal.addEventListener('abort', aborted, { once: true });
    });
  }

  tryReserveSlot({ isSticky }: Parameters<Supplier['tryReserveSlot']>[0]): Permit | null {
    return this.#take(isSticky ? 'held' : 'replay') ?? null;
  }

  markSlotUsed({ permit }: Parameters<Supplier['markSlotUsed']>[0]): void {
    (permit as Permit).usedAt = this.#now();
  }

  releaseSlot({ permit }: Parameters<Supplier['releaseSlot']>[0]): void {
    const { kind, usedAt } = permit as Permit;
    this.#pools[kind].given -= 1;
    if (kind === 'replay' && usedAt !== undefined) this.#learn(usedAt);
    this.#giveOut(kind);
  }

  #take(kind: Kind): Permit | undefined {
    const pool = this.#pools[kind];
    if (pool.given >= (kind === 'held' ? this.#slots : this.#replays)) return undefined;
    pool.given += 1;
    return { kind };
  }

  #giveOut(kind: Kind): void {
    const { waiting } = this.#pools[kind];
    while (waiting.length > 0) {
      const permit = this.#take(kind);
      if (permit === undefined) return;
      waiting.shift()?.(permit);
    }
  }

  /** Those that began before the last change say nothing of it: all of them were slow together. */
  #learn(usedAt: number): void {
    const now = this.#now();
    if (usedAt < this.#changedAt) return;
    const tookMs = now - usedAt;
    const wanted =
      tookMs > SLOW_REPLAY_MS
        ? Math.max(1, Math.floor(this.#replays / 2))
        : tookMs < QUICK_REPLAY_MS
          ? Math.min(this.#slots, MAX_REPLAYS_AT_ONCE, this.#replays + 1)
          : this.#replays;
    if (wanted === this.#replays) return;
    this.#replays = wanted;
    this.#changedAt = now;
  }
}
