/**
 * The operations under way in a process, in memory that its other threads can read while the main thread is blocked.
 * The number of slots is fixed: an operation that finds none free runs nevertheless, and is not shown.
 */

const SLOTS = 64;
/** Bytes of the text of one slot, in UTF-8; longer ones are cut. */
const TEXT_BYTES = 240;
/**
 * Indices of the whole numbers before the slots: beats of the main thread, blocks and their milliseconds, and the
 * counter of entries.
 */
const BEATS = 0;
const BLOCKS = 1;
const BLOCKED_MS = 2;
const LONGEST_MS = 3;
const ENTRIES = 4;
const HEAD = 8;
/** Numbers of each slot: its entry (0: free), and the bytes of its text. */
const SLOT_NUMBERS = 2;

/** How often and how long the main thread was blocked since the process began. */
export interface BlockCounts {
  readonly blocks: number;
  readonly blockedMs: number;
  readonly longestMs: number;
}

export class Register {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;
  readonly #texts: Uint8Array;

  /** `memory` is the memory of another thread's register; a new one is allocated where it is absent. */
  constructor(memory?: SharedArrayBuffer) {
    const numbers = HEAD + SLOTS * SLOT_NUMBERS;
    this.memory = memory ?? new SharedArrayBuffer(numbers * 4 + SLOTS * TEXT_BYTES);
    this.#numbers = new Int32Array(this.memory, 0, numbers);
    this.#texts = new Uint8Array(this.memory, numbers * 4);
  }

  beat(): void {
    Atomics.add(this.#numbers, BEATS, 1);
  }

  get beats(): number {
    return Atomics.load(this.#numbers, BEATS);
  }

  count(blockedMs: number): void {
    Atomics.add(this.#numbers, BLOCKS, 1);
    Atomics.add(this.#numbers, BLOCKED_MS, blockedMs);
    if (blockedMs > Atomics.load(this.#numbers, LONGEST_MS))
      Atomics.store(this.#numbers, LONGEST_MS, blockedMs);
  }

  get counts(): BlockCounts {
    const [blocks = 0, blockedMs = 0, longestMs = 0] = [BLOCKS, BLOCKED_MS, LONGEST_MS].map((at) =>
      Atomics.load(this.#numbers, at),
    );
    return { blocks, blockedMs, longestMs };
  }

  /** Notes an operation that begins, and returns a function that notes its end. On the main thread only. */
  enter(text: string): () => void {
    const slot = this.#freeSlot();
    if (slot === undefined) return () => undefined;
    const bytes = Buffer.from(text).subarray(0, TEXT_BYTES);
    this.#texts.set(bytes, slot * TEXT_BYTES);
    const at = HEAD + slot * SLOT_NUMBERS;
    Atomics.store(this.#numbers, at + 1, bytes.length);
    const entry = Atomics.add(this.#numbers, ENTRIES, 1) + 1;
    Atomics.store(this.#numbers, at, entry);
    return () => {
      Atomics.compareExchange(this.#numbers, at, entry, 0);
    };
  }

  /** The operations under way, newest first. */
  underWay(): readonly string[] {
    const found: { readonly entry: number; readonly text: string }[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const at = HEAD + slot * SLOT_NUMBERS;
      const entry = Atomics.load(this.#numbers, at);
      if (entry === 0) continue;
      const size = Atomics.load(this.#numbers, at + 1);
      const begin = slot * TEXT_BYTES;
      const text = Buffer.from(this.#texts.slice(begin, begin + size)).toString();
      found.push({ entry, text });
    }
    return found.sort((one, other) => other.entry - one.entry).map(({ text }) => text);
  }

  #freeSlot(): number | undefined {
    for (let slot = 0; slot < SLOTS; slot += 1)
      if (Atomics.load(this.#numbers, HEAD + slot * SLOT_NUMBERS) === 0) return slot;
    return undefined;
  }
}
