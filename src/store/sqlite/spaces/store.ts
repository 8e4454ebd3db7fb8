/** Spaces, members and messages in the sqlite file of the event log. */
import { MAX_SPACE_MEMBERS } from '../../../protocol/limits/service-limits.js';
import type { MemberRef, SpaceKey } from '../../../protocol/spaces/spaces.js';
import { listLimit, positionOf } from '../../plans/paging.js';
import { numberIn, type Row } from '../../plans/rows.js';
import {
  conversationOf,
  definitionOf,
  detailOf,
  headOf,
  isSameSpace,
  memberOf,
  messageOf,
  spaceKeyOf,
  spaceOf,
  spacePage,
} from '../../plans/space-rows.js';
import type { NewMember, NewSpace, PutMessage, SpaceStore } from '../../ports/spaces/spaces.js';
import type { SqliteDatabase } from '../database/database.js';
import {
  findMember,
  findMessage,
  findSpace,
  markRead,
  putMessage,
  readMessages,
} from './messages.js';
import { claimWakes, forgetWakes, settleWake, textsFor } from './wakes.js';

/** Messages that one transaction of a removal deletes: it blocks the process meanwhile. */
const REMOVED_AT_ONCE = 2_000;

export class SqliteSpaceStore implements SpaceStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async create(given: NewSpace) {
    return await this.#database.write(() => {
      const { tenant, spaceId, creator, nowMs } = given;
      const stored = findSpace(this.#database, given);
      if (stored !== undefined) {
        const space = spaceOf(stored);
        return isSameSpace(space, given)
          ? ({ outcome: 'repeated', space } as const)
          : ({ outcome: 'reused' } as const);
      }
      this.#database.run(
        `INSERT INTO spaces (tenant, space_id, definition, last_position, last_change, members_version)
         VALUES (?, ?, ?, 0, 0, 0)`,
        tenant,
        spaceId,
        definitionOf(given),
      );
      this.#insertMember(given, creator, nowMs);
      const space = spaceOf(findSpace(this.#database, given) ?? {});
      return { outcome: 'created', space } as const;
    });
  }

  async space(key: SpaceKey) {
    const row = await this.#database.read(() => findSpace(this.#database, key));
    return row === undefined ? undefined : spaceOf(row);
  }

  async list({ tenant, member, cursor, ...options }: Parameters<SpaceStore['list']>[0]) {
    const limit = listLimit(options);
    const before = cursor === undefined ? null : positionOf(cursor);
    const rows = await this.#database.read(() =>
      member === undefined
        ? this.#database.all(
            `SELECT * FROM spaces WHERE tenant = ?1 AND (position < ?2 OR ?2 IS NULL)
             ORDER BY position DESC LIMIT ?3`,
            tenant,
            before,
            limit + 1,
          )
        : this.#database.all(
            `SELECT spaces.*, own.read_position FROM space_members AS own JOIN spaces
               ON spaces.tenant = own.tenant AND spaces.space_id = own.space_id
             WHERE own.tenant = ?1 AND own.kind = ?2 AND own.member_id = ?3
               AND (own.space_position < ?4 OR ?4 IS NULL)
             ORDER BY own.space_position DESC LIMIT ?5`,
            tenant,
            member.kind,
            member.id,
            before,
            limit + 1,
          ),
    );
    return spacePage(rows, { limit, member });
  }

  /** In parts, because a space may have any number of messages; the space itself goes with the last of them. */
  async remove(key: SpaceKey) {
    const { tenant, spaceId } = key;
    await this.#database.write(() => forgetWakes(this.#database, key));
    for (let isEmpty = false; !isEmpty; )
      isEmpty = await this.#database.write(() => {
        const removed = this.#database.run(
          `DELETE FROM space_messages WHERE rowid IN (
             SELECT rowid FROM space_messages WHERE tenant = ? AND space_id = ? LIMIT ?)`,
          tenant,
          spaceId,
          REMOVED_AT_ONCE,
        );
        return removed < REMOVED_AT_ONCE;
      });
    return await this.#database.write(() => {
      for (const table of ['space_messages', 'space_members'])
        this.#database.run(
          `DELETE FROM ${table} WHERE tenant = ? AND space_id = ?`,
          tenant,
          spaceId,
        );
      const sql = 'DELETE FROM spaces WHERE tenant = ? AND space_id = ?';
      return this.#database.run(sql, tenant, spaceId) > 0;
    });
  }

  async removeOfTenant(tenant: string) {
    let removed = 0;
    for (;;) {
      const { spaces } = await this.list({ tenant, limit: 100 });
      if (spaces.length === 0) return removed;
      for (const { id } of spaces) if (await this.remove({ tenant, spaceId: id })) removed += 1;
    }
  }

  async join(request: Parameters<SpaceStore['join']>[0]) {
    const { member, nowMs } = request;
    return await this.#database.write(() => {
      if (findSpace(this.#database, request) === undefined)
        return { outcome: 'unknown_space' } as const;
      const stored = findMember(this.#database, request, member);
      if (stored !== undefined) return { outcome: 'repeated', member: memberOf(stored) } as const;
      const { tenant, spaceId } = request;
      const count = this.#database.get(
        'SELECT count(*) AS members FROM space_members WHERE tenant = ? AND space_id = ?',
        tenant,
        spaceId,
      );
      if (numberIn(count ?? {}, 'members') >= MAX_SPACE_MEMBERS)
        return { outcome: 'full' } as const;
      return {
        outcome: 'joined',
        member: memberOf(this.#insertMember(request, member, nowMs)),
      } as const;
    });
  }

  async leave({ tenant, spaceId }: SpaceKey, { kind, id }: MemberRef) {
    return await this.#database.write(() => {
      const removed = this.#database.run(
        'DELETE FROM space_members WHERE tenant = ? AND space_id = ? AND kind = ? AND member_id = ?',
        tenant,
        spaceId,
        kind,
        id,
      );
      if (removed > 0)
        this.#database.run(
          'UPDATE spaces SET members_version = members_version + 1 WHERE tenant = ? AND space_id = ?',
          tenant,
          spaceId,
        );
      return removed > 0;
    });
  }

  async members({ tenant, spaceId }: SpaceKey) {
    const rows = await this.#database.read(() =>
      this.#database.all(
        'SELECT * FROM space_members WHERE tenant = ? AND space_id = ? ORDER BY joined',
        tenant,
        spaceId,
      ),
    );
    return rows.map(memberOf);
  }

  async isMember(key: SpaceKey, member: MemberRef) {
    return await this.#database.read(() => findMember(this.#database, key, member) !== undefined);
  }

  async readPosition(key: SpaceKey, member: MemberRef) {
    const row = await this.#database.read(() => findMember(this.#database, key, member));
    return row === undefined ? undefined : numberIn(row, 'read_position');
  }

  async markRead(given: Parameters<SpaceStore['markRead']>[0]) {
    return await this.#database.write(() => markRead(this.#database, given));
  }

  async putMessage(given: PutMessage) {
    return await this.#database.write(() => putMessage(this.#database, given));
  }

  async message(key: SpaceKey, id: string) {
    const row = await this.#database.read(() => findMessage(this.#database, key, id));
    return row === undefined ? undefined : messageOf(row);
  }

  async spacesOfCall({ tenant, callId }: Parameters<SpaceStore['spacesOfCall']>[0]) {
    const sql = 'SELECT tenant, space_id FROM space_messages WHERE tenant = ? AND call_id = ?';
    const rows = await this.#database.read(() => this.#database.all(sql, tenant, callId));
    return rows.map(spaceKeyOf);
  }

  async messages(key: SpaceKey, options: Parameters<SpaceStore['messages']>[1]) {
    return await this.#database.read(() => readMessages(this.#database, key, options));
  }

  async changes({ tenant, spaceId }: SpaceKey, options: Parameters<SpaceStore['changes']>[1]) {
    const rows = await this.#database.read(() =>
      this.#database.all(
        'SELECT * FROM space_messages WHERE tenant = ? AND space_id = ? AND change > ? ORDER BY change LIMIT ?',
        tenant,
        spaceId,
        options.after,
        listLimit(options),
      ),
    );
    return rows.map(messageOf);
  }

  async heads(keys: readonly SpaceKey[]) {
    return await this.#database.read(() =>
      keys.flatMap((key) => {
        const row = findSpace(this.#database, key);
        return row === undefined ? [] : [headOf(row)];
      }),
    );
  }

  async claimWakes(options: Parameters<SpaceStore['claimWakes']>[0]) {
    return await claimWakes(this.#database, options);
  }

  async textsFor(...given: Parameters<SpaceStore['textsFor']>) {
    return await this.#database.read(() => textsFor(this.#database, ...given));
  }

  async settleWake(...given: Parameters<SpaceStore['settleWake']>) {
    return await this.#database.write(() => settleWake(this.#database, ...given));
  }

  /** The row. To be called inside a write transaction. */
  #insertMember({ tenant, spaceId }: SpaceKey, member: NewMember, nowMs: number): Row {
    const space = this.#database.get(
      `UPDATE spaces SET members_version = members_version + 1 WHERE tenant = ? AND space_id = ?
       RETURNING *`,
      tenant,
      spaceId,
    );
    const { kind, id } = member;
    const row = this.#database.get(
      `INSERT INTO space_members (tenant, space_id, kind, member_id, conversation_id, space_position, joined, detail,
         text_position, woken_position, read_position, wake_attempts)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?9, 0) RETURNING *`,
      ...[tenant, spaceId, kind, id, conversationOf(member)],
      numberIn(space ?? {}, 'position'),
      numberIn(space ?? {}, 'members_version'),
      detailOf(member, nowMs),
      numberIn(space ?? {}, 'last_position'),
    );
    return row ?? {};
  }
}
