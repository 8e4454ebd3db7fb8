/** Urgency: how soon the log should have an event, for the readers that wait for it. */

import type { SuspensionKind } from '../calls/suspensions.js';
import type { CanonicalEvent, EventType } from './events.js';

/**
 * `now`: the end of a turn, and a wait for a machine. `soon`: a wait for a person: while other calls run it is only
 * displayed, and people do not notice a quarter of a second. `later`: all others.
 */
export type Urgency = 'now' | 'soon' | 'later';

const FOR_NOW: readonly EventType[] = [
  'turn_ended',
  'suspension_expiring',
  'extended',
  'conversation_closed',
];
const WAITS_FOR_PERSONS: readonly SuspensionKind[] = ['approval', 'elicitation', 'outcome'];

export function urgencyOf(event: CanonicalEvent): Urgency {
  if (event.type === 'suspension')
    return WAITS_FOR_PERSONS.includes(event.suspension.kind) ? 'soon' : 'now';
  return FOR_NOW.includes(event.type) ? 'now' : 'later';
}

const OPENS_OR_ENDS_CALLS: readonly EventType[] = [
  ...(['suspension', 'resolution', 'expired', 'lease_lost', 'conversation_closed'] as const),
];

/**
 * Whether the event opens or ends a wait from outside, or changes its holder: then it is for readers of worklists and of
 * offers, too, who follow no conversation. Not `turn_ended`: the end of each short turn would be fetched for them.
 */
export function changesWaitingCalls(event: CanonicalEvent): boolean {
  if (event.type === 'claimed') return event.renewal !== true;
  if (event.type === 'tool_result') return event.result.status === 'cancelled';
  return OPENS_OR_ENDS_CALLS.includes(event.type);
}

/** The urgency of several events together. */
export function mostUrgent(...of: readonly Urgency[]): Urgency {
  if (of.includes('now')) return 'now';
  return of.includes('soon') ? 'soon' : 'later';
}
