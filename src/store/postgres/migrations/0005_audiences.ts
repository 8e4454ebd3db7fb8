/** Lists by who may resolve what waits. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

/** Snapshots may hold escapes that no text of Postgres can; as what stands in for them they name nobody. */
const SNAPSHOT = String.raw`regexp_replace(snapshot, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'g')::jsonb`;

export function up(pgm: MigrationBuilder): void {
  // Absent: anybody may.
  pgm.sql(`
    ALTER TABLE pending_calls ADD COLUMN audience JSONB;
    UPDATE pending_calls SET audience = call -> 'audience'
      FROM conversations, jsonb_array_elements(${SNAPSHOT} -> 'pending') AS call
      WHERE conversations.tenant = pending_calls.tenant
        AND conversations.conversation_id = pending_calls.conversation_id
        AND call ->> 'toolCallId' = pending_calls.tool_call_id;
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
