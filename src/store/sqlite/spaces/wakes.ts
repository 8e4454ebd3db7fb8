/** Agents that are due to be woken for texts of their spaces, in sqlite. */
import type { SpaceKey } from '../../../protocol/spaces/spaces.js';
import { messageOf, wakeOf } from '../../plans/space-rows.js';
import type { ClaimedWake, SpaceStore } from '../../ports/spaces/spaces.js';
import type { SqliteDatabase } from '../database/database.js';

/** Only reads while none is due. */
export async function claimWakes(
  database: SqliteDatabase,
  { limit, nowMs, leaseMs }: Parameters<SpaceStore['claimWakes']>[0],
): Promise<readonly ClaimedWake[]> {
  const due = await database.read(() =>
    database.get('SELECT 1 FROM space_members WHERE wake_at_ms <= ? LIMIT 1', nowMs),
  );
  if (due === undefined) return [];
  const rows = await database.write(() =>
    database.all(
      `UPDATE space_members SET wake_at_ms = ?, wake_attempts = wake_attempts + 1,
         wake_claim = lower(hex(randomblob(12)))
       WHERE rowid IN (SELECT rowid FROM space_members WHERE wake_at_ms <= ? ORDER BY wake_at_ms LIMIT ?)
       RETURNING *`,
      nowMs + leaseMs,
      nowMs,
      limit,
    ),
  );
  return rows.map(wakeOf);
}

export function textsFor(
  database: SqliteDatabase,
  { tenant, spaceId, memberId, afterPosition }: ClaimedWake,
  { limit }: Parameters<SpaceStore['textsFor']>[1],
) {
  return database
    .all(
      `SELECT * FROM space_messages WHERE tenant = ? AND space_id = ? AND position > ? AND kind = 'text'
         AND NOT (author_kind = 'agent' AND author_id = ?)
       ORDER BY position LIMIT ?`,
      ...[tenant, spaceId, afterPosition, memberId, limit],
    )
    .map(messageOf);
}

/** To be called inside a write transaction. */
export function settleWake(
  database: SqliteDatabase,
  { tenant, spaceId, memberId, claim, afterPosition }: ClaimedWake,
  { position, nowMs, retryAtMs }: Parameters<SpaceStore['settleWake']>[1],
): boolean {
  const row = database.get(
    `UPDATE space_members SET woken_position = max(woken_position, ?1), wake_claim = NULL,
       wake_at_ms = CASE WHEN text_position > ?1 THEN ?2 END,
       wake_attempts = CASE WHEN ?3 THEN 0 ELSE wake_attempts END
     WHERE tenant = ?4 AND space_id = ?5 AND kind = 'agent' AND member_id = ?6 AND wake_claim = ?7
     RETURNING 1`,
    ...[position, retryAtMs ?? nowMs],
    position > afterPosition ? 1 : 0,
    ...[tenant, spaceId, memberId, claim],
  );
  return row !== undefined;
}

/** Before messages are removed, so that no agent is woken for them. To be called inside a write transaction. */
export function forgetWakes(database: SqliteDatabase, { tenant, spaceId }: SpaceKey): void {
  database.run(
    'UPDATE space_members SET wake_at_ms = NULL, wake_claim = NULL WHERE tenant = ? AND space_id = ?',
    tenant,
    spaceId,
  );
}
