/** Builds the statement behind a list; the adapters differ in the names of tables and the numbering of parameters. */

import { CONVERSATION_STATUSES, statusesOf } from '../../protocol/conversation/statuses.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { ConversationList, ListedConversation } from '../ports/lists.js';
import type { GoneAgents } from '../ports/presence.js';
import {
  cursorOf,
  deadlineCursorOf,
  deadlineMsOf,
  deadlinePositionOf,
  isByDeadline,
  listLimit,
  positionOf,
} from './paging.js';
import { namesStored } from './pending.js';
import { type ListRequest, needing } from './presence.js';
import { numberIn, type Row, snapshotOf, versionOf } from './rows.js';
import { isTroubleKind, shownWith, troubleFrom } from './service/troubles.js';

export interface Dialect {
  readonly conversations: string;
  readonly troubles: string;
  readonly pendingCalls: string;
  /** Appended to `pendingCalls AS name`: makes the database find the calls of one conversation by its key. */
  readonly byKey: string;
  /** The n-th parameter, from 1. */
  readonly parameter: (nth: number) => string;
  /**
   * SQL that is true if a row of pending calls, by its name in the statement, admits an actor: its `audience`, if it
   * has one, admits the actor, and the actor is none of its `requesters`, where these are excluded.
   */
  readonly admits: (call: string, actor: Admission) => string;
  /** SQL that is true if a column is one of the texts, a parameter with a JSON list; found along an index. */
  readonly isOneOf: (column: string, texts: string) => string;
  /** SQL that is true if one of the actors, a parameter with a JSON list of ids, asked for the call. */
  readonly askedBy: (call: string, ids: string) => string;
}

/**
 * Parameters of the statement: the actor's id and roles, as JSON of a list each, and 1 if the actor is verified, else
 * 0.
 */
export interface Admission {
  readonly id: string;
  readonly roles: string;
  readonly verified: string;
}

/** Rows have `snapshot`, `position` and `trouble` (JSON; null if no mark holds), and `deadline_ms` in a list by deadline. */
export interface ListQuery {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Collects the parameters of a statement. */
export class Statement {
  readonly values: (string | number)[] = [];
  readonly #parameter: Dialect['parameter'];

  constructor(dialect: Dialect) {
    this.#parameter = dialect.parameter;
  }

  /** Adds a parameter with this value and returns its name. */
  value(value: string | number): string {
    this.values.push(value);
    return this.#parameter(this.values.length);
  }

