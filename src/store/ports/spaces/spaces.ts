/**
 * The store of spaces: rooms, their members and messages. Every write has a key, and its repeat resolves as the first
 * one did. Writers of one space take turns, so positions and changes are dense and become visible in their order.
 * Times are milliseconds by the clock of the caller. Callers check fields and bounds of texts. Every method may reject
 * with `StoreUnavailable`.
 */
import type {
  AgentEntity,
  Member,
  MemberRef,
  Metadata,
  ReadMark,
  Space,
  SpaceAccess,
  SpaceKey,
  SpaceMessage,
  SpaceMessageKind,
  SpaceMessageStatus,
} from '../../../protocol/spaces/spaces.js';

export interface NewSpace extends SpaceKey {
  readonly name: string;
  readonly access: SpaceAccess;
  readonly metadata?: Metadata | undefined;
  /** The creator, the first member. */
  readonly creator: NewMember;
  readonly nowMs: number;
}

export interface NewMember extends MemberRef {
  readonly name?: string | undefined;
}

/** `reused`: the id was used for a space with other content, or by another creator. */
export type CreateResult =
  | { readonly outcome: 'created' | 'repeated'; readonly space: Space }
  | { readonly outcome: 'reused' };

/** `full`: the space has as many members as it may have. */
export type JoinResult =
  | { readonly outcome: 'joined' | 'repeated'; readonly member: Member }
  | { readonly outcome: 'unknown_space' | 'full' };

export interface PutMessage extends SpaceKey {
  /** Unique in the space. */
  readonly id: string;
  readonly author: MemberRef;
  readonly kind: SpaceMessageKind;
  /** `complete` for a text. */
  readonly status: SpaceMessageStatus;
  /** The call that the message shows, under the same id in every space. @defaultValue none, as for a text */
  readonly callId?: string | undefined;
  readonly text: string;
  /** Id of a text of the space. */
  readonly replyTo?: string | undefined;
  readonly metadata?: Metadata | undefined;
  readonly nowMs: number;
}

/**
 * | outcome | meaning |
 * |---|---|
 * | `stored` | a new message |
 * | `changed` | a call that was stored before has this status, text and metadata now |
 * | `repeated` | nothing is changed: the same content, or a call that has ended; `message` is the stored one |
 * | `reused` | the id is that of a message with another author, kind or content |
 * | `unknown_reply` | the space has no message that could be replied to under this id; a call never can be |
 */
export type PutResult =
  | { readonly outcome: 'stored' | 'changed' | 'repeated'; readonly message: SpaceMessage }
  | {
      readonly outcome: 'unknown_space' | 'not_a_member' | 'reused' | 'unknown_reply';
    };

/**
 * | outcome | meaning |
 * |---|---|
 * | `moved` | everything up to the message is read |
 * | `kept` | it was read before: a mark never goes back |
 */
export type MarkResult =
  | { readonly outcome: 'moved' | 'kept'; readonly mark: ReadMark }
  | { readonly outcome: 'not_a_member' | 'unknown_message' };

/** @defaultValue all messages */
export type MessageFilter = 'texts' | 'texts_of_agents';

export interface SpacePage {
  readonly spaces: readonly Space[];
  readonly nextCursor?: string;
}

/** Cheap to read; a hub compares it with what it has. */
export interface SpaceHead extends SpaceKey {
  readonly lastChange: number;
  /** Differs after each join and leave. */
  readonly membersVersion: number;
}

/** An agent with texts that it has not been woken for, held until the lease ends. */
export interface ClaimedWake extends SpaceKey, AgentEntity {
  readonly memberId: string;
  /** Texts behind this position are due. */
  readonly afterPosition: number;
  /** Attempts that were begun since the last that succeeded, this one included. */
  readonly attempts: number;
  readonly claim: string;
}

