/** Lists by what waits, deletion, and what the sweep looks at. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

/** Snapshots may hold escapes that no text of Postgres can; nothing that is looked for here does. */
const SNAPSHOT = String.raw`regexp_replace(snapshot, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\u003f', 'g')::json`;

export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
    ALTER TABLE conversations ADD COLUMN changed_at_ms BIGINT NOT NULL DEFAULT 0, ADD COLUMN closed_at_ms BIGINT;
    UPDATE conversations
      SET changed_at_ms = (extract(epoch FROM (${SNAPSHOT} ->> 'updatedAt')::timestamptz) * 1000)::bigint;
    UPDATE conversations SET closed_at_ms = changed_at_ms WHERE status = 'closed';
    CREATE INDEX conversations_of_tenant ON conversations (tenant, position);
    CREATE INDEX conversations_by_agent ON conversations (tenant, agent, position);
    CREATE INDEX conversations_by_agent_and_status ON conversations (tenant, agent, status, position);
    CREATE INDEX conversations_changed ON conversations (changed_at_ms, tenant, conversation_id) WHERE status <> 'closed';
    CREATE INDEX conversations_closed ON conversations (closed_at_ms) WHERE closed_at_ms IS NOT NULL;

    CREATE TABLE pending_calls (
      tenant TEXT COLLATE "C" NOT NULL,
      conversation_id TEXT COLLATE "C" NOT NULL,
      tool_call_id TEXT COLLATE "C" NOT NULL,
      position BIGINT NOT NULL,
      tool TEXT COLLATE "C" NOT NULL,
      kind TEXT COLLATE "C" NOT NULL,
      deadline_ms BIGINT NOT NULL,
      PRIMARY KEY (tenant, conversation_id, tool_call_id)
    );
    INSERT INTO pending_calls
      SELECT tenant, conversation_id, call ->> 'toolCallId', position, call ->> 'name', call ->> 'kind',
        (extract(epoch FROM (call ->> 'deadline')::timestamptz) * 1000)::bigint
      FROM conversations, json_array_elements(${SNAPSHOT} -> 'pending') AS call;
    CREATE INDEX pending_calls_by_deadline ON pending_calls (tenant, deadline_ms, position);
    CREATE INDEX pending_calls_by_tool ON pending_calls (tenant, tool, deadline_ms, position);
    CREATE INDEX pending_calls_by_kind ON pending_calls (tenant, kind, deadline_ms, position);

    CREATE TABLE deletions (
      tenant TEXT COLLATE "C" NOT NULL,
      conversation_id TEXT COLLATE "C" NOT NULL,
      run_ids TEXT NOT NULL,
      requested_at_ms BIGINT NOT NULL,
      finished_at_ms BIGINT,
      PRIMARY KEY (tenant, conversation_id)
    );
    CREATE INDEX deletions_unfinished ON deletions (requested_at_ms) WHERE finished_at_ms IS NULL;
    CREATE INDEX deletions_finished ON deletions (finished_at_ms) WHERE finished_at_ms IS NOT NULL;
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