  /** Conditions for the values that are given. */
  where(conditions: readonly (readonly [string, string | number | undefined])[]): string[] {
    return conditions.flatMap(([sql, value]) =>
      value === undefined ? [] : [`${sql} ${this.value(value)}`],
    );
  }
}

/**
 * Reads one row more than the page has, to see whether there is another. @throws {RangeError} for a cursor that
 * `listPage` did not make.
 */
export function listQuery(options: ListRequest, dialect: Dialect): ListQuery {
  return isByDeadline(options) ? byDeadline(options, dialect) : byPosition(options, dialect);
}

function byPosition(options: ListRequest, dialect: Dialect): ListQuery {
  const { tenant, agent, root, status, cursor } = options;
  const statement = new Statement(dialect);
  const conditions = [
    ...statement.where([
      ['conversations.tenant =', tenant],
      ['conversations.agent =', agent],
      ['conversations.root =', root],
      ['conversations.position <', cursor === undefined ? undefined : positionOf(cursor)],
    ]),
    ...byStatus({ statement, dialect }, status),
    ...openOf(statement, options, 'conversations.'),
    ...activeOnly(status, 'conversations.status'),
  ];
  const sql = `SELECT conversations.position, 0 AS deadline_ms, conversations.snapshot, ${troubleOf(dialect, 'trouble')} AS trouble
     FROM ${dialect.conversations} AS conversations${allOf(conditions)}
     ORDER BY conversations.position DESC LIMIT ${statement.value(listLimit(options) + 1)}`;
  return { sql, values: statement.values };
}

/** The rows of some conversations, as lists have them, with their versions. */
export function listedQuery(
  { tenant, ids }: { readonly tenant: string; readonly ids: readonly string[] },
  dialect: Dialect,
): ListQuery {
  const statement = new Statement(dialect);
  const sql = `SELECT conversations.snapshot, conversations.changed_at_ms, conversations.generation,
       conversations.last_seq, ${troubleOf(dialect, 'trouble')} AS trouble
     FROM ${dialect.conversations} AS conversations
     WHERE conversations.tenant = ${statement.value(tenant)}
       AND ${dialect.isOneOf('conversations.conversation_id', statement.value(JSON.stringify(ids)))}`;
  return { sql, values: statement.values };
}

/** The conversations of the rows of a `listedQuery`. */
export function listedOf(rows: readonly Row[], gone: GoneAgents): readonly ListedConversation[] {
  return rows.map((row) => ({
    snapshot: needing(shownWith(snapshotOf(row), troubleFrom(row['trouble'])), gone),
    changedAtMs: numberIn(row, 'changed_at_ms'),
    version: versionOf(row),
  }));
}

/**
 * Excludes the other statuses instead of naming those wanted: then the index of a tenant's order serves the list, which
 * would have to be sorted after a search by status.
 */
function activeOnly(status: ListRequest['status'], column: string): readonly string[] {
  const others = CONVERSATION_STATUSES.filter((each) => !statusesOf('active').includes(each));
  return status === 'active' ? others.map((each) => `${column} <> '${each}'`) : [];
}

/** The call that ends first stands for its conversation, if several of its calls match. */
function byDeadline(options: ListRequest, dialect: Dialect): ListQuery {
  const { tenant, agent, root, status, pendingTool, pendingKind, pendingFor, cursor } = options;
  const { deadlineBefore } = options;
  const statement = new Statement(dialect);
  const meant = (call: string): string[] => [
    ...statement.where([
      [`${call}.tool =`, pendingTool],
      [`${call}.kind =`, pendingKind],
    ]),
    ...(pendingFor === undefined ? [] : [dialect.admits(call, admission(statement, pendingFor))]),
  ];
  const conditions = [
    ...statement.where([['call.tenant =', tenant]]),
    ...meant('call'),
    ...statement.where([
      [
        'call.deadline_ms <',
        deadlineBefore === undefined ? undefined : deadlineMsOf(deadlineBefore),
      ],
      ['conversations.agent =', agent],
      ['conversations.root =', root],
    ]),
    ...openOf(statement, options, 'conversations.'),
    ...byStatus({ statement, dialect }, status),
    ...activeOnly(status, 'conversations.status'),
  ];
  if (cursor !== undefined) {
    const { deadlineMs, position } = deadlinePositionOf(cursor);
    const from = `${statement.value(deadlineMs)}, ${statement.value(position)}`;
    conditions.push(`(call.deadline_ms, call.position) > (${from})`);
  }
  const earlier = [
    'earlier.tenant = call.tenant',
    'earlier.conversation_id = call.conversation_id',
    '(earlier.deadline_ms, earlier.tool_call_id) < (call.deadline_ms, call.tool_call_id)',
    ...meant('earlier'),
  ];
  conditions.push(
    `NOT EXISTS (SELECT 1 FROM ${dialect.pendingCalls} AS earlier ${dialect.byKey} WHERE ${earlier.join(' AND ')})`,
  );
  const sql = `SELECT call.position, call.deadline_ms, conversations.snapshot, ${troubleOf(dialect, 'trouble')} AS trouble
     FROM ${dialect.pendingCalls} AS call JOIN ${dialect.conversations} AS conversations
       ON conversations.tenant = call.tenant AND conversations.conversation_id = call.conversation_id
     ${allOf(conditions)}
     ORDER BY call.deadline_ms, call.position LIMIT ${statement.value(listLimit(options) + 1)}`;
  return { sql, values: statement.values };
}

/** Open conversations of some agents. */
function openOf(statement: Statement, { openOf: agents }: ListRequest, of = ''): readonly string[] {
  if (agents === undefined) return [];
  const names = agents.map((name) => statement.value(name));
  return [`${of}agent IN (${names.join(', ')})`, `${of}status <> 'closed'`];
}

/**
 * A column of a conversation's mark while it holds: no event was appended since it was made, and the conversation is
 * open. A sub-query instead of a join, which could make the database sort or hash whole tables: few conversations have
 * a mark.
 */
function troubleOf({ troubles }: Dialect, column: 'kind' | 'trouble'): string {
  return `(SELECT mark.${column} FROM ${troubles} AS mark
    WHERE mark.tenant = conversations.tenant AND mark.conversation_id = conversations.conversation_id
      AND mark.last_seq = conversations.last_seq AND conversations.status <> 'closed')`;
}

interface Asked {
  readonly statement: Statement;
  readonly dialect: Dialect;
}

/** A status of the log also finds conversations with a mark: their calls wait for people nevertheless. */
function byStatus({ statement, dialect }: Asked, status: string | undefined): readonly string[] {
  if (status === undefined || status === 'active') return [];
  if (!isTroubleKind(status)) return statement.where([['conversations.status =', status]]);
  // Conversations with a mark are found by the mark.
  return [
    `(conversations.tenant, conversations.conversation_id) IN (SELECT tenant, conversation_id FROM ${dialect.troubles})`,
    ...statement.where([[`${troubleOf(dialect, 'kind')} =`, status]]),
  ];
}

export function admission(
  statement: Statement,
  { id, roles = [], verified }: JudgedActor,
): Admission {
  return {
    id: statement.value(namesStored([id])),
    roles: statement.value(namesStored(roles)),
    verified: statement.value(verified ? 1 : 0),
  };
}

export function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** Makes the page from the rows of a `listQuery`. */
export function listPage(options: ListRequest, rows: readonly Row[]): ConversationList {
  const limit = listLimit(options);
  const page = rows.slice(0, limit);
  const conversations = page.map((row) => shownWith(snapshotOf(row), troubleFrom(row['trouble'])));
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { conversations };
  const position = numberIn(last, 'position');
  const nextCursor = isByDeadline(options)
    ? deadlineCursorOf({ deadlineMs: numberIn(last, 'deadline_ms'), position })
    : cursorOf(position);
  return { conversations, nextCursor };
}
