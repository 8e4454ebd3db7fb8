/**
 * Reads the outcome of an input that was left as a signal, which has no reply. Reads first the log, then the workflow's
 * events beyond it, because an update with the same input would be a new try if the first was taken back.
 */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { ConversationReader, LogCursor } from '../ports/reader.js';
import { isUnanswered } from '../temporal/errors.js';
import { isOpenRun } from '../temporal/executions.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';

/** Folds the events that concern the input: the outcome found so far, after one more event. */
export type Trace<Found> = (found: Found | undefined, event: CanonicalEvent) => Found | undefined;

interface SignalOutcome<Found> {
  /** Undefined where no event that was read concerns the input. */
  readonly found: Found | undefined;
  /** No worker answers, so the input may not be judged yet, or its outcome cannot be read. */
  readonly away: boolean;
}

interface TraceParts {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
}

interface Traced<Found> {
  readonly trace: Trace<Found>;
  readonly after?: LogCursor | undefined;
}

export class SignalTrace<Found> {
  readonly #parts: TraceParts;
  readonly #key: ConversationKey;
  readonly #trace: Trace<Found>;
  #after: LogCursor | undefined;
  #found: Found | undefined;

  /**
   * `after`: the end of the log before the signal was left, since events up to it concern earlier inputs of the same id.
   * Absent: the log is read from its beginning.
   */
  constructor(parts: TraceParts, key: ConversationKey, traced: Traced<Found>) {
    this.#parts = parts;
    this.#key = key;
    this.#trace = traced.trace;
    this.#after = traced.after;
  }

  /** Each call continues where the last one ended. @throws {ConversationError} errors of the server */
  async find(): Promise<SignalOutcome<Found>> {
    // A log that cannot be read hides no event of the present run: the workflow has those, too.
    await this.#readLog().catch(() => undefined);
    return await this.#readTail();
  }

  async #readLog(): Promise<void> {
    const { reader } = this.#parts;
    for (let more = true; more; ) {
      const page = await reader.events(
        this.#key,
        this.#after === undefined ? {} : { after: this.#after },
      );
      if (page === undefined) return;
      for (const event of page.events) this.#found = this.#trace(this.#found, event);
      this.#after = page.cursor;
      more = page.more;
    }
  }

  async #readTail(): Promise<SignalOutcome<Found>> {
    let found = this.#found;
    let after = this.#after?.seq ?? 0;
    try {
      for (let more = true; more; ) {
        const page = await this.#parts.gateway.query(this.#key, 'events', { after });
        if (page === undefined) return { found, away: false };
        for (const event of page.events) found = this.#trace(found, event);
        after = page.events.at(-1)?.seq ?? after;
        more = page.more && page.events.length > 0;
      }
      return { found, away: false };
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      // A run that is over judges nothing any more: an outcome that is not recorded by now never will be.
      const run = await this.#parts.gateway.describe(this.#key);
      return { found, away: isOpenRun(run) };
    }
  }
}
