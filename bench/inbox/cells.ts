/** The results of the inbox's measurements. */
import type { Spread } from '../shared/cells.js';

export const WAITING = 10_000;

export interface InboxResult {
  readonly waiting: number;
  /** Milliseconds from the navigation: to the first paint, and to the first row of the list. */
  readonly firstPaint: Spread;
  readonly firstRow: Spread;
  /** Milliseconds from the event of a new call to the frame that shows it. */
  readonly fresh: Spread;
  readonly cleared: {
    readonly calls: number;
    /** Seconds of the page and its keys; a person thinks for two more at each call. */
    readonly seconds: number;
    readonly withThought: number;
    /** Calls whose log has another decision than the script made. */
    readonly wrong: number;
  };
  readonly races: {
    readonly calls: number;
    /** Calls with one page that says that its answer counts, and one that says who was first. */
    readonly right: number;
    /** Calls with another number of decisions in their log than one. */
    readonly twice: number;
  };
}
