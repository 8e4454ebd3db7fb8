/**
 * A worklist as one reader sees it, and its changes.
 *
 * F1  The reader is never behind by more than the calls that exist: a change that was not sent yet is replaced by the
 *     next change of the same call, so a slow reader costs no more memory than a fast one.
 * F2  The id of a frame is a digest of the whole list that the reader has after it. A reader that comes back with the
 *     digest of the present list, to any process, has missed nothing; every other one gets the whole list again.
 */
import type { WorklistBy } from '../../client/ports/reader.js';
import { mayAnswer, worklistItem } from '../../core/view/worklist.js';
import {
  type CountedCalls,
  type WaitingItem,
  type WorklistFrame,
  worklistCounts,
} from '../../protocol/log/worklist.js';
import { fingerprint } from '../../protocol/values/json.js';
import type { WorklistHub } from './hub.js';
import { byDeadline, type Mirrored } from './mirror.js';

const ITEMS_OF_SNAPSHOT = 100;
const LOW = 2 ** 32;

interface Listed extends Pick<WaitingItem, 'tool' | 'risk'> {
  readonly version: string;
}

export class WorklistFollower {
  readonly #hub: WorklistHub;
  readonly #by: WorklistBy;
  readonly #beforeMs: number;
  readonly #dirty = new Set<string>();
  /** The list as the reader has it. */
  readonly #listed = new Map<string, Listed>();
  readonly #counted = new Map<string, { calls: number } & CountedCalls>();
  readonly #leave: () => void;
  #digest: readonly [high: number, low: number];
  #wake: (() => void) | undefined;

  /** Joins the hub at once, so that no change is missed. */
  constructor(hub: WorklistHub, by: WorklistBy) {
    const { deadlineBefore } = by;
    this.#hub = hub;
    this.#by = by;
    this.#beforeMs =
      deadlineBefore === undefined ? Number.POSITIVE_INFINITY : Date.parse(deadlineBefore);
    // Lists of other readers have other ids, even where they have the same calls.
    this.#digest = partsOf(fingerprint(JSON.stringify(by)));
    this.#leave = hub.join((refs) => {
      for (const ref of refs)
        if (this.#listed.has(ref) || hub.mirror.get(ref) !== undefined) this.#dirty.add(ref);
        else this.#dirty.delete(ref);
      this.#wake?.();
    });
  }

  close(): void {
    this.#leave();
  }

  /** Yields until the signal aborts. To be called once, when the hub is ready. */
  async *frames({
    after,
    signal,
  }: {
    readonly after?: string | undefined;
    readonly signal: AbortSignal;
  }): AsyncGenerator<WorklistFrame, void, undefined> {
    const wake = (): void => {
      this.#wake?.();
    };
    signal.addEventListener('abort', wake);
    try {
      yield* this.#snapshot(after);
      yield this.#counts();
      while (!isAborted(signal)) {
        let hasChanged = false;
        for (const ref of this.#dirty) {
          this.#dirty.delete(ref);
          const frame = this.#change(ref);
          if (frame === undefined) continue;
          hasChanged = true;
          yield frame;
          if (isAborted(signal)) return;
        }
        if (hasChanged) yield this.#counts();
        else await this.#changed(signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.close();
    }
  }

  *#snapshot(after: string | undefined): Generator<WorklistFrame, void, undefined> {
    const found = [...this.#hub.mirror.entries()].filter(([, { item }]) => this.#matches(item));
    // All before the first part: a call of a later part that ends while the reader takes this one has to go again.
    for (const [ref, entry] of found) this.#list(ref, entry);
    if (after !== undefined && after === this.#id()) return;
    found.sort(([, left], [, right]) => byDeadline(left.item, right.item));
    for (let at = 0; at === 0 || at < found.length; at += ITEMS_OF_SNAPSHOT) {
      const part = found.slice(at, at + ITEMS_OF_SNAPSHOT);
      const items = part.map(([, { item }]) => worklistItem(item, this.#by.actor));
      const last = at + ITEMS_OF_SNAPSHOT >= found.length;
      yield { type: 'snapshot', items, first: at === 0, last, ...(last ? { id: this.#id() } : {}) };
    }
  }

  /** The difference between the call as it is and as the reader has it. */
  #change(ref: string): WorklistFrame | undefined {
    const entry = this.#hub.mirror.get(ref);
    const listed = this.#listed.get(ref);
    if (entry === undefined || !this.#matches(entry.item)) {
      if (listed === undefined) return undefined;
      this.#unlist(ref, listed);
      return { type: 'gone', ref, id: this.#id() };
    }
    if (listed?.version === entry.version) return undefined;
    if (listed !== undefined) this.#unlist(ref, listed);
    this.#list(ref, entry);
    return { type: 'item', item: worklistItem(entry.item, this.#by.actor), id: this.#id() };
  }

  #matches(item: WaitingItem): boolean {
    const { tool, agent, kind, risk, requester, mine, actor } = this.#by;
    return (
      (tool === undefined || item.tool === tool) &&
      (agent === undefined || item.agent === agent) &&
      (kind === undefined || item.kind === kind) &&
      (risk === undefined || item.risk === risk) &&
      (requester === undefined || item.requesters.includes(requester)) &&
      Date.parse(item.deadline) < this.#beforeMs &&
      (!mine || mayAnswer(item, actor).mayAnswer)
    );
  }

  #list(ref: string, { item, version }: Mirrored): void {
    const { tool, risk } = item;
    this.#listed.set(ref, { tool, version, ...(risk === undefined ? {} : { risk }) });
    this.#digest = joined(this.#digest, version);
    this.#count(item, 1);
  }

  #unlist(ref: string, listed: Listed): void {
    this.#listed.delete(ref);
    this.#digest = joined(this.#digest, listed.version);
    this.#count(listed, -1);
  }

  #count({ tool, risk }: Pick<WaitingItem, 'tool' | 'risk'>, by: 1 | -1): void {
    const name = `${risk ?? ''} ${tool}`;
    const of = risk === undefined ? { tool } : { tool, risk };
    const counted = this.#counted.get(name) ?? { ...of, calls: 0 };
    counted.calls += by;
    if (counted.calls === 0) this.#counted.delete(name);
    else this.#counted.set(name, counted);
  }

  #counts(): WorklistFrame {
    const counts = worklistCounts(this.#counted.values(), this.#hub.mirror.capped);
    return { type: 'counts', counts };
  }

  #id(): string {
    const [high, low] = this.#digest;
    return `w-${(high * LOW + low).toString(36)}`;
  }

  /** Until a change comes, or the signal aborts. */
  async #changed(signal: AbortSignal): Promise<void> {
    if (this.#dirty.size > 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

/** The two halves of a fingerprint, which has 53 bits. */
function partsOf(version: string): readonly [high: number, low: number] {
  const number = Number.parseInt(version, 36);
  return [Math.floor(number / LOW), number % LOW];
}

/** Adds an item to a digest, or removes it. */
function joined(
  [high, low]: readonly [number, number],
  version: string,
): readonly [number, number] {
  const [itemHigh, itemLow] = partsOf(version);
  return [high ^ itemHigh, (low ^ itemLow) >>> 0];
}

/** A function, because the compiler would treat a property that it saw once as constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
