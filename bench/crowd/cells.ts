/** The crowd of readers, the same at the engine and at the floor. */
import type { Spread } from '../shared/cells.js';

export const READERS = 500;
export const CONVERSATIONS = 100;
export const MESSAGES_PER_SECOND = 20;
/** The answer to each message. */
export const TOKENS = 20;
export const PACE_MS = 10;

/** The process of the readers counts these. */
export interface Seen {
  readonly frames: number;
  /** Events of the log, which have ids. */
  readonly events: number;
  /** Events that came twice, not in order, or after a gap. */
  readonly outOfOrder: number;
  readonly cuts: number;
  /** Milliseconds from the time of an event to its arrival. */
  readonly delay: Spread;
  /** The last id of each reader, in their order. */
  readonly lastIds: readonly string[];
}

/** A process that serves streams. */
export interface Serving {
  readonly rssBytes: { readonly first: number; readonly last: number; readonly most: number };
  /** The longest 99th percentile of ten seconds. */
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

export interface ReadersResult {
  readonly seconds: number;
  readonly messages: number;
  readonly refused: number;
  /** Events that readers have not got. */
  readonly lost: number;
  readonly seen: Seen;
  readonly api: Serving;
  readonly floor: Serving & { readonly frames: number };
}
