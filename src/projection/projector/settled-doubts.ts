/**
 * Doubts that a catch-up has settled: whether the store has the events of a replayed run, or of one that refused an
 * input. The catch-up may itself cause a replay, which doubts again; if the store cannot get the events that it lacks,
 * that would repeat for ever.
 */

/** Runs that are dropped here are checked once more. */
const MAX_RUNS = 10_000;

export interface Doubt {
  readonly runId: string;
  /** The run is this far at least. */
  readonly seq: number;
}

export class SettledDoubts {
  /** Greatest settled seq by run, in the order of use. */
  readonly #seqs = new Map<string, number>();

  /** Notes that a catch-up has run, with any result. */
  settle({ runId, seq }: Doubt): void {
    const settled = Math.max(this.#seqs.get(runId) ?? 0, seq);
    this.#seqs.delete(runId);
    this.#seqs.set(runId, settled);
    if (this.#seqs.size <= MAX_RUNS) return;
    const [oldest] = this.#seqs.keys();
    if (oldest !== undefined) this.#seqs.delete(oldest);
  }

  has({ runId, seq }: Doubt): boolean {
    return (this.#seqs.get(runId) ?? 0) >= seq;
  }
}
