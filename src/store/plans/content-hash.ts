/** Hashes that decide whether two stored events are the same event. */
import { createHash } from 'node:crypto';

import type { CanonicalEvent } from '../../protocol/log/events.js';
import { canonicalJson } from '../../protocol/values/json.js';

/**
 * SHA-256 (hex) of the canonical JSON without the event's time: equal for equal events in any order of fields. The time
 * is left out because it may differ between two replays of one run: the SDK joins tasks that issued no commands with
 * the task of an update, and a refused update leaves no trace. The time that was stored first stays.
 */
export function contentHash(event: CanonicalEvent): string {
  const { at: _at, ...content } = event;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/**
 * The same hash with the time: equal only if nothing at all has changed, which `contentHash` of one event cannot prove.
 */
export function exactHash(event: CanonicalEvent): string {
  return createHash('sha256').update(canonicalJson(event)).digest('hex');
}
