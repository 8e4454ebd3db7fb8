/** Agents that are due to be woken for texts of their spaces, in Postgres. */
import type { SpaceKey, SpaceMessage } from '../../../protocol/spaces/spaces.js';
import { messageOf, wakeOf } from '../../plans/space-rows.js';
import type { ClaimedWake, SpaceStore } from '../../ports/spaces/spaces.js';
import type { PostgresDatabase, Queries } from '../database/database.js';

export class SpaceWakes {
  readonly #database: PostgresDatabase;
  readonly #members: string;
  readonly #messages: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#members = database.table('space_members');
    this.#messages = database.table('space_messages');
  }

  async claim({
    limit,
    nowMs,
    leaseMs,
  }: Parameters<SpaceStore['claimWakes']>[0]): Promise<readonly ClaimedWake[]> {
    const rows = await this.#database.all(
      `WITH due AS MATERIALIZED (
         SELECT tenant, space_id, kind, member_id FROM ${this.#members} WHERE wake_at_ms <= $2
         ORDER BY wake_at_ms LIMIT $3 FOR UPDATE SKIP LOCKED)
       UPDATE ${this.#members} AS claimed
       SET wake_at_ms = $1, wake_attempts = wake_attempts + 1, wake_claim = gen_random_uuid()::text
       FROM due WHERE claimed.tenant = due.tenant AND claimed.space_id = due.space_id
         AND claimed.kind = due.kind AND claimed.member_id = due.member_id
       RETURNING claimed.*`,
      nowMs + leaseMs,
      nowMs,
      limit,
    );
    return rows.map(wakeOf);
  }

  async texts(
    { tenant, spaceId, memberId, afterPosition }: ClaimedWake,
    { limit }: Parameters<SpaceStore['textsFor']>[1],
  ): Promise<readonly SpaceMessage[]> {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 AND position > $3 AND kind = 'text'
         AND NOT (author_kind = 'agent' AND author_id = $4)
       ORDER BY position LIMIT $5`,
      ...[tenant, spaceId, afterPosition, memberId, limit],
    );
    return rows.map(messageOf);
  }

  /** A text that is stored meanwhile changes the row: this statement waits for it, and sees its position. */
  async settle(
    { tenant, spaceId, memberId, claim, afterPosition }: ClaimedWake,
    { position, nowMs, retryAtMs }: Parameters<SpaceStore['settleWake']>[1],
  ): Promise<boolean> {
    const settled = await this.#database.run(
      `UPDATE ${this.#members} SET woken_position = greatest(woken_position, $1::bigint), wake_claim = NULL,
         wake_at_ms = CASE WHEN text_position > $1::bigint THEN $2::bigint END,
         wake_attempts = CASE WHEN $3::int > 0 THEN 0 ELSE wake_attempts END
       WHERE tenant = $4 AND space_id = $5 AND kind = 'agent' AND member_id = $6 AND wake_claim = $7`,
      ...[position, retryAtMs ?? nowMs],
      position > afterPosition ? 1 : 0,
      ...[tenant, spaceId, memberId, claim],
    );
    return settled > 0;
  }

  /** Before messages are removed, so that no agent is woken for them. */
  async forget(queries: Pick<Queries, 'run'>, { tenant, spaceId }: SpaceKey): Promise<void> {
    await queries.run(
      `UPDATE ${this.#members} SET wake_at_ms = NULL, wake_claim = NULL WHERE tenant = $1 AND space_id = $2`,
      tenant,
      spaceId,
    );
  }
}
