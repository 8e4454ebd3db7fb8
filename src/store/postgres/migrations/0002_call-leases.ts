/** Leases of claims. A step is never edited once released; the next one is a file of its own. */
import type { MigrationBuilder } from 'node-pg-migrate';

export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
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
  `);
}

/** There is no way back: what was stored is kept. */
export const down = false;
