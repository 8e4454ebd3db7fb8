/** The worklists that readers of this process follow, one hub for each tenant. */
import type { WorklistBy } from '../../client/ports/reader.js';
import type { WorklistFrame } from '../../protocol/log/worklist.js';
import { WorklistFollower } from './follow.js';
import { type HubDeps, WorklistHub } from './hub.js';

export class Worklists {
  readonly #deps: HubDeps;
  readonly #hubs = new Map<string, WorklistHub>();

  constructor(deps: HubDeps) {
    this.#deps = deps;
  }

  /** The list and its changes, until the signal aborts. @throws {StoreUnavailable} when the list cannot be read. */
  async watch(
    by: WorklistBy,
    options: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<WorklistFrame>> {
    const hub = this.#hubOf(by.tenant);
    const follower = new WorklistFollower(hub, by);
    try {
      await hub.ready();
    } catch (error) {
      follower.close();
      throw error;
    }
    return follower.frames(options);
  }

  #hubOf(tenant: string): WorklistHub {
    const known = this.#hubs.get(tenant);
    if (known !== undefined) return known;
    const hub = new WorklistHub(this.#deps, tenant, () => this.#hubs.delete(tenant));
    this.#hubs.set(tenant, hub);
    return hub;
  }
}
