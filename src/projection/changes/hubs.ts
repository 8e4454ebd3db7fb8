/** The conversations that readers of this process follow, one hub for each tenant. */
import type {
  ConversationsFilter,
  ConversationsFrame,
} from '../../protocol/log/conversations-stream.js';
import { ConversationsFollower, type FollowOptions } from './follow.js';
import { ConversationsHub, type ConversationsHubDeps } from './hub.js';

export type ConversationsDeps = ConversationsHubDeps & FollowOptions;

export class FollowedConversations {
  readonly #deps: ConversationsDeps;
  readonly #hubs = new Map<string, ConversationsHub>();

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  /** The changes of a tenant's conversations, until the signal aborts. @throws {StoreUnavailable} when they cannot be read. */
  async watch(
    { tenant, ...filter }: ConversationsFilter & { readonly tenant: string },
    { after, signal }: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<ConversationsFrame>> {
    const hub = this.#hubOf(tenant);
    const follower = new ConversationsFollower(hub, filter, this.#deps);
    // Also where the frames are never taken.
    signal.addEventListener('abort', () => {
      follower.close();
    });
    try {
      await hub.ready();
      return follower.frames(await follower.begin(after), signal);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  #hubOf(tenant: string): ConversationsHub {
    const known = this.#hubs.get(tenant);
    if (known !== undefined) return known;
    const hub = new ConversationsHub(this.#deps, tenant, () => this.#hubs.delete(tenant));
    this.#hubs.set(tenant, hub);
    return hub;
  }
}
