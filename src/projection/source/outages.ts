/** Logs a lasting failure once when it begins and once when it ends, instead of at every try. */
import { StoreUnavailable } from '../../store/ports/log.js';

/** The log of the projection; the shape of Temporal's own logger. */
export interface ProjectionLogger {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

export const SILENT: ProjectionLogger = { info: () => undefined, warn: () => undefined };

/** Milliseconds. An outage that ends and begins again within this time is not logged again. */
const QUIET_MS = 30_000;

type Side =
  | 'store'
  | 'spaces'
  | 'space_agents'
  | 'waiting_calls'
  | 'workflow'
  | 'history'
  | 'unknown_call';

const BEGUN: Readonly<Record<Side, string>> = {
  store: 'The event log cannot be written; conversations go on, readers see an older state',
  waiting_calls:
    'Waiting calls and conversations cannot be read from the event log; readers of worklists, offers and lists keep what they have',
  space_agents: 'An agent cannot be woken for a text of its space; it is tried again later',
  spaces: 'Spaces cannot be read from the event log; their streams go on where they are, later',
  workflow: 'A conversation workflow does not answer the events query; it is asked again',
  history:
    'The ends of histories cannot be read on the server; until they can, queries of conversations are refused, and events are read by query',
  unknown_call:
    'The server does not know GetWorkflowExecutionHistoryReverse; queries of conversations are answered unchecked (decision 19)',
};
const ENDED: Readonly<Record<Side, string>> = {
  store: 'The event log can be written again',
  waiting_calls: 'Waiting calls and conversations can be read from the event log again',
  space_agents: 'Agents are woken for texts of their spaces again',
  spaces: 'Spaces can be read from the event log again',
  workflow: 'Conversation workflows answer the events query again',
  history: 'The ends of histories can be read again',
  unknown_call:
    'The server knows GetWorkflowExecutionHistoryReverse after all; queries are checked',
};

export class Outages {
  readonly #logger: ProjectionLogger;
  readonly #begun = new Set<Side>();
  readonly #saidAt = new Map<Side, number>();

  constructor(logger: ProjectionLogger) {
    this.#logger = logger;
  }

  failed(
    error: unknown,
    conversation: string | undefined,
    side: Side = error instanceof StoreUnavailable ? 'store' : 'workflow',
  ): void {
    const now = Date.now();
    const isNews = !this.#begun.has(side) && now - (this.#saidAt.get(side) ?? 0) > QUIET_MS;
    if (!isNews) return;
    this.#begun.add(side);
    this.#saidAt.set(side, now);
    this.#logger.warn(BEGUN[side], {
      reason: reasonOf(error),
      ...(conversation === undefined ? {} : { conversation }),
    });
  }

  /** Ends every outage: a projection or a read of a history succeeded, so all sides of it work. */
  succeeded(): void {
    for (const side of this.#begun) this.#logger.info(ENDED[side]);
    this.#begun.clear();
  }
}

/** Includes the cause, because Temporal's own message says only that a query failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
