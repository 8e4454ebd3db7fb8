/**
 * Spaces: rooms with members and messages. Members are people, by the id of their actor, and agents, by their
 * conversation and name. Wire format of the API and its streams.
 */
import { type ConversationId, idProblem } from '../values/ids.js';
import type { Json } from '../values/json.js';

export interface SpaceKey {
  readonly tenant: string;
  readonly spaceId: string;
}

/** `invited`: members add others. `open`: every caller of the tenant that has the id may join. */
export const SPACE_ACCESS = ['invited', 'open'] as const;
export type SpaceAccess = (typeof SPACE_ACCESS)[number];

export type Metadata = Readonly<Record<string, Json | undefined>>;

/** How far a person has read. */
export interface ReadMark {
  /** Messages up to this position are read; 0 before the first. */
  readonly readPosition: number;
  /** Messages behind it. */
  readonly unread: number;
}

/** The mark belongs to the person for whom the space was read, and is absent where that one is no member. */
export interface Space extends Partial<ReadMark> {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly access: SpaceAccess;
  readonly metadata?: Metadata;
  readonly createdBy: MemberRef;
  /** ISO 8601 */
  readonly createdAt: string;
  /** Position of the newest message; 0 without one. */
  readonly lastPosition: number;
  /** Number of the newest change of a message; 0 without one. */
  readonly lastChange: number;
}

export const MEMBER_KINDS = ['person', 'agent'] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Names a member, or an author that may have left. */
export interface MemberRef {
  readonly kind: MemberKind;
  /** Id of the actor, or of an agent `<conversation id>~<agent>`. */
  readonly id: string;
}

export interface Member extends MemberRef {
  readonly name?: string;
  /** ISO 8601 */
  readonly joinedAt: string;
  /** Present for an agent: its conversation, and the name of its definition. */
  readonly conversationId?: ConversationId;
  readonly agent?: string;
}

export interface AgentEntity {
  readonly conversationId: ConversationId;
  readonly agent: string;
}

/** The id of an agent as a member. No id of a conversation or agent has `~`. */
export function agentMemberId({ conversationId, agent }: AgentEntity): string {
  return `${conversationId}~${agent}`;
}

/** The inverse of `agentMemberId`. Undefined when the text is no such id. */
export function parseAgentMemberId(id: string): AgentEntity | undefined {
  const [conversationId = '', agent = '', ...rest] = id.split('~');
  const isId = (part: string): boolean => idProblem('id', part) === undefined;
  return rest.length === 0 && isId(conversationId) && isId(agent)
    ? { conversationId, agent }
    : undefined;
}

export function isSameMember(one: MemberRef, other: MemberRef): boolean {
  return one.kind === other.kind && one.id === other.id;
}

/** `text`: a member wrote it. `tool`: a call that the space shows; it wakes no agent and cannot be replied to. */
export const SPACE_MESSAGE_KINDS = ['text', 'tool'] as const;
export type SpaceMessageKind = (typeof SPACE_MESSAGE_KINDS)[number];

export const SPACE_MESSAGE_STATUSES = ['running', 'requires_action', 'complete', 'error'] as const;
export type SpaceMessageStatus = (typeof SPACE_MESSAGE_STATUSES)[number];

/** Whether a message with this status changes no more. */
export function isFinalStatus(status: SpaceMessageStatus): boolean {
  return status === 'complete' || status === 'error';
}

export interface SpaceAuthor extends MemberRef {
  /** The member's name when the message was stored. */
  readonly name?: string;
}

export interface SpaceMessage {
  readonly id: string;
  /** From 1, without a gap, in the order in which messages were stored. */
  readonly position: number;
  /** Greater than that of every earlier insert or change in the space. */
  readonly change: number;
  readonly author: SpaceAuthor;
  readonly kind: SpaceMessageKind;
  /** Always `complete` for a text. */
  readonly status: SpaceMessageStatus;
  readonly text: string;
  /** Id of the message that a text answers. */
  readonly replyTo?: string;
  /** `toolName`, `toolCallId`, `executor`, `input`, `waitsFor`, `output`, `error` of a call. */
  readonly metadata?: Metadata;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly changedAt: string;
}

/** A piece of the arguments that an agent's model writes for a visible call; may be lost, and no call need follow. */
export interface StreamedArguments {
  /** Names the call while it is written; the pieces of one call have the same. */
  readonly id: string;
  readonly author: MemberRef;
  readonly toolName: string;
  /** The provider's id, where it is known. The call has it, unless it is taken. */
  readonly toolCallId?: string;
  /** From 1. A higher attempt makes the text of lower ones void. */
  readonly attempt: number;
  /** Characters of the arguments before this piece. */
  readonly offset: number;
  /** A part of the JSON text; it may end anywhere. */
  readonly text: string;
}

/**
 * One frame of the stream of a space.
 *
 * | type | meaning |
 * |---|---|
 * | `ready` | first, for a reader that named no place: later messages follow |
 * | `message` | a new message, or one that has changed |
 * | `tool.streaming` | a piece of the arguments of a visible call that is being written; has no place and may be lost |
 * | `members` | the members have changed; has no place |
 * | `read` | the reader itself has read up to a position, here or elsewhere; has no place and may be lost |
 * | `reset` | the store has less than the reader has seen, such as a restored one: the messages are to be read again |
 * | `deleted` | last: the space was deleted, or the reader is no member any more |
 */
export type SpaceFrame =
  | { readonly type: 'ready' | 'reset'; readonly change: number }
  | { readonly type: 'message'; readonly change: number; readonly message: SpaceMessage }
  | { readonly type: 'tool.streaming'; readonly piece: StreamedArguments }
  | { readonly type: 'read'; readonly position: number }
  | { readonly type: 'members' | 'deleted' };
