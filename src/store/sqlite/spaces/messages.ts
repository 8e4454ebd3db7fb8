/** Messages of spaces in sqlite. Synchronous; the store wraps them. */
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
import type { SqliteDatabase } from '../database/database.js';

export function findSpace(
  database: SqliteDatabase,
  { tenant, spaceId }: SpaceKey,
): Row | undefined {
  return database.get('SELECT * FROM spaces WHERE tenant = ? AND space_id = ?', tenant, spaceId);
}

export function findMember(
  database: SqliteDatabase,
  { tenant, spaceId }: SpaceKey,
  { kind, id }: MemberRef,
): Row | undefined {
  return database.get(
    'SELECT * FROM space_members WHERE tenant = ? AND space_id = ? AND kind = ? AND member_id = ?',
    ...[tenant, spaceId, kind, id],
  );
}

export function findMessage(
  database: SqliteDatabase,
  { tenant, spaceId }: SpaceKey,
  id: string,
): Row | undefined {
  return database.get(
    'SELECT * FROM space_messages WHERE tenant = ? AND space_id = ? AND message_id = ?',
    ...[tenant, spaceId, id],
  );
}

/** To be called inside a write transaction. */
export function putMessage(database: SqliteDatabase, given: PutMessage): PutResult {
  if (findSpace(database, given) === undefined) return { outcome: 'unknown_space' };
  const stored = findMessage(database, given, given.id);
  if (stored !== undefined) return changeStored(database, messageOf(stored), given);
  const author = findMember(database, given, given.author);
  if (author === undefined) return { outcome: 'not_a_member' };
  if (given.replyTo !== undefined) {
    const answered = findMessage(database, given, given.replyTo);
    if (answered?.['kind'] !== 'text') return { outcome: 'unknown_reply' };
  }
  const message = insert(database, given, memberOf(author).name);
  if (given.kind === 'text') wakeOthers(database, given, message.position);
  if (given.kind === 'text')
    moveMark(database, { ...given, member: given.author }, message.position);
  return { outcome: 'stored', message };
}

/** To be called inside a write transaction. */
export function markRead(
  database: SqliteDatabase,
  given: Parameters<SpaceStore['markRead']>[0],
): MarkResult {
  const own = findMember(database, given, given.member);
  if (own === undefined) return { outcome: 'not_a_member' };
  const read = findMessage(database, given, given.messageId);
  if (read === undefined) return { outcome: 'unknown_message' };
  const before = numberIn(own, 'read_position');
  const position = Math.max(before, numberIn(read, 'position'));
  if (position > before) moveMark(database, given, position);
  const { lastPosition } = spaceOf(findSpace(database, given) ?? {});
  return {
    outcome: position > before ? 'moved' : 'kept',
    mark: markOf(position, lastPosition),
  };
}

function moveMark(
  database: SqliteDatabase,
  { tenant, spaceId, member }: SpaceKey & { readonly member: MemberRef },
  position: number,
): void {
  database.run(
    `UPDATE space_members SET read_position = ?
     WHERE tenant = ? AND space_id = ? AND kind = ? AND member_id = ?`,
    ...[position, tenant, spaceId, member.kind, member.id],
  );
}

function changeStored(
  database: SqliteDatabase,
  stored: SpaceMessage,
  given: PutMessage,
): PutResult {
  const judged = judgePut(stored, given);
  if (judged === 'reused') return { outcome: 'reused' };
  if (judged === 'repeat') return { outcome: 'repeated', message: stored };
  const { tenant, spaceId, id, status, nowMs } = given;
  const space = database.get(
    'UPDATE spaces SET last_change = last_change + 1 WHERE tenant = ? AND space_id = ? RETURNING last_change',
    tenant,
    spaceId,
  );
  const changed = database.get(
    `UPDATE space_messages SET change = ?, status = ?, content = ?, changed_at_ms = ?
     WHERE tenant = ? AND space_id = ? AND message_id = ? RETURNING *`,
    numberIn(space ?? {}, 'last_change'),
    status,
    contentOf(given, stored.author.name),
    ...[nowMs, tenant, spaceId, id],
  );
  return { outcome: 'changed', message: messageOf(changed ?? {}) };
}

function insert(
  database: SqliteDatabase,
  given: PutMessage,
  name: string | undefined,
): SpaceMessage {
  const { tenant, spaceId, id, author, kind, status, callId = null, nowMs } = given;
  const space = database.get(
    `UPDATE spaces SET last_position = last_position + 1, last_change = last_change + 1
     WHERE tenant = ? AND space_id = ? RETURNING last_position, last_change`,
    tenant,
    spaceId,
  );
  const row = database.get(
    `INSERT INTO space_messages (tenant, space_id, position, message_id, change, kind, status, author_kind, author_id,
       call_id, content, created_at_ms, changed_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12) RETURNING *`,
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

/** An agent that is due already, or claimed, stays so; its wake is settled with this position. */
function wakeOthers(
  database: SqliteDatabase,
  { tenant, spaceId, author, nowMs }: PutMessage,
  position: number,
): void {
  database.run(
    `UPDATE space_members SET text_position = ?, wake_at_ms = coalesce(wake_at_ms, ?)
     WHERE tenant = ? AND space_id = ? AND kind = 'agent' AND NOT (kind = ? AND member_id = ?)`,
    ...[position, nowMs, tenant, spaceId, author.kind, author.id],
  );
}

export function readMessages(
  database: SqliteDatabase,
  { tenant, spaceId }: SpaceKey,
  options: Parameters<SpaceStore['messages']>[1],
): readonly SpaceMessage[] {
  const { after, before } = options;
  const limit = listLimit(options);
  if (after !== undefined)
    return database
      .all(
        `SELECT * FROM space_messages WHERE tenant = ? AND space_id = ? AND position > ? ${filterOf(options)}
         ORDER BY position LIMIT ?`,
        ...[tenant, spaceId, after, limit],
      )
      .map(messageOf);
  return database
    .all(
      `SELECT * FROM space_messages WHERE tenant = ?1 AND space_id = ?2 AND (position < ?3 OR ?3 IS NULL)
         ${filterOf(options)}
       ORDER BY position DESC LIMIT ?4`,
      ...[tenant, spaceId, before ?? null, limit],
    )
    .map(messageOf)
    .toReversed();
}
