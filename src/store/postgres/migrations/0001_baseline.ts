/** Tables of the event log. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * Events and snapshots are text, not jsonb, so that they are returned exactly as the workflow emitted them, key order
 * and escapes included.
 */
const TABLES = `
  CREATE TABLE store (
    id TEXT NOT NULL,
    checked_at_ms BIGINT
  );
  INSERT INTO store (id) VALUES (left(replace(gen_random_uuid()::text, '-', ''), 12));

  CREATE TABLE conversations (
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    generation INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    history_length INTEGER NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    changed_at_ms BIGINT NOT NULL DEFAULT 0,
    closed_at_ms BIGINT,
    root TEXT,
    PRIMARY KEY (tenant, conversation_id)
  );
  CREATE UNIQUE INDEX conversations_by_position ON conversations (position);
  CREATE INDEX conversations_open ON conversations (tenant, conversation_id) WHERE status <> 'closed';
  CREATE INDEX conversations_of_tenant ON conversations (tenant, position);
  CREATE INDEX conversations_by_status ON conversations (tenant, status, position);
  CREATE INDEX conversations_by_agent ON conversations (tenant, agent, position);
  CREATE INDEX conversations_by_agent_and_status ON conversations (tenant, agent, status, position);
  CREATE INDEX conversations_by_root ON conversations (tenant, root, position) WHERE root IS NOT NULL;
  CREATE INDEX conversations_changed ON conversations (changed_at_ms, tenant, conversation_id) WHERE status <> 'closed';
  CREATE INDEX conversations_changed_of_tenant ON conversations (tenant, changed_at_ms, conversation_id);
  CREATE INDEX conversations_closed ON conversations (closed_at_ms) WHERE closed_at_ms IS NOT NULL;

  CREATE TABLE events (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT,
    run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    event TEXT NOT NULL,
    -- Of the origin of a fork.
    copied BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (tenant, conversation_id, generation, seq)
  );
  CREATE INDEX events_by_turn ON events (turn_id, generation, seq) WHERE turn_id IS NOT NULL;

  -- No audience: anybody may resolve the call. claimed_by is a JSON list, and item JSON, both as text: text can hold
  -- escapes that jsonb refuses.
  CREATE TABLE pending_calls (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    risk TEXT COLLATE "C",
    deadline_ms BIGINT NOT NULL,
    opened_at_ms BIGINT NOT NULL,
    audience JSONB,
    excludes_requester BOOLEAN NOT NULL,
    requesters JSONB NOT NULL,
    claimed_by TEXT COLLATE "C",
    item TEXT NOT NULL,
    warn_at_ms BIGINT,
    claims INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation_id, tool_call_id)
  );
  CREATE INDEX pending_calls_by_deadline ON pending_calls (tenant, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_tool ON pending_calls (tenant, tool, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_agent ON pending_calls (tenant, agent, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_kind ON pending_calls (tenant, kind, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_counted ON pending_calls (kind, opened_at_ms, deadline_ms);
  CREATE INDEX pending_calls_to_warn ON pending_calls (warn_at_ms) WHERE warn_at_ms IS NOT NULL;

  CREATE TABLE webhook_endpoints (
    id TEXT COLLATE "C" PRIMARY KEY,
    tenant TEXT COLLATE "C",
    status TEXT NOT NULL,
    definition TEXT NOT NULL,
    secrets TEXT NOT NULL
  );
  CREATE INDEX webhook_endpoints_of_tenant ON webhook_endpoints (tenant);

  -- since_ms: when the event happened, of a delivery that has ended when it ended.
  CREATE TABLE webhook_deliveries (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    event TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_at_ms BIGINT NOT NULL,
    claim TEXT,
    since_ms BIGINT NOT NULL,
    last_status INTEGER,
    last_error TEXT,
    UNIQUE (endpoint_id, event_id)
  );
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_at_ms, position) WHERE status = 'pending';
  CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (endpoint_id, tenant, conversation_id, position)
    WHERE status = 'pending';
  CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, status, position);
  CREATE INDEX webhook_deliveries_of_conversation ON webhook_deliveries (tenant, conversation_id);
  CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (status, since_ms);

  -- definition, detail and content are JSON.
  CREATE TABLE spaces (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL,
    space_id TEXT COLLATE "C" NOT NULL,
    definition TEXT NOT NULL,
    last_position BIGINT NOT NULL,
    last_change BIGINT NOT NULL,
    members_version BIGINT NOT NULL,
    UNIQUE (tenant, space_id)
  );
  CREATE INDEX spaces_of_tenant ON spaces (tenant, position);

  -- wake_at_ms: when an agent is to be woken for texts behind woken_position. joined orders the members of a space.
  -- read_position: up to there a person has read.
  CREATE TABLE space_members (
    tenant TEXT COLLATE "C" NOT NULL,
    space_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    member_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C",
    space_position BIGINT NOT NULL,
    joined BIGINT NOT NULL,
    detail TEXT NOT NULL,
    text_position BIGINT NOT NULL,
    woken_position BIGINT NOT NULL,
    read_position BIGINT NOT NULL,
    wake_at_ms BIGINT,
    wake_attempts INTEGER NOT NULL,
    wake_claim TEXT,
    PRIMARY KEY (tenant, space_id, kind, member_id)
  );
  CREATE INDEX space_members_spaces ON space_members (tenant, kind, member_id, space_position);
  CREATE INDEX space_members_of_conversation ON space_members (tenant, conversation_id) WHERE conversation_id IS NOT NULL;
  CREATE INDEX space_members_to_wake ON space_members (wake_at_ms) WHERE wake_at_ms IS NOT NULL;

  CREATE TABLE space_messages (
    tenant TEXT COLLATE "C" NOT NULL,
    space_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    change BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    author_kind TEXT COLLATE "C" NOT NULL,
    author_id TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C",
    content TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    changed_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, space_id, position),
    UNIQUE (tenant, space_id, message_id)
  );
  CREATE UNIQUE INDEX space_messages_by_change ON space_messages (tenant, space_id, change);
  CREATE INDEX space_messages_texts ON space_messages (tenant, space_id, position) WHERE kind = 'text';
  CREATE INDEX space_messages_of_call ON space_messages (tenant, call_id) WHERE call_id IS NOT NULL;

  -- document is JSON. An owner has its row from its first document on, so that no version comes twice.
  -- since_version is that of the first document of the name since there was none.
  CREATE TABLE document_owners (
    tenant TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    last_version BIGINT NOT NULL,
    PRIMARY KEY (tenant, kind, owner)
  );

  CREATE TABLE documents (
    tenant TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    since_version BIGINT NOT NULL,
    document TEXT NOT NULL,
    changed_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, kind, owner, name)
  );

  -- A mark holds while the log of its conversation ends at last_seq.
  CREATE TABLE troubles (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    last_seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    trouble TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation_id)
  );

  CREATE TABLE call_leases (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    claim_id TEXT NOT NULL,
    claim_seq INTEGER NOT NULL,
    holder TEXT NOT NULL,
    lease_ms BIGINT NOT NULL,
    lease_until_ms BIGINT NOT NULL,
    lapsed BOOLEAN NOT NULL,
    PRIMARY KEY (tenant, conversation_id, tool_call_id)
  );
  CREATE INDEX call_leases_by_end ON call_leases (lease_until_ms);

  CREATE TABLE blobs (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    type TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    stored_at TIMESTAMPTZ NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (tenant, conversation_id, id)
  );
  -- Not compressed by the server: then a part of one is read without the rest.
  ALTER TABLE blobs ALTER COLUMN content SET STORAGE EXTERNAL;

  CREATE TABLE deletions (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    run_ids TEXT NOT NULL,
    generation INTEGER NOT NULL,
    root TEXT COLLATE "C",
    requested_at_ms BIGINT NOT NULL,
    finished_at_ms BIGINT,
    PRIMARY KEY (tenant, conversation_id)
  );
  CREATE INDEX deletions_unfinished ON deletions (requested_at_ms) WHERE finished_at_ms IS NULL;
  CREATE INDEX deletions_of_tenant ON deletions (tenant, requested_at_ms, conversation_id);
  CREATE INDEX deletions_finished ON deletions (finished_at_ms) WHERE finished_at_ms IS NOT NULL;

  CREATE TABLE agents (
    name TEXT COLLATE "C" PRIMARY KEY,
    manifest TEXT NOT NULL,
    published_at TIMESTAMPTZ NOT NULL
  );

  CREATE TABLE workers (
    id TEXT COLLATE "C" PRIMARY KEY,
    agents TEXT NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL
  );

  CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    record TEXT NOT NULL
  );

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    note TEXT
  );
`;

export function up(pgm: MigrationBuilder): void {
  pgm.sql(TABLES);
}

/** There is no step back: stored data is kept. */
export const down = false;
