/** Times in messages of Temporal's API, and ids of the events that have them. Pure. */
import type { Timestamp } from '@temporalio/common';

/** Milliseconds since 1970, rounded down; undefined for a message without the field. */
export function msOf(time: Timestamp | null | undefined): number | undefined {
  if (time == null) return undefined;
  return Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000);
}

/** ISO 8601. @throws {TypeError} that names the field, for a message without it */
export function isoOf(time: Timestamp | null | undefined, field: string): string {
  const ms = msOf(time);
  if (ms === undefined) throw new TypeError(`The server sent no ${field}`);
  return new Date(ms).toISOString();
}
