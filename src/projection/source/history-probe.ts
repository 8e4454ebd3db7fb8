/** Reads the ends of histories, and logs when reads fail, with the reason, and when they work again. */
import type { Client } from '@temporalio/client';
import { type HistoryEvent, historyTail, type Run } from './history-tail.js';
import { Outages, type ProjectionLogger, SILENT } from './outages.js';

/** gRPC status: the server has no such run (any more), which is an answer. */
const NOT_FOUND = 5;
/** gRPC status: an old server, or the time-skipping test server; but also a proxy that is just being replaced. */
const UNIMPLEMENTED = 12;
/** After this many in a row, and never another answer, the server counts as one without the call. */
const UNKNOWN_FROM = 3;
/** Milliseconds after which one read is tried nevertheless. */
const UNKNOWN_FOR_MS = 60_000;

/** One per worker: its findings about the server hold for all its callers. */
export class HistoryProbe {
  readonly #client: Client;
  readonly #outages: Outages;
  #hasAnswered = false;
  #unknown = 0;
  #unknownAt = 0;

  constructor(client: Client, logger: ProjectionLogger = SILENT) {
    this.#client = client;
    this.#outages = new Outages(logger);
  }

  /** True while the server counts as one without the call, so that a read would return nothing. */
  get isUseless(): boolean {
    return this.#unknown >= UNKNOWN_FROM && Date.now() - this.#unknownAt < UNKNOWN_FOR_MS;
  }

  /**
   * Events, newest first, first the newest few and then more. @throws errors of the server, or a time-out after a
   * second
   */
  async *tail(run: Run): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
    try {
      for await (const events of historyTail(this.#client, run)) {
        this.#answered();
        yield events;
      }
    } catch (error) {
      this.#failed(error, run);
      throw error;
    }
  }

  #answered(): void {
    this.#hasAnswered = true;
    this.#unknown = 0;
    this.#outages.succeeded();
  }

  #failed(error: unknown, { workflowId }: Run): void {
    const code = codeOf(error);
    if (code === NOT_FOUND) this.#answered();
    else if (code === UNIMPLEMENTED && !this.#hasAnswered) {
      this.#unknown += 1;
      this.#unknownAt = Date.now();
      if (this.#unknown >= UNKNOWN_FROM) this.#outages.failed(error, workflowId, 'unknown_call');
    } else {
      this.#unknown = 0;
      this.#outages.failed(error, workflowId, 'history');
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
