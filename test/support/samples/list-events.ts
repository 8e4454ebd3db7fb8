/** Events of pending calls, for tests of lists. */

import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import { suspends } from './log-events.js';

export function keyed(conversationId: string, tenant = 'default'): ConversationKey {
  return { tenant, conversationId };
}

export const minute = (minutes: number): string =>
  new Date(Date.parse('2030-01-02T00:00:00.000Z') + minutes * 60_000).toISOString();

export function waits(toolCallId: string, more: Partial<Suspension>): EventBody {
  const event = suspends('t', toolCallId);
  if (event.type !== 'suspension') throw new TypeError('no suspension');
  return { ...event, suspension: { ...event.suspension, ...more } };
}

export function result(toolCallId: string): EventBody {
  return {
    type: 'tool_result',
    turnId: 't',
    toolCallId,
    name: 'pay',
    result: { status: 'resolved', envelope: { ok: true, result: 1 }, provenance: 'trusted' },
  };
}
