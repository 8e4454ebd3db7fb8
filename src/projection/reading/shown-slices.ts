/**
 * Messages of transcripts that replayed runs gave to this worker, each until a model call needs them. Their readers
 * compare them with a hash, so that a slice of a task that was never committed does no harm.
 */
import { LRUCache } from 'lru-cache';
import type { TranscriptQuery, TranscriptSlice } from '../../protocol/workflow/transcript-delta.js';

/** A slice has 1 MiB at most (`MAX_TRANSCRIPT_PAGE_BYTES`). The oldest ones go: their runs are queried. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface RunOfSlices {
  readonly workflowId: string;
  readonly runId: string;
}

export class ShownSlices {
  readonly #slices = new LRUCache<string, TranscriptSlice>({
    maxSize: MAX_BYTES,
    sizeCalculation: (slice) => JSON.stringify(slice).length,
  });

  show(run: RunOfSlices, slices: readonly TranscriptSlice[]): void {
    for (const slice of slices) this.#slices.set(nameOf(run, slice), slice);
  }

  /** Each slice once, and no message more than asked for; undefined when the run gave none for that place. */
  take(run: RunOfSlices, query: TranscriptQuery): TranscriptSlice | undefined {
    const name = nameOf(run, query);
    const slice = this.#slices.get(name);
    this.#slices.delete(name);
    return slice && { ...slice, messages: slice.messages.slice(0, query.to - query.from) };
  }
}

function nameOf({ workflowId, runId }: RunOfSlices, at: { epoch: number; from: number }): string {
  return `${workflowId} ${runId} ${at.epoch} ${at.from}`;
}
