/**
 * The spaces that readers of this process follow: one hub for each, and one poll of the heads of all of them. Hints of
 * the live channel make it read a head at once; the poll finds all other changes within a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Outages, type ProjectionLogger, SILENT } from '../../projection/source/outages.js';
import type { SpaceFrame, SpaceKey } from '../../protocol/spaces/spaces.js';
import { type LiveChannel, spaceLiveKey } from '../../store/ports/live.js';
import { type FollowOptions, SpaceFollower } from './follow.js';
import { GONE, type HubStore, SpaceHub } from './hub.js';

export interface StreamsDeps {
  readonly store: HubStore;
  /** Without it all changes are found by polls. */
  readonly live?: LiveChannel | undefined;
  /** @defaultValue no log */
  readonly logger?: ProjectionLogger | undefined;
  /** Milliseconds between two polls. @defaultValue 1,000 */
  readonly pollMs?: number | undefined;
}

const POLL_MS = 1_000;
/** Milliseconds between two reads of heads: hints that come together are read together. */
const GAP_MS = 25;
const HEADS_AT_ONCE = 500;

export class SpaceStreams {
  readonly #deps: StreamsDeps;
  readonly #outages: Outages;
  readonly #hubs = new Map<string, SpaceHub>();
  readonly #hinted = new Set<SpaceHub>();
  #isRunning = false;
  #pollAt = 0;
  #wake: (() => void) | undefined;

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    this.#outages = new Outages(deps.logger ?? SILENT);
  }

  /** @throws {StoreUnavailable} when the space cannot be read: so an outage is no empty stream */
  async watch(key: SpaceKey, options: FollowOptions): Promise<AsyncIterable<SpaceFrame>> {
    const hub = this.#hubOf(key);
    const follower = new SpaceFollower(hub, options, this.#outages);
    // Also where the frames are never taken.
    options.signal.addEventListener('abort', () => {
      follower.close();
    });
    try {
      await hub.ready();
      // The hub may not have heard yet of what the reader has seen.
      const { head } = hub;
      if (head !== GONE && (options.after ?? 0) > head.lastChange) await hub.refresh();
    } catch (error) {
      follower.close();
      throw error;
    }
    return follower.frames();
  }

  #hubOf(key: SpaceKey): SpaceHub {
    const name = nameOf(key);
    const known = this.#hubs.get(name);
    if (known !== undefined) return known;
    const unsubscribe = this.#deps.live?.subscribe(spaceLiveKey(key), { live: true }, (message) => {
      if (message.type === 'writing') {
        hub.write(message.writing);
        return;
      }
      if (message.type === 'read') {
        hub.mark(message.read);
        return;
      }
      this.#hinted.add(hub);
      this.#wake?.();
    });
    const hub = new SpaceHub(this.#deps.store, key, () => {
      unsubscribe?.();
      this.#hubs.delete(name);
      this.#hinted.delete(hub);
      if (this.#hubs.size === 0) this.#wake?.();
    });
    this.#hubs.set(name, hub);
    if (!this.#isRunning) void this.#run();
    return hub;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#hubs.size > 0) {
      const isPoll = performance.now() >= this.#pollAt;
      if (isPoll) this.#pollAt = performance.now() + (this.#deps.pollMs ?? POLL_MS);
      const hubs = [...(isPoll ? this.#hubs.values() : this.#hinted)];
      this.#hinted.clear();
      await this.#readHeads(hubs);
      await sleep(GAP_MS, undefined, { ref: false });
      await this.#pause();
    }
    this.#isRunning = false;
    this.#pollAt = 0;
  }

  async #readHeads(hubs: readonly SpaceHub[]): Promise<void> {
    try {
      for (let at = 0; at < hubs.length; at += HEADS_AT_ONCE) {
        const part = hubs.slice(at, at + HEADS_AT_ONCE);
        const takes = part.map((hub) => hub.begin());
        const heads = await this.#deps.store.heads(part.map(({ key }) => key));
        const found = new Map(heads.map((head) => [nameOf(head), head]));
        for (const [index, { key }] of part.entries()) takes[index]?.(found.get(nameOf(key)));
      }
      this.#outages.succeeded();
    } catch (error) {
      // The next poll reads all of them.
      this.#outages.failed(error, undefined, 'spaces');
    }
  }

  /** Until a hint comes, the next poll is due, or no hub is left. */
  async #pause(): Promise<void> {
    const leftMs = this.#pollAt - performance.now();
    if (leftMs <= 0 || this.#hinted.size > 0 || this.#hubs.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

/** No id of a tenant or space has a slash. */
function nameOf({ tenant, spaceId }: SpaceKey): string {
  return `${tenant}/${spaceId}`;
}