export interface SpaceStore {
  /** Creates a space with its first member. */
  create(space: NewSpace): Promise<CreateResult>;
  space(key: SpaceKey): Promise<Space | undefined>;
  /**
   * Newest first; with a member, its spaces, with the mark of a person.
   * @throws {RangeError} when the cursor is not one of an earlier page
   */
  list(options: {
    readonly tenant: string;
    readonly member?: MemberRef | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<SpacePage>;
  /**
   * Removes a space with its members and messages. False when there is none. Safe to repeat. Agents are woken for none of
   * its messages from the beginning on, also where the removal is cut off and not repeated, until the next text comes.
   */
  remove(key: SpaceKey): Promise<boolean>;
  /** Removes all of a tenant; resolves to their number. Safe to repeat. */
  removeOfTenant(tenant: string): Promise<number>;

  /** Adds a member; a repeat changes nothing. An agent is woken for texts that come from now on. */
  join(
    request: SpaceKey & { readonly member: NewMember; readonly nowMs: number },
  ): Promise<JoinResult>;
  /** False when there is no such member. Safe to repeat. */
  leave(key: SpaceKey, member: MemberRef): Promise<boolean>;
  /** In the order of joining; all, because their number is bounded. */
  members(key: SpaceKey): Promise<readonly Member[]>;
  isMember(key: SpaceKey, member: MemberRef): Promise<boolean>;
  /** The position up to which a member has read; undefined for no member. Messages before its joining count as read. */
  readPosition(key: SpaceKey, member: MemberRef): Promise<number | undefined>;
  /** Marks all messages up to one as read by a member. Safe to repeat. */
  markRead(
    request: SpaceKey & { readonly member: MemberRef; readonly messageId: string },
  ): Promise<MarkResult>;

  /**
   * Stores a message of a member, or moves a call on that its author has stored; then the author need not be a member
   * any more. A text marks every other agent of the space as due to be woken, in the same transaction, and all
   * messages before it as read by its author.
   */
  putMessage(message: PutMessage): Promise<PutResult>;
  message(key: SpaceKey, id: string): Promise<SpaceMessage | undefined>;
  /** The spaces with a message that was stored for a call, in no order; members may have left meanwhile. */
  spacesOfCall(call: {
    readonly tenant: string;
    readonly callId: string;
  }): Promise<readonly SpaceKey[]>;
  /**
   * In the order of positions: the first behind `after`, or the last before `before`, or the newest. With `only`, the
   * limit counts messages of that sort alone, and a read costs no more where others stand between them.
   */
  messages(
    key: SpaceKey,
    options: {
      readonly limit: number;
      readonly only?: MessageFilter | undefined;
      readonly after?: number | undefined;
      readonly before?: number | undefined;
    },
  ): Promise<readonly SpaceMessage[]>;
  /** Messages that were stored or changed behind this number, in the order of their last change. */
  changes(
    key: SpaceKey,
    options: { readonly after: number; readonly limit: number },
  ): Promise<readonly SpaceMessage[]>;
  /** Heads of those spaces that exist, in no order. */
  heads(keys: readonly SpaceKey[]): Promise<readonly SpaceHead[]>;

  /** Takes agents that are due to be woken, longest due first. No other caller gets them until the lease ends. */
  claimWakes(options: {
    readonly limit: number;
    readonly nowMs: number;
    readonly leaseMs: number;
  }): Promise<readonly ClaimedWake[]>;
  /** The first texts of others behind a position, in order: those that an agent is woken for. */
  textsFor(
    wake: ClaimedWake,
    options: { readonly limit: number },
  ): Promise<readonly SpaceMessage[]>;
  /**
   * Records that an agent has been woken for texts up to a position. It stays due for later ones: at once, or from
   * `retryAtMs` on after a failure. False when the agent has left, or another caller has claimed it meanwhile.
   */
  settleWake(
    wake: ClaimedWake,
    result: {
      readonly position: number;
      readonly nowMs: number;
      readonly retryAtMs?: number | undefined;
    },
  ): Promise<boolean>;
}
