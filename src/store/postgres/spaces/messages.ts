/** Messages of spaces in Postgres, inside a transaction or outside of one. */
import type { MemberRef, SpaceKey, SpaceMessage } from '../../../protocol/spaces/spaces.js';
import { listLimit } from '../../plans/paging.js';
import { numberIn, type Row } from '../../plans/rows.js';
import {
  contentOf,
  filterOf,
  judgePut,
  markOf,
  memberOf,
  messageOf,
  spaceOf,
} from '../../plans/space-rows.js';
import type { MarkResult, PutMessage, PutResult, SpaceStore } from '../../ports/spaces/spaces.js';
import type { PostgresDatabase, Queries } from '../database/database.js';

export class SpaceRows {
  readonly #queries: Queries;
  readonly #spaces: string;
  readonly #members: string;
  readonly #messages: string;

  constructor(database: Pick<PostgresDatabase, 'table'>, queries: Queries) {
    this.#queries = queries;
    this.#spaces = database.table('spaces');
    this.#members = database.table('space_members');
    this.#messages = database.table('space_messages');
  }

  async space({ tenant, spaceId }: SpaceKey): Promise<Row | undefined> {
    const sql = `SELECT * FROM ${this.#spaces} WHERE tenant = $1 AND space_id = $2`;
    return await this.#queries.get(sql, tenant, spaceId);
  }

  /** The same, and other writers of the space wait until this transaction has ended. */
  async lockedSpace({ tenant, spaceId }: SpaceKey): Promise<Row | undefined> {
    const sql = `SELECT * FROM ${this.#spaces} WHERE tenant = $1 AND space_id = $2 FOR UPDATE`;
    return await this.#queries.get(sql, tenant, spaceId);
  }

