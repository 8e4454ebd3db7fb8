/**
 * One space as the readers of this process follow it: its head, and the reads that they share.
 *
 * H1  A head only shows that something has changed; messages and members are always read from the store, later.
 * H2  Readers that have seen the same changes share one read, so many readers cost as much as one.
 */
import { Readers } from '../../projection/changes/tenant.js';
import { MAX_SPACE_MEMBERS } from '../../protocol/limits/service-limits.js';
import type { MemberRef, SpaceKey, SpaceMessage } from '../../protocol/spaces/spaces.js';
import type { SpaceReading, SpaceWriting } from '../../store/ports/live.js';
import type { SpaceHead, SpaceStore } from '../../store/ports/spaces/spaces.js';
import { WrittenTexts } from './written.js';

/** Messages of one read: a slow reader holds so many. */
const PAGE = 20;
/** Milliseconds between two pieces of a call that is being written, or two marks, for each reader. */
const WRITTEN_GAP_MS = 100;
/** Reads that are kept, for readers at so many different places. */
const MAX_READS = 4;

export type HubStore = Pick<SpaceStore, 'changes' | 'heads' | 'members'>;

/** Head of a space that does not exist (any more). */
export const GONE = 'gone';

export class SpaceHub {
  readonly key: SpaceKey;
  readonly #store: HubStore;
  readonly #readers: Readers<() => void>;
  /** By the change that they come after. */
  readonly #reads = new Map<number, Promise<readonly SpaceMessage[]>>();
  #head: SpaceHead | typeof GONE | undefined;
  #first: Promise<void> | undefined;
  /** Reads of the head that have begun, and the latest of them that is over. */
  #begun = 0;
  #taken = 0;
  readonly #written = new WrittenTexts();
  /** By the id of the person, the latest last. */
  readonly #marks = new Map<string, number>();
  #tellTimer: NodeJS.Timeout | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** Reads of the head that had begun when a page had a later change than the head. */
  #begunAtPage = 0;
  #members: { readonly version: number; readonly names: Promise<ReadonlySet<string>> } | undefined;

  /** @param ended Called once, when no reader is left and none may come any more. */
  constructor(store: HubStore, key: SpaceKey, ended: () => void) {
    this.#store = store;
    this.key = key;
    this.#readers = new Readers(ended);
  }

  /** Calls that are being written; the listeners hear of more of them some times a second. */
  get written(): WrittenTexts {
    return this.#written;
  }

  write(writing: SpaceWriting): void {
    if (this.#written.take(writing)) this.#tellSoon();
  }

  mark({ personId, position }: SpaceReading): void {
    if (position <= (this.#marks.get(personId) ?? 0)) return;
    this.#marks.delete(personId);
    this.#marks.set(personId, position);
    const [oldest] = this.#marks.keys();
    if (this.#marks.size > MAX_SPACE_MEMBERS && oldest !== undefined) this.#marks.delete(oldest);
    this.#tellSoon();
  }

  /** The position up to which a person has read, as far as this process has heard of it since its hub began. */
  markOf({ kind, id }: MemberRef): number {
    return kind === 'person' ? (this.#marks.get(id) ?? 0) : 0;
  }

  #tellSoon(): void {
    // The first news after a pause goes out at once.
    const waitMs = Math.max(0, this.#toldAt + WRITTEN_GAP_MS - performance.now());
    this.#tellTimer ??= setTimeout(() => {
      this.#tellTimer = undefined;
      this.#toldAt = performance.now();
      this.#tell();
    }, waitMs).unref();
  }

  /** Once the hub is ready. */
  get head(): SpaceHead | typeof GONE {
    return this.#head ?? GONE;
  }

  /** Registers a reader from now on, which is called when the head has changed. Returns a function that ends it. */
  join(listener: () => void): () => void {
    return this.#readers.join(listener);
  }

  /** Resolves once the head is known. @throws {StoreUnavailable} a repeat tries again */
  async ready(): Promise<void> {
    this.#first ??= this.refresh();
    try {
      await this.#first;
    } catch (error) {
      this.#first = undefined;
      throw error;
    }
  }

  /** Reads the head now. @throws {StoreUnavailable} */
  async refresh(): Promise<void> {
    const take = this.begin();
    const [head] = await this.#store.heads([this.key]);
    take(head);
  }

  /** To be called before the head is read, and the returned function with it. An older read never takes a newer back. */
  begin(): (head: SpaceHead | undefined) => void {
    this.#begun += 1;
    const number = this.#begun;
    return (head) => {
      if (number < this.#taken) return;
      this.#taken = number;
      // The read of the head may be older than the page.
      this.#take(number <= this.#begunAtPage ? withChange(head, lastChangeOf(this.#head)) : head);
    };
  }

  #take(head: SpaceHead | undefined): void {
    const before = this.#head;
    this.#head = head ?? GONE;
    if (isSame(before, this.#head)) return;
    this.#tell();
  }

  #tell(): void {
    for (const changed of this.#readers) changed();
  }

  /** A page has this change, of which the head need not have: readers that have the page are not ahead of the store. */
  #raise(lastChange: number): void {
    if (this.#head === undefined || this.#head === GONE || lastChange <= this.#head.lastChange)
      return;
    this.#begunAtPage = this.#begun;
    this.#take(withChange(this.#head, lastChange));
  }

  /** The first changes after one; a reader that gets fewer than there are asks again. @throws {StoreUnavailable} */
  async changesAfter(change: number): Promise<readonly SpaceMessage[]> {
    const known = this.#reads.get(change);
    if (known !== undefined) return await known;
    const read = this.#store.changes(this.key, { after: change, limit: PAGE });
    this.#reads.set(change, read);
    const [oldest] = this.#reads.keys();
    if (this.#reads.size > MAX_READS && oldest !== undefined) this.#reads.delete(oldest);
    try {
      const messages = await read;
      if (messages.length === 0) this.#reads.delete(change);
      this.#raise(messages.at(-1)?.change ?? 0);
      return messages;
    } catch (error) {
      this.#reads.delete(change);
      throw error;
    }
  }

  /** Whether the space has a member, by a version of its members. @throws {StoreUnavailable} */
  async hasMember(member: MemberRef, version: number): Promise<boolean> {
    if (this.#members?.version !== version) this.#members = { version, names: this.#readMembers() };
    const { names } = this.#members;
    try {
      return (await names).has(nameOf(member));
    } catch (error) {
      if (this.#members.names === names) this.#members = undefined;
      throw error;
    }
  }

  async #readMembers(): Promise<ReadonlySet<string>> {
    return new Set((await this.#store.members(this.key)).map(nameOf));
  }
}

function nameOf({ kind, id }: MemberRef): string {
  return `${kind} ${id}`;
}

function lastChangeOf(head: SpaceHead | typeof GONE | undefined): number {
  return head === undefined || head === GONE ? 0 : head.lastChange;
}

/** The head with this change, where its own is older. */
function withChange(head: SpaceHead | undefined, lastChange: number): SpaceHead | undefined {
  return head === undefined || head.lastChange >= lastChange ? head : { ...head, lastChange };
}

function isSame(one: SpaceHead | typeof GONE | undefined, other: SpaceHead | typeof GONE): boolean {
  if (one === undefined || one === GONE || other === GONE) return one === other;
  return one.lastChange === other.lastChange && one.membersVersion === other.membersVersion;
}
