/** Tables of the sqlite event log. A step is never edited once released; the next one is added below it. */

/** Step n brings a file from `user_version` n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE store (
    id TEXT NOT NULL,
    checked_at_ms INTEGER
  ) STRICT;
  INSERT INTO store (id) VALUES (lower(hex(randomblob(6))));

  CREATE TABLE conversations (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    history_length INTEGER NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL DEFAULT 0,
    closed_at_ms INTEGER,
    root TEXT,
    UNIQUE (tenant, conversation_id)
  ) STRICT;
  CREATE INDEX conversations_open ON conversations (tenant, conversation_id) WHERE status <> 'closed';
  CREATE INDEX conversations_by_position ON conversations (tenant, position);
  CREATE INDEX conversations_by_status ON conversations (tenant, status, position);
  CREATE INDEX conversations_by_agent ON conversations (tenant, agent, position);
  CREATE INDEX conversations_by_agent_and_status ON conversations (tenant, agent, status, position);
  CREATE INDEX conversations_by_root ON conversations (tenant, root, position) WHERE root IS NOT NULL;
  CREATE INDEX conversations_changed ON conversations (changed_at_ms, tenant, conversation_id) WHERE status <> 'closed';
  CREATE INDEX conversations_changed_of_tenant ON conversations (tenant, changed_at_ms, conversation_id);
  CREATE INDEX conversations_closed ON conversations (closed_at_ms) WHERE closed_at_ms IS NOT NULL;

  CREATE TABLE events (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT,
    run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    event TEXT NOT NULL,
    -- 1: of the origin of a fork.
    copied INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, conversation_id, generation, seq)
  ) STRICT;
  CREATE INDEX events_by_turn ON events (turn_id, generation, seq) WHERE turn_id IS NOT NULL;

  CREATE TABLE pending_calls (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    tool TEXT NOT NULL,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    risk TEXT,
    deadline_ms INTEGER NOT NULL,
    opened_at_ms INTEGER NOT NULL,
    audience TEXT,
    excludes_requester INTEGER NOT NULL,
    requesters TEXT NOT NULL,
    claimed_by TEXT,
    item TEXT NOT NULL,
    warn_at_ms INTEGER,
    claims INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation_id, tool_call_id)
  ) STRICT;
  CREATE INDEX pending_calls_by_deadline ON pending_calls (tenant, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_tool ON pending_calls (tenant, tool, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_agent ON pending_calls (tenant, agent, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_by_kind ON pending_calls (tenant, kind, deadline_ms, position, tool_call_id);
  CREATE INDEX pending_calls_counted ON pending_calls (kind, opened_at_ms, deadline_ms);
  CREATE INDEX pending_calls_to_warn ON pending_calls (warn_at_ms) WHERE warn_at_ms IS NOT NULL;

  CREATE TABLE webhook_endpoints (
    id TEXT PRIMARY KEY,
    tenant TEXT,
    status TEXT NOT NULL,
    definition TEXT NOT NULL,
    secrets TEXT NOT NULL
  ) STRICT;
  CREATE INDEX webhook_endpoints_of_tenant ON webhook_endpoints (tenant);

  -- since_ms: when the event happened or was sent again, of a delivery that has ended when it ended.
  CREATE TABLE webhook_deliveries (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    status TEXT NOT NULL,
    event TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_at_ms INTEGER NOT NULL,
    claim TEXT,
    since_ms INTEGER NOT NULL,
    last_status INTEGER,
    last_error TEXT,
    UNIQUE (endpoint_id, event_id)
  ) STRICT;
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_at_ms, position) WHERE status = 'pending';
  CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (endpoint_id, tenant, conversation_id, position)
    WHERE status = 'pending';
  CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, status, position);
  CREATE INDEX webhook_deliveries_of_conversation ON webhook_deliveries (tenant, conversation_id);
  CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (status, since_ms);

  -- definition, detail and content are JSON.
  CREATE TABLE spaces (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    space_id TEXT NOT NULL,
    definition TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    last_change INTEGER NOT NULL,
    members_version INTEGER NOT NULL,
    UNIQUE (tenant, space_id)
  ) STRICT;
  CREATE INDEX spaces_of_tenant ON spaces (tenant, position);

  -- wake_at_ms: when an agent is to be woken for texts behind woken_position. joined orders the members of a space.
  -- read_position: up to there a person has read.
  CREATE TABLE space_members (
    tenant TEXT NOT NULL,
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    member_id TEXT NOT NULL,
    conversation_id TEXT,
    space_position INTEGER NOT NULL,
    joined INTEGER NOT NULL,
    detail TEXT NOT NULL,
    text_position INTEGER NOT NULL,
    woken_position INTEGER NOT NULL,
    read_position INTEGER NOT NULL,
    wake_at_ms INTEGER,
    wake_attempts INTEGER NOT NULL,
    wake_claim TEXT,
    PRIMARY KEY (tenant, space_id, kind, member_id)
  ) STRICT;
  CREATE INDEX space_members_spaces ON space_members (tenant, kind, member_id, space_position);
  CREATE INDEX space_members_of_conversation ON space_members (tenant, conversation_id) WHERE conversation_id IS NOT NULL;
  CREATE INDEX space_members_to_wake ON space_members (wake_at_ms) WHERE wake_at_ms IS NOT NULL;

  CREATE TABLE space_messages (
    tenant TEXT NOT NULL,
    space_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    change INTEGER NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    author_id TEXT NOT NULL,
    call_id TEXT,
    content TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, space_id, position),
    UNIQUE (tenant, space_id, message_id)
  ) STRICT;
  CREATE UNIQUE INDEX space_messages_by_change ON space_messages (tenant, space_id, change);
  CREATE INDEX space_messages_texts ON space_messages (tenant, space_id, position) WHERE kind = 'text';
  CREATE INDEX space_messages_of_call ON space_messages (tenant, call_id) WHERE call_id IS NOT NULL;

  -- document is JSON. An owner has its row from its first document on, so that no version comes twice.
  -- since_version is that of the first document of the name since there was none.
  CREATE TABLE document_owners (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    last_version INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, owner)
  ) STRICT;

  CREATE TABLE documents (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    since_version INTEGER NOT NULL,
    document TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, owner, name)
  ) STRICT;

  CREATE TABLE troubles (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    trouble TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation_id)
  ) STRICT;

  CREATE TABLE call_leases (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    claim_id TEXT NOT NULL,
    claim_seq INTEGER NOT NULL,
    holder TEXT NOT NULL,
    lease_ms INTEGER NOT NULL,
    lease_until_ms INTEGER NOT NULL,
    lapsed INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation_id, tool_call_id)
  ) STRICT;
  CREATE INDEX call_leases_by_end ON call_leases (lease_until_ms);

  CREATE TABLE blobs (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    stored_at_ms INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (tenant, conversation_id, id)
  ) STRICT;

  CREATE TABLE deletions (
    tenant TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    run_ids TEXT NOT NULL,
    generation INTEGER NOT NULL,
    root TEXT,
    requested_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    PRIMARY KEY (tenant, conversation_id)
  ) STRICT;
  CREATE INDEX deletions_unfinished ON deletions (requested_at_ms) WHERE finished_at_ms IS NULL;
  CREATE INDEX deletions_of_tenant ON deletions (tenant, requested_at_ms, conversation_id);
  CREATE INDEX deletions_finished ON deletions (finished_at_ms) WHERE finished_at_ms IS NOT NULL;

  CREATE TABLE agents (
    name TEXT PRIMARY KEY,
    manifest TEXT NOT NULL,
    published_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    agents TEXT NOT NULL,
    seen_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    note TEXT
  ) STRICT;
  `,
];
