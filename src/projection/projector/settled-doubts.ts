/**
 * Doubts that were looked into: whether the store has what a replayed run, or one that refused an input, has. A look may itself be
 * answered by a replay, which doubts again; where the store cannot get what it lacks, that would go on for ever.
 */

/** Runs that are forgotten here are looked at once more. */
const MAX_RUNS = 10_000;

export interface Doubt {
  readonly runId: string;
  /** The run is this far at least. */
  readonly seq: number;
}

export class SettledDoubts {
  /** Greatest settled seq by run, in the order of use. */
  readonly #seqs = new Map<string, number>();

  /** Says that a look went through, whatever it found. */
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
