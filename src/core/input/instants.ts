/** Instants that come from outside, as ISO 8601. Pure. */
import { isRecord } from '../../protocol/values/json.js';
import { plainInput } from './plain-input.js';

/**
 * Instants with their offset only. `Date.parse` reads everything else by the time zone of the worker, and two workers must
 * judge alike.
 */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** When the input was received, in milliseconds: as stamped, but never in the future of the workflow. */
export function receivedAtMs(received: unknown, nowMs: number): number {
  const input = plainInput(received);
  return stampedMs(isRecord(input) ? input['receivedAt'] : undefined, nowMs);
}

/** Milliseconds since the epoch, or NaN when the value is no instant. */
export function instantMs(value: unknown): number {
  return typeof value === 'string' && INSTANT.test(value) ? Date.parse(value) : Number.NaN;
}

export function stampedMs(stamp: unknown, nowMs: number): number {
  const stamped = instantMs(stamp);
  return Number.isNaN(stamped) ? nowMs : Math.min(stamped, nowMs);
}
