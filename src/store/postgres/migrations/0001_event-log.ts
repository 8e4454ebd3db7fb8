/** Tables of the event log. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

export function up(pgm: MigrationBuilder): void {
  // Events and snapshots are text, not jsonb: what a workflow said is given back as it was, key order, escapes and all.
  pgm.sql(`
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
      PRIMARY KEY (tenant, conversation_id)
    );
    CREATE UNIQUE INDEX conversations_by_position ON conversations (position);
    CREATE INDEX conversations_open ON conversations (tenant, conversation_id) WHERE status <> 'closed';
    CREATE INDEX conversations_by_status ON conversations (tenant, status, position);

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
      PRIMARY KEY (tenant, conversation_id, generation, seq)
    );
    CREATE INDEX events_by_turn ON events (turn_id, generation, seq) WHERE turn_id IS NOT NULL;

    CREATE TABLE agents (
      name TEXT COLLATE "C" PRIMARY KEY,
      manifest TEXT NOT NULL,
      published_at TIMESTAMPTZ NOT NULL
    );

    CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      expires_at TIMESTAMPTZ NOT NULL
    );
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
