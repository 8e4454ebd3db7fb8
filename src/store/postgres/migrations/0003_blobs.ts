/** Values too large for events. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

export function up(pgm: MigrationBuilder): void {
  // Not compressed by the server: then a part of one is read without the rest.
  pgm.sql(`
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
    ALTER TABLE blobs ALTER COLUMN content SET STORAGE EXTERNAL;
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
