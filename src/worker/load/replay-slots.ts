/**
 * Slots for workflow tasks: few of them for tasks from the queue of all, which bring whole histories. Such a task is a replay unless its run is
 * new, and replays take a thousand times as long as other tasks. After a restart, or where runs have fallen out of memory, many come at once;
 * taken together, each takes as long as all of them, the server gives every one up, and they come again as replays (decision 32).
 *
 * R1  Tasks from the queue of this worker alone, for runs that it has in memory, have slots of their own, so replays take none of these.
 * R2  Few replays at a time; fewer while they take long, down to one. The others wait with the server, where no time limit runs.
 * R3  A poll of the worker's own queue may bring a whole history, too: where tasks have waited in the queue of all for some seconds, Temporal
 *     (since 1.31, `matching.priorityBacklogForwarding`) answers with one of them if the own queue has none. These strays count as
 *     replays. After each of them, and after the start, few such polls are open for some time.
 */
import type { CustomSlotSupplier, WorkflowSlotInfo } from '@temporalio/worker';
import {
  MAX_REPLAYS_AT_ONCE,
  MIXED_QUEUES_MS,
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
  /** The task brought a whole history. */
  whole?: boolean;
}

interface Pool {
  given: number;
  /** Those of `given` whose task has come. */
  used: number;
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
    held: { given: 0, used: 0, waiting: [] },
    replay: { given: 0, used: 0, waiting: [] },
  };
  readonly #slots: number;
  readonly #now: () => number;
  #replays: number;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The number of strays under way. */
  #strays = 0;
  /** When the last stray came. A worker that starts has no runs in memory, and its polls find what waits. */
  #strayedAt: number;

  constructor({ slots, now = () => performance.now() }: ReplaySlotsOptions) {
    this.#slots = slots;
    this.#now = now;
    this.#replays = Math.min(slots, REPLAYS_AT_START);
    this.#strayedAt = now();
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

  markSlotUsed({ permit, slotInfo }: Parameters<Supplier['markSlotUsed']>[0]): void {
    const used = permit as Permit;
    used.usedAt = this.#now();
    used.whole = !slotInfo.isSticky;
    this.#pools[used.kind].used += 1;
    if (isStray(used)) {
      this.#strays += 1;
      this.#strayedAt = used.usedAt;
    }
    this.#giveOut();
  }

  releaseSlot({ permit }: Parameters<Supplier['releaseSlot']>[0]): void {
    const released = permit as Permit;
    const { kind, usedAt } = released;
    this.#pools[kind].given -= 1;
    if (usedAt !== undefined) this.#pools[kind].used -= 1;
    if (isStray(released)) this.#strays -= 1;
    if (usedAt !== undefined && (kind === 'replay' || isStray(released))) this.#learn(usedAt);
    this.#giveOut();
  }

  #take(kind: Kind): Permit | undefined {
    if (!this.#mayTake(kind)) return undefined;
    this.#pools[kind].given += 1;
    return { kind };
  }

  #mayTake(kind: Kind): boolean {
    const { held, replay } = this.#pools;
    const strays = this.#strays;
    const open = held.given - held.used;
    if (kind === 'replay') return replay.given + strays + (strays > 0 ? open : 0) < this.#replays;
    const isMixed = this.#now() - this.#strayedAt <= MIXED_QUEUES_MS;
    const free = Math.max(1, this.#replays - replay.used);
    return held.given < this.#slots && (!isMixed || open + strays < free);
  }

  /** Polls of the own queue first: its tasks wait for a second only. */
  #giveOut(): void {
    for (const kind of ['held', 'replay'] as const) {
      const { waiting } = this.#pools[kind];
      while (waiting.length > 0) {
        const permit = this.#take(kind);
        if (permit === undefined) break;
        waiting.shift()?.(permit);
      }
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

/** Whether a poll of the worker's own queue brought a whole history (R3). */
function isStray({ kind, whole }: Permit): boolean {
  return kind === 'held' && whole === true;
}
