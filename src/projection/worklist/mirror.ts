/** The waiting calls of one tenant in memory, for all readers of its worklist in this process. */
import type { WaitingItem } from '../../protocol/log/worklist.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import { fingerprint } from '../../protocol/values/json.js';

/** The most calls that are kept, those that end first. An item has two kilobytes, seldom more. */
export const MAX_MIRRORED = 10_000;

export interface Mirrored {
  readonly item: WaitingItem;
  /** Differs when the item differs. */
  readonly version: string;
}

export class Mirror {
  readonly #max: number;
  readonly #entries = new Map<string, Mirrored>();
  readonly #byConversation = new Map<ConversationId, Set<string>>();
  #capped = false;

  constructor(max: number = MAX_MIRRORED) {
    this.#max = max;
  }

  /** Whether there may be calls that are not kept. */
  get capped(): boolean {
    return this.#capped;
  }

  /** Whether so many calls have gone that others should be read in their place. */
  get isThin(): boolean {
    return this.#capped && this.#entries.size < this.#max * 0.9;
  }

  get(ref: string): Mirrored | undefined {
    return this.#entries.get(ref);
  }

  entries(): Iterable<[string, Mirrored]> {
    return this.#entries;
  }

  /** Takes all calls of the tenant, or as many as are kept. Returns the refs of those that have changed. */
  takeAll(items: readonly WaitingItem[], capped: boolean): readonly string[] {
    this.#capped = capped;
    const kept = new Set(items.map(({ ref }) => ref));
    const gone = [...this.#entries.keys()].filter((ref) => !kept.has(ref));
    for (const ref of gone) this.#remove(ref);
    return [...gone, ...this.#put(items)];
  }

  /** Takes the calls that now wait in some conversations. Returns the refs of those that have changed. */
  takeOf(ids: readonly ConversationId[], items: readonly WaitingItem[]): readonly string[] {
    const kept = new Set(items.map(({ ref }) => ref));
    const gone = ids
      .flatMap((id) => [...(this.#byConversation.get(id) ?? [])])
      .filter((ref) => !kept.has(ref));
    for (const ref of gone) this.#remove(ref);
    return [...gone, ...this.#put(items), ...this.#cut()];
  }

  #put(items: readonly WaitingItem[]): readonly string[] {
    const changed: string[] = [];
    for (const item of items) {
      const { ref, conversationId } = item;
      const version = fingerprint(JSON.stringify(item));
      if (this.#entries.get(ref)?.version === version) continue;
      this.#entries.set(ref, { item, version });
      const refs = this.#byConversation.get(conversationId) ?? new Set();
      this.#byConversation.set(conversationId, refs.add(ref));
      changed.push(ref);
    }
    return changed;
  }

  /** Drops the calls that end last, where there are too many. */
  #cut(): readonly string[] {
    if (this.#entries.size <= this.#max) return [];
    this.#capped = true;
    const last = [...this.#entries.values()]
      .map(({ item }) => item)
      .sort(byDeadline)
      .slice(this.#max)
      .map(({ ref }) => ref);
    for (const ref of last) this.#remove(ref);
    return last;
  }

  #remove(ref: string): void {
    const id = this.#entries.get(ref)?.item.conversationId;
    this.#entries.delete(ref);
    if (id === undefined) return;
    const refs = this.#byConversation.get(id);
    refs?.delete(ref);
    if (refs?.size === 0) this.#byConversation.delete(id);
  }
}

/** Those that end first come first. */
export function byDeadline(left: WaitingItem, right: WaitingItem): number {
  if (left.deadline !== right.deadline) return left.deadline < right.deadline ? -1 : 1;
  return left.ref < right.ref ? -1 : 1;
}
