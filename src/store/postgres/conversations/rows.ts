/** Rows of the Postgres event log as heads, snapshots and events. */
import type { ConversationSnapshot } from '../../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type { ConversationKey } from '../../../protocol/values/ids.js';
import type { LogHead } from '../../ports/log-head.js';
import { numberIn, type Row, textIn } from '../database/database.js';

export function headOf(row: Row): LogHead {
  return {
    tenant: textIn(row, 'tenant'),
    conversationId: textIn(row, 'conversation_id'),
    generation: numberIn(row, 'generation'),
    lastSeq: numberIn(row, 'last_seq'),
    runId: textIn(row, 'run_id'),
    historyLength: numberIn(row, 'history_length'),
    snapshot: snapshotOf(row),
  };
}

export function snapshotOf(row: Row): ConversationSnapshot {
  return JSON.parse(textIn(row, 'snapshot')) as ConversationSnapshot;
}

export function eventOf(row: Row): CanonicalEvent {
  return JSON.parse(textIn(row, 'event')) as CanonicalEvent;
}

export function keyOf(row: Row): ConversationKey {
  return { tenant: textIn(row, 'tenant'), conversationId: textIn(row, 'conversation_id') };
}
