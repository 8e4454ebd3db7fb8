/** The spaces of the measurement, and what its processes report. */
import type { Spread } from '../shared/cells.js';

export const SPACES = 1_000;
/** Each space has nine people, and a tenth member that is a person or an agent. */
export const MEMBERS = 10;
export const MESSAGES_PER_SECOND = 20;
export const TEXT = 'Order 42 was never delivered. Would you look into it, please?';

/** The messages that the readers of all spaces have got. */
export interface Read {
  /** Messages of spaces. */
  readonly messages: number;
  /** Messages that came twice, or not in the order of their space. */
  readonly outOfOrder: number;
  readonly cuts: number;
  /** Milliseconds from the time at which a message was sent to its arrival. */
  readonly delay: Spread;
}

export interface SpacesRun {
  readonly messages: number;
  readonly refused: number;
  /** Messages that were accepted and that the reader of their space has not got. */
  readonly lost: number;
  readonly read: Read;
  /** Milliseconds from a request to its answer. */
  readonly answered: Spread;
  /** Texts that the agents of the spaces got in their inbox; where they have agents. */
  readonly woken?: {
    readonly expected: number;
    readonly texts: number;
    /** Texts that an agent got more than once. */
    readonly repeated: number;
    /** Milliseconds from the time of a text to the one at which the inbox has it. */
    readonly delay: Spread;
  };
}

export interface SpacesResult {
  readonly seconds: number;
  readonly spaces: number;
  readonly people: SpacesRun;
  readonly agents: SpacesRun;
  /** A process that commits each message to sqlite and writes it to the one reader of its space. */
  readonly floor: SpacesRun;
}
