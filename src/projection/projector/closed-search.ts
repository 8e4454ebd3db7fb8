/**
 * Finds closed conversations that the store does not have, because it may be an old backup. A bounded number at a time,
 * in turn.
 */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { WorkflowSource } from '../source/workflow-source.js';

/** Numbers of conversations that one search lists, and that are brought in at most: each is a replay in some worker. */
const LISTED = 1_000;
const BROUGHT_IN = 100;

export class ClosedSearch {
  readonly #deps: { readonly log: Pick<EventLog, 'unknown'>; readonly source: WorkflowSource };
  /** The position where the search continues; undefined = at the newest. */
  #runs: AsyncIterator<ConversationKey> | undefined;
  /** Found, and still to be brought in. */
  #missing: readonly ConversationKey[] = [];

  constructor(deps: { readonly log: Pick<EventLog, 'unknown'>; readonly source: WorkflowSource }) {
    this.#deps = deps;
  }

  /** The next missing conversations. @throws errors of the store and of the source; the search then begins anew */
  async next(): Promise<readonly ConversationKey[]> {
    if (this.#missing.length === 0) {
      try {
        const keys = await this.#listed();
        if (keys.length > 0) this.#missing = await this.#deps.log.unknown(keys);
      } catch (error) {
        this.#runs = undefined;
        throw error;
      }
    }
    const keys = this.#missing.slice(0, BROUGHT_IN);
    this.#missing = this.#missing.slice(BROUGHT_IN);
    return keys;
  }

  async #listed(): Promise<readonly ConversationKey[]> {
    const keys = new Map<string, ConversationKey>();
    this.#runs ??= this.#deps.source.closed?.()[Symbol.asyncIterator]();
    for (let count = 0; count < LISTED; count += 1) {
      const next = await this.#runs?.next();
      if (next === undefined || next.done === true) {
        this.#runs = undefined;
        break;
      }
      keys.set(conversationKey(next.value), next.value);
    }
    return [...keys.values()];
  }
}
