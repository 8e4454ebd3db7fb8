/** Instants as ISO 8601: from outside, and of clocks. Pure. */

/**
 * Matches only instants with an offset. `Date.parse` reads all others in the worker's time zone, and two workers must
 * agree.
 */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Milliseconds since the epoch, or NaN when the value is not an instant. */
export function instantMs(value: unknown): number {
  return typeof value === 'string' && INSTANT.test(value) ? Date.parse(value) : Number.NaN;
}

/** Time of receipt in milliseconds: the stamp of the input, but never later than the workflow's time. */
export function stampedMs(stamp: unknown, nowMs: number): number {
  const stamped = instantMs(stamp);
  return Number.isNaN(stamped) ? nowMs : Math.min(stamped, nowMs);
}

/** The text of a clock reading in milliseconds. */
export function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
