/** Rows of spaces, members and messages: both databases have the same columns, and judge writes by the same rules. */
import {
  agentMemberId,
  isFinalStatus,
  isSameMember,
  type Member,
  type MemberKind,
  type MemberRef,
  parseAgentMemberId,
  type ReadMark,
  type Space,
  type SpaceKey,
  type SpaceMessage,
  type SpaceMessageKind,
  type SpaceMessageStatus,
} from '../../protocol/spaces/spaces.js';
import { canonicalJson } from '../../protocol/values/json.js';
import type {
  ClaimedWake,
  MessageFilter,
  NewSpace,
  PutMessage,
  SpaceHead,
  SpacePage,
} from '../ports/spaces/spaces.js';
import { cursorOf } from './paging.js';
import { numberIn, type Row, textIn } from './rows.js';

/** Texts have an index of their own, which databases use where the kind is part of the statement. */
const FILTERS: Readonly<Record<MessageFilter, string>> = {
  texts: "AND kind = 'text'",
  texts_of_agents: "AND kind = 'text' AND author_kind = 'agent'",
};

/** The condition in SQL on the sort of messages; empty for all of them. */
export function filterOf({ only }: { readonly only?: MessageFilter | undefined }): string {
  return only === undefined ? '' : FILTERS[only];
}

type Definition = Pick<Space, 'name' | 'access' | 'metadata' | 'createdBy' | 'createdAt'>;

/** The column `definition`, as JSON: text can hold escapes that columns of Postgres refuse. */
export function definitionOf({ name, access, metadata, creator, nowMs }: NewSpace): string {
  const createdBy: MemberRef = { kind: creator.kind, id: creator.id };
  const definition: Definition = {
    ...{ name, access, createdBy, createdAt: new Date(nowMs).toISOString() },
    ...(metadata === undefined ? {} : { metadata }),
  };
  return JSON.stringify(definition);
}

export function spaceOf(row: Row): Space {
  return {
    id: textIn(row, 'space_id'),
    tenant: textIn(row, 'tenant'),
    ...(JSON.parse(textIn(row, 'definition')) as Definition),
    lastPosition: numberIn(row, 'last_position'),
    lastChange: numberIn(row, 'last_change'),
  };
}

/** Whether a space is the one that the request has created before. */
export function isSameSpace(stored: Space, given: NewSpace): boolean {
  const content = ({
    name,
    access,
    metadata,
  }: Pick<Space, 'name' | 'access'> & Partial<NewSpace>) =>
    canonicalJson({ name, access, metadata });
  return isSameMember(stored.createdBy, given.creator) && content(stored) === content(given);
}

/** `lastPosition` may be older than the mark, where they were read one after the other. */
export function markOf(readPosition: number, lastPosition: number): ReadMark {
  return { readPosition, unread: Math.max(0, lastPosition - readPosition) };
}

/** A space with the mark of the person who is its member in the same row. */
function markedSpaceOf(row: Row): Space {
  const space = spaceOf(row);
  return { ...space, ...markOf(numberIn(row, 'read_position'), space.lastPosition) };
}

/** Rows are read with one more than the limit; those of a person have its `read_position`. */
export function spacePage(
  rows: readonly Row[],
  { limit, member }: { readonly limit: number; readonly member?: MemberRef | undefined },
): SpacePage {
  const last = rows[limit - 1];
  return {
    spaces: rows.slice(0, limit).map(member?.kind === 'person' ? markedSpaceOf : spaceOf),
    ...(rows.length > limit && last !== undefined
      ? { nextCursor: cursorOf(numberIn(last, 'position')) }
      : {}),
  };
}

export function headOf(row: Row): SpaceHead {
  return {
    ...spaceKeyOf(row),
    lastChange: numberIn(row, 'last_change'),
    membersVersion: numberIn(row, 'members_version'),
  };
}

export function spaceKeyOf(row: Row): SpaceKey {
  return { tenant: textIn(row, 'tenant'), spaceId: textIn(row, 'space_id') };
}

/** The column `detail` of a member. */
export function detailOf({ name }: { readonly name?: string | undefined }, nowMs: number): string {
  return JSON.stringify({ name, joinedAt: new Date(nowMs).toISOString() });
}

/** The conversation of a member, with which its membership is deleted; a person has none. */
export function conversationOf({ kind, id }: MemberRef): string | null {
  return kind === 'agent' ? (parseAgentMemberId(id)?.conversationId ?? null) : null;
}

export function memberOf(row: Row): Member {
  const kind = textIn(row, 'kind') as MemberKind;
  const id = textIn(row, 'member_id');
  const detail = JSON.parse(textIn(row, 'detail')) as Pick<Member, 'name' | 'joinedAt'>;
  return { kind, id, ...detail, ...(kind === 'agent' ? parseAgentMemberId(id) : {}) };
}

export function wakeOf(row: Row): ClaimedWake {
  const memberId = textIn(row, 'member_id');
  const entity = parseAgentMemberId(memberId);
  if (entity === undefined) throw new TypeError(`column member_id names no agent: ${memberId}`);
  return {
    ...{ ...spaceKeyOf(row), ...entity, memberId: agentMemberId(entity) },
    afterPosition: numberIn(row, 'woken_position'),
    attempts: numberIn(row, 'wake_attempts'),
    claim: textIn(row, 'wake_claim'),
  };
}

type Content = Pick<SpaceMessage, 'text' | 'replyTo' | 'metadata'> & { readonly author?: string };

/** The column `content` of a message; `author` is the name that its author has in the space. */
export function contentOf(
  { text, replyTo, metadata }: PutMessage,
  author: string | undefined,
): string {
  const content: Content = {
    text,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(author === undefined ? {} : { author }),
  };
  return JSON.stringify(content);
}

export function messageOf(row: Row): SpaceMessage {
  const { author: name, ...content } = JSON.parse(textIn(row, 'content')) as Content;
  const kind = textIn(row, 'author_kind') as MemberKind;
  const author = { kind, id: textIn(row, 'author_id') };
  return {
    id: textIn(row, 'message_id'),
    position: numberIn(row, 'position'),
    change: numberIn(row, 'change'),
    author: name === undefined ? author : { ...author, name },
    kind: textIn(row, 'kind') as SpaceMessageKind,
    status: textIn(row, 'status') as SpaceMessageStatus,
    ...content,
    createdAt: new Date(numberIn(row, 'created_at_ms')).toISOString(),
    changedAt: new Date(numberIn(row, 'changed_at_ms')).toISOString(),
  };
}

/**
 * Judges a message by the one that is stored under its id. A text never changes, and a call does not after its end:
 * a write of an earlier status that comes late must not take the end back.
 */
export function judgePut(stored: SpaceMessage, given: PutMessage): 'change' | 'repeat' | 'reused' {
  if (!isSameMember(stored.author, given.author) || stored.kind !== given.kind) return 'reused';
  const content = ({ text, metadata, replyTo, status }: SpaceMessage | PutMessage): string =>
    canonicalJson({ text, metadata, replyTo, status });
  if (content(stored) === content(given)) return 'repeat';
  if (given.kind === 'text') return 'reused';
  return isFinalStatus(stored.status) ? 'repeat' : 'change';
}