  async member({ tenant, spaceId }: SpaceKey, { kind, id }: MemberRef): Promise<Row | undefined> {
    return await this.#queries.get(
      `SELECT * FROM ${this.#members} WHERE tenant = $1 AND space_id = $2 AND kind = $3 AND member_id = $4`,
      ...[tenant, spaceId, kind, id],
    );
  }

  async message({ tenant, spaceId }: SpaceKey, id: string): Promise<Row | undefined> {
    return await this.#queries.get(
      `SELECT * FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 AND message_id = $3`,
      ...[tenant, spaceId, id],
    );
  }

  /** To be called inside a transaction. */
  async put(given: PutMessage): Promise<PutResult> {
    if ((await this.lockedSpace(given)) === undefined) return { outcome: 'unknown_space' };
    const stored = await this.message(given, given.id);
    if (stored !== undefined) return await this.#changeStored(messageOf(stored), given);
    const author = await this.member(given, given.author);
    if (author === undefined) return { outcome: 'not_a_member' };
    if (given.replyTo !== undefined) {
      const answered = await this.message(given, given.replyTo);
      if (answered?.['kind'] !== 'text') return { outcome: 'unknown_reply' };
    }
    const message = await this.#insert(given, memberOf(author).name);
    if (given.kind === 'text') {
      await this.#wakeOthers(given, message.position);
      await this.#moveMark({ ...given, member: given.author }, message.position);
    }
    return { outcome: 'stored', message };
  }

  /** To be called inside a transaction. Takes no lock of the space: readers do not wait for its writers. */
  async markRead(given: Parameters<SpaceStore['markRead']>[0]): Promise<MarkResult> {
    const read = await this.message(given, given.messageId);
    const moved =
      read === undefined ? undefined : await this.#moveMark(given, numberIn(read, 'position'));
    const own = moved ?? (await this.member(given, given.member));
    if (own === undefined) return { outcome: 'not_a_member' };
    if (read === undefined) return { outcome: 'unknown_message' };
    const space = await this.space(given);
    // Removed meanwhile.
    if (space === undefined) return { outcome: 'not_a_member' };
    const { lastPosition } = spaceOf(space);
    return {
      outcome: moved === undefined ? 'kept' : 'moved',
      mark: markOf(numberIn(own, 'read_position'), lastPosition),
    };
  }

  /** The row of the member. Undefined where none is changed: the further one of two marks at once stays. */
  async #moveMark(
    { tenant, spaceId, member }: SpaceKey & { readonly member: MemberRef },
    position: number,
  ): Promise<Row | undefined> {
    return await this.#queries.get(
      `UPDATE ${this.#members} AS own SET read_position = $1
       WHERE own.tenant = $2 AND own.space_id = $3 AND own.kind = $4 AND own.member_id = $5
         AND own.read_position < $1
       RETURNING own.read_position`,
      ...[position, tenant, spaceId, member.kind, member.id],
    );
  }

  async #changeStored(stored: SpaceMessage, given: PutMessage): Promise<PutResult> {
    const judged = judgePut(stored, given);
    if (judged === 'reused') return { outcome: 'reused' };
    if (judged === 'repeat') return { outcome: 'repeated', message: stored };
    const { tenant, spaceId, id, status, nowMs } = given;
    const space = await this.#queries.get(
      `UPDATE ${this.#spaces} SET last_change = last_change + 1 WHERE tenant = $1 AND space_id = $2
       RETURNING last_change`,
      tenant,
      spaceId,
    );
    const changed = await this.#queries.get(
      `UPDATE ${this.#messages} SET change = $1, status = $2, content = $3, changed_at_ms = $4
       WHERE tenant = $5 AND space_id = $6 AND message_id = $7 RETURNING *`,
      numberIn(space ?? {}, 'last_change'),
      status,
      contentOf(given, stored.author.name),
      ...[nowMs, tenant, spaceId, id],
    );
    return { outcome: 'changed', message: messageOf(changed ?? {}) };
  }

  async #insert(given: PutMessage, name: string | undefined): Promise<SpaceMessage> {
    const { tenant, spaceId, id, author, kind, status, callId = null, nowMs } = given;
    const space = await this.#queries.get(
      `UPDATE ${this.#spaces} SET last_position = last_position + 1, last_change = last_change + 1
       WHERE tenant = $1 AND space_id = $2 RETURNING last_position, last_change`,
      tenant,
      spaceId,
    );
    const row = await this.#queries.get(
      `INSERT INTO ${this.#messages} (tenant, space_id, position, message_id, change, kind, status, author_kind,
         author_id, call_id, content, created_at_ms, changed_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) RETURNING *`,
      ...[tenant, spaceId],
      numberIn(space ?? {}, 'last_position'),
      id,
      numberIn(space ?? {}, 'last_change'),
      ...[kind, status, author.kind, author.id, callId],
      contentOf(given, name),
      nowMs,
    );
    return messageOf(row ?? {});
  }

  /** An agent that is due already, or claimed, stays so; its row is changed, so that the wake is settled with this position. */
  async #wakeOthers(
    { tenant, spaceId, author, nowMs }: PutMessage,
    position: number,
  ): Promise<void> {
    await this.#queries.run(
      `UPDATE ${this.#members} SET text_position = $1, wake_at_ms = coalesce(wake_at_ms, $2)
       WHERE tenant = $3 AND space_id = $4 AND kind = 'agent' AND NOT (kind = $5 AND member_id = $6)`,
      ...[position, nowMs, tenant, spaceId, author.kind, author.id],
    );
  }

  async page(
    { tenant, spaceId }: SpaceKey,
    options: Parameters<SpaceStore['messages']>[1],
  ): Promise<readonly SpaceMessage[]> {
    const { after, before } = options;
    const limit = listLimit(options);
    if (after !== undefined) {
      const rows = await this.#queries.all(
        `SELECT * FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 AND position > $3 ${filterOf(options)}
         ORDER BY position LIMIT $4`,
        ...[tenant, spaceId, after, limit],
      );
      return rows.map(messageOf);
    }
    const rows = await this.#queries.all(
      `SELECT * FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2
         AND (position < $3 OR $3::bigint IS NULL) ${filterOf(options)} ORDER BY position DESC LIMIT $4`,
      ...[tenant, spaceId, before ?? null, limit],
    );
    return rows.map(messageOf).toReversed();
  }
}
