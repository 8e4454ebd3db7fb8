/** Spaces, members and messages in the Postgres schema of the event log. Writers of a space take turns by its row. */
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
import type {
  ClaimedWake,
  NewMember,
  NewSpace,
  PutMessage,
  SpaceStore,
} from '../../ports/spaces/spaces.js';
import type { PostgresDatabase, Queries } from '../database/database.js';
import { SpaceRows } from './messages.js';
import { SpaceWakes } from './wakes.js';

/** Messages that one statement of a removal deletes, far below its time limit. */
const REMOVED_AT_ONCE = 5_000;

export class PostgresSpaceStore implements SpaceStore {
  readonly #database: PostgresDatabase;
  readonly #spaces: string;
  readonly #members: string;
  readonly #messages: string;
  readonly #wakes: SpaceWakes;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#spaces = database.table('spaces');
    this.#members = database.table('space_members');
    this.#messages = database.table('space_messages');
    this.#wakes = new SpaceWakes(database);
  }

  async create(given: NewSpace) {
    return await this.#database.write(async (queries) => {
      const rows = this.#rows(queries);
      const { tenant, spaceId, creator, nowMs } = given;
      const stored = await rows.lockedSpace(given);
      if (stored !== undefined) {
        const space = spaceOf(stored);
        return isSameSpace(space, given)
          ? ({ outcome: 'repeated', space } as const)
          : ({ outcome: 'reused' } as const);
      }
      // A process that creates the same space at the same time makes this one begin again (a conflict of keys).
      const created = await queries.get(
        `INSERT INTO ${this.#spaces} (tenant, space_id, definition, last_position, last_change, members_version)
         VALUES ($1, $2, $3, 0, 0, 0) RETURNING *`,
        tenant,
        spaceId,
        definitionOf(given),
      );
      await this.#insertMember(queries, given, { member: creator, nowMs });
      return { outcome: 'created', space: spaceOf(created ?? {}) } as const;
    });
  }

  async space(key: SpaceKey) {
    const row = await this.#rows(this.#database).space(key);
    return row === undefined ? undefined : spaceOf(row);
  }

  async list({ tenant, member, cursor, ...options }: Parameters<SpaceStore['list']>[0]) {
    const limit = listLimit(options);
    const before = cursor === undefined ? null : positionOf(cursor);
    const rows =
      member === undefined
        ? await this.#database.all(
            `SELECT * FROM ${this.#spaces} WHERE tenant = $1 AND (position < $2 OR $2::bigint IS NULL)
             ORDER BY position DESC LIMIT $3`,
            tenant,
            before,
            limit + 1,
          )
        : await this.#database.all(
            `SELECT spaces.*, own.read_position FROM ${this.#members} AS own JOIN ${this.#spaces} AS spaces
               ON spaces.tenant = own.tenant AND spaces.space_id = own.space_id
             WHERE own.tenant = $1 AND own.kind = $2 AND own.member_id = $3
               AND (own.space_position < $4 OR $4::bigint IS NULL)
             ORDER BY own.space_position DESC LIMIT $5`,
            tenant,
            member.kind,
            member.id,
            before,
            limit + 1,
          );
    return spacePage(rows, { limit, member });
  }

  /** In parts, because a space may have any number of messages; the space itself goes with the last of them. */
  async remove(key: SpaceKey) {
    const { tenant, spaceId } = key;
    await this.#database.write(async (queries) => {
      // First, as every writer of the space takes its lock before those of members.
      await this.#rows(queries).lockedSpace(key);
      await this.#wakes.forget(queries, key);
    });
    for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; )
      removed = await this.#database.run(
        `DELETE FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 AND position IN (
           SELECT position FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 LIMIT $3)`,
        tenant,
        spaceId,
        REMOVED_AT_ONCE,
      );
    return await this.#database.write(async (queries) => {
      // First, and with its lock: a writer that waits for it then finds no space.
      const removed = await queries.run(
        `DELETE FROM ${this.#spaces} WHERE tenant = $1 AND space_id = $2`,
        tenant,
        spaceId,
      );
      for (const table of [this.#messages, this.#members])
        await queries.run(
          `DELETE FROM ${table} WHERE tenant = $1 AND space_id = $2`,
          tenant,
          spaceId,
        );
      return removed > 0;
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
    return await this.#database.write(async (queries) => {
      const rows = this.#rows(queries);
      if ((await rows.lockedSpace(request)) === undefined)
        return { outcome: 'unknown_space' } as const;
      const stored = await rows.member(request, request.member);
      if (stored !== undefined) return { outcome: 'repeated', member: memberOf(stored) } as const;
      const count = await queries.get(
        `SELECT count(*) AS members FROM ${this.#members} WHERE tenant = $1 AND space_id = $2`,
        request.tenant,
        request.spaceId,
      );
      if (numberIn(count ?? {}, 'members') >= MAX_SPACE_MEMBERS)
        return { outcome: 'full' } as const;
      const inserted = await this.#insertMember(queries, request, request);
      return { outcome: 'joined', member: memberOf(inserted) } as const;
    });
  }

  async leave(key: SpaceKey, { kind, id }: MemberRef) {
    const { tenant, spaceId } = key;
    return await this.#database.write(async (queries) => {
      // First, as every writer of the space takes its lock before those of members.
      await this.#rows(queries).lockedSpace(key);
      const removed = await queries.run(
        `DELETE FROM ${this.#members} WHERE tenant = $1 AND space_id = $2 AND kind = $3 AND member_id = $4`,
        tenant,
        spaceId,
        kind,
        id,
      );
      if (removed > 0)
        await queries.run(
          `UPDATE ${this.#spaces} SET members_version = members_version + 1 WHERE tenant = $1 AND space_id = $2`,
          tenant,
          spaceId,
        );
      return removed > 0;
    });
  }

  async members({ tenant, spaceId }: SpaceKey) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#members} WHERE tenant = $1 AND space_id = $2 ORDER BY joined`,
      tenant,
      spaceId,
    );
    return rows.map(memberOf);
  }

  async isMember(key: SpaceKey, member: MemberRef) {
    return (await this.#rows(this.#database).member(key, member)) !== undefined;
  }

  async readPosition(key: SpaceKey, member: MemberRef) {
    const row = await this.#rows(this.#database).member(key, member);
    return row === undefined ? undefined : numberIn(row, 'read_position');
  }

  async markRead(given: Parameters<SpaceStore['markRead']>[0]) {
    return await this.#database.write((queries) => this.#rows(queries).markRead(given));
  }

  async putMessage(given: PutMessage) {
    return await this.#database.write((queries) => this.#rows(queries).put(given));
  }

  async message(key: SpaceKey, id: string) {
    const row = await this.#rows(this.#database).message(key, id);
    return row === undefined ? undefined : messageOf(row);
  }

  async spacesOfCall({ tenant, callId }: Parameters<SpaceStore['spacesOfCall']>[0]) {
    const sql = `SELECT tenant, space_id FROM ${this.#messages} WHERE tenant = $1 AND call_id = $2`;
    return (await this.#database.all(sql, tenant, callId)).map(spaceKeyOf);
  }

  async messages(key: SpaceKey, options: Parameters<SpaceStore['messages']>[1]) {
    return await this.#rows(this.#database).page(key, options);
  }

  async changes({ tenant, spaceId }: SpaceKey, options: Parameters<SpaceStore['changes']>[1]) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#messages} WHERE tenant = $1 AND space_id = $2 AND change > $3
       ORDER BY change LIMIT $4`,
      tenant,
      spaceId,
      options.after,
      listLimit(options),
    );
    return rows.map(messageOf);
  }

  async heads(keys: readonly SpaceKey[]) {
    if (keys.length === 0) return [];
    const rows = await this.#database.all(
      `SELECT spaces.* FROM unnest($1::text[], $2::text[]) AS wanted (tenant, space_id)
         JOIN ${this.#spaces} AS spaces USING (tenant, space_id)`,
      keys.map(({ tenant }) => tenant),
      keys.map(({ spaceId }) => spaceId),
    );
    return rows.map(headOf);
  }

  async claimWakes(options: Parameters<SpaceStore['claimWakes']>[0]) {
    return await this.#wakes.claim(options);
  }

  async textsFor(wake: ClaimedWake, options: Parameters<SpaceStore['textsFor']>[1]) {
    return await this.#wakes.texts(wake, options);
  }

  async settleWake(...given: Parameters<SpaceStore['settleWake']>) {
    return await this.#wakes.settle(...given);
  }

  #rows(queries: Pick<Queries, 'all' | 'get' | 'run'>): SpaceRows {
    return new SpaceRows(this.#database, queries);
  }

  async #insertMember(
    queries: Queries,
    { tenant, spaceId }: SpaceKey,
    { member, nowMs }: { readonly member: NewMember; readonly nowMs: number },
  ): Promise<Row> {
    const space = await queries.get(
      `UPDATE ${this.#spaces} SET members_version = members_version + 1 WHERE tenant = $1 AND space_id = $2
       RETURNING *`,
      tenant,
      spaceId,
    );
    const { kind, id } = member;
    const row = await queries.get(
      `INSERT INTO ${this.#members} (tenant, space_id, kind, member_id, conversation_id, space_position, joined, detail,
         text_position, woken_position, read_position, wake_attempts)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $9, 0) RETURNING *`,
      ...[tenant, spaceId, kind, id, conversationOf(member)],
      numberIn(space ?? {}, 'position'),
      numberIn(space ?? {}, 'members_version'),
      detailOf(member, nowMs),
      numberIn(space ?? {}, 'last_position'),
    );
    return row ?? {};
  }
}
