/** Lists by who may resolve what waits leave out whoever asked. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

/** Events and snapshots may hold escapes that no text of Postgres can; as what stands in for them they name nobody. */
const json = (text: string): string =>
  String.raw`regexp_replace(${text}, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'g')::jsonb`;

export function up(pgm: MigrationBuilder): void {
  // Each statement by itself: rows are filled in while others read and write. What is done of it when it fails may be done again.
  pgm.noTransaction();
  // Absent: the audience excludes no requester.
  pgm.sql('ALTER TABLE pending_calls ADD COLUMN IF NOT EXISTS requesters JSONB');
  pgm.sql(`
    WITH asked AS (
      SELECT tenant, conversation_id, generation, tool_call_id, call ->> 'turnId' AS turn_id
      FROM pending_calls JOIN conversations USING (tenant, conversation_id),
        jsonb_array_elements(${json('snapshot')} -> 'pending') AS call
      WHERE jsonb_path_exists(audience, 'strict $.**.exclude[*] ? (@ == "requester")', silent => true) AND call ->> 'toolCallId' = tool_call_id
    ), askers AS (
      SELECT tenant, conversation_id, tool_call_id, ${json('event')} -> 'actor' ->> 'id' AS id
      FROM asked JOIN events USING (tenant, conversation_id, generation, turn_id)
      WHERE type = 'user_message'
      UNION
      SELECT tenant, conversation_id, tool_call_id,
        coalesce(${json('input.event')} -> 'requester' ->> 'id', ${json('input.event')} -> 'actor' ->> 'id')
      FROM asked JOIN events AS begun USING (tenant, conversation_id, generation, turn_id)
        JOIN events AS input USING (tenant, conversation_id, generation)
      WHERE begun.type = 'turn_started' AND input.type = 'inbox_event' AND input.seq < begun.seq
        AND ${json('input.event')} ->> 'eventId' = ${json('begun.event')} -> 'inbox' ->> 0
    )
    UPDATE pending_calls SET requesters = known.ids
      FROM (SELECT tenant, conversation_id, tool_call_id, jsonb_agg(id) AS ids FROM askers GROUP BY 1, 2, 3) AS known
      WHERE known.tenant = pending_calls.tenant AND known.conversation_id = pending_calls.conversation_id
        AND known.tool_call_id = pending_calls.tool_call_id;
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
