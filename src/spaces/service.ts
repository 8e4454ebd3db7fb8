/**
 * Spaces as their members use them: people by the API, agents by their tools. Every method judges who the caller is:
 * to a caller that is no member a space does not exist (`unknown_space`), whether it does or not. An admin sees all
 * spaces of its tenants.
 */
import { ConversationError } from '../client/api/errors.js';
import type { AskedAgents } from '../client/ports/agents.js';
import type { OpenLog } from '../projection/source/open-log.js';
import type { AgentManifest } from '../protocol/conversation/agents.js';
import { MAX_SPACE_MEMBERS, MAX_SPACE_PAGE } from '../protocol/limits/service-limits.js';
import {
  type MessageFields,
  memberProblems,
  messageProblems,
  type SpaceFields,
  spaceProblems,
} from '../protocol/spaces/rules.js';
import {
  isSameMember,
  type Member,
  type MemberRef,
  type Metadata,
  parseAgentMemberId,
  type ReadMark,
  type Space,
  type SpaceAccess,
  type SpaceFrame,
  type SpaceKey,
  type SpaceMessage,
  type SpaceMessageStatus,
} from '../protocol/spaces/spaces.js';
import type { FieldProblem } from '../protocol/values/field-problem.js';
import { idProblem, REUSED } from '../protocol/values/ids.js';
import { markOf } from '../store/plans/space-rows.js';
import { type LiveChannel, type SpaceWriting, spaceLiveKey } from '../store/ports/live.js';
import type { NewMember, PutMessage, SpacePage, SpaceStore } from '../store/ports/spaces/spaces.js';
import { type ShownCall, shownCall } from './calls/answerable.js';
import { callIdOf, messageIdOf, spaceIdOf } from './calls/ids.js';
import { isMemberFor, type MadeCall } from './calls/membership.js';
import { SpaceStreams, type StreamsDeps } from './stream/streams.js';

export interface SpacesDeps extends Omit<StreamsDeps, 'store' | 'live'> {
  readonly store: SpaceStore;
  /** Gets a hint of each change, so that readers of any process see it at once. @defaultValue they poll */
  readonly live?: LiveChannel | undefined;
  /** The agents that may be members. @defaultValue any */
  readonly agents?: ((asked: AskedAgents) => Promise<readonly AgentManifest[]>) | undefined;
  /** Clock of tests. */
  readonly now?: () => number;
}

export interface SpaceCaller {
  readonly tenant: string;
  /** The person, or the agent by `agentMemberId`, with the name that it has where it joins. */
  readonly member: NewMember;
  /** May use every space of the tenant as its members do. @defaultValue false */
  readonly isAdmin?: boolean | undefined;
}

/** Names a request: its repeat by the same caller resolves as the first did. */
export interface Repeatable {
  /** @defaultValue each request is another one */
  readonly requestId?: string | undefined;
}

export interface CreateSpace extends Repeatable, SpaceFields {
  readonly access?: SpaceAccess | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface SendText extends Repeatable {
  readonly text: string;
  /** Id of a text of the space. */
  readonly replyTo?: string | undefined;
}

/** A call as the space shows it. A repeat with another status, text or metadata changes the message. */
export interface ShowCall extends Required<Repeatable> {
  readonly requestId: string;
  readonly status: SpaceMessageStatus;
  readonly text?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface ReadMessages {
  /** At most `MAX_SPACE_PAGE`. */
  readonly limit: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  /** Leaves out so many of the newest; not together with `after` or `before`. */
  readonly offset?: number | undefined;
}

export interface MessagePage {
  /** In the order of positions. */
  readonly messages: readonly SpaceMessage[];
  readonly lastPosition: number;
  /** A stream after this change brings everything that the page does not have. */
  readonly lastChange: number;
}

export class Spaces {
  readonly #deps: SpacesDeps;
  readonly #store: SpaceStore;
  readonly #streams: SpaceStreams;
  readonly #now: () => number;

  constructor(deps: SpacesDeps) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#streams = new SpaceStreams(deps);
    this.#now = deps.now ?? Date.now;
  }

  /** Creates a space with the caller as its first member. @throws {ConversationError} invalid_request */
  async create(caller: SpaceCaller, given: CreateSpace): Promise<Space> {
    const { name, access = 'invited', metadata, requestId } = given;
    refuse([...spaceProblems(given), ...memberProblems(caller.member)]);
    const { tenant, member } = caller;
    const result = await this.#store.create({
      ...{ tenant, spaceId: spaceIdOf(tenant, member, requestId) },
      ...{ name, access, metadata, creator: member, nowMs: this.#now() },
    });
    if (result.outcome === 'reused') throw invalid(REUSED);
    const { space } = result;
    const key = { tenant, spaceId: space.id };
    return withMark(space, member, await this.#store.readPosition(key, member));
  }

  /**
   * The spaces of which the caller is a member, with its marks; with `all`, which is for admins, all of the tenant. Newest
   * first.
   */
  async list(
    { tenant, member, isAdmin = false }: SpaceCaller,
    options: {
      readonly limit: number;
      readonly cursor?: string | undefined;
      readonly all?: boolean;
    },
  ): Promise<SpacePage> {
    const { limit, cursor, all = false } = options;
    if (all && !isAdmin)
      throw new ConversationError('forbidden', 'All spaces are listed for admins only');
    const of = all ? {} : { member };
    return await this.#store.list({
      tenant,
      ...of,
      limit: Math.min(limit, MAX_SPACE_PAGE),
      cursor,
    });
  }

  /** With the mark of a person who is a member. @throws {ConversationError} unknown_space */
  async get(caller: SpaceCaller, spaceId: string): Promise<Space> {
    const key = keyOf(caller, spaceId);
    const [space, position] = await Promise.all([
      this.#store.space(key),
      this.#store.readPosition(key, caller.member),
    ]);
    const isMember = position !== undefined;
    if (space === undefined || !(isMember || caller.isAdmin === true)) throw unknown(spaceId);
    return withMark(space, caller.member, position);
  }

  /** @throws {ConversationError} unknown_space */
  async remove(caller: SpaceCaller, spaceId: string): Promise<void> {
    const key = await this.#keyFor(caller, spaceId);
    await this.#store.remove(key);
    this.#hint(key, 0);
  }

  /**
   * Adds a member. Callers join open spaces themselves; members add others, and admins anyone. Safe to repeat.
   * @throws {ConversationError} unknown_space, unknown_agent, too_many_members, invalid_request
   */
  async join(caller: SpaceCaller, spaceId: string, member: NewMember): Promise<Member> {
    refuse(memberProblems(member));
    const space = await this.#store.space(keyOf(caller, spaceId));
    const joinsOpen = space?.access === 'open' && isSameMember(caller.member, member);
    const key = joinsOpen ? keyOf(caller, spaceId) : await this.#keyFor(caller, spaceId);
    if (member.kind === 'agent') await this.#requireAgent(caller, member);
    const result = await this.#store.join({ ...key, member, nowMs: this.#now() });
    if (!('member' in result)) {
      if (result.outcome === 'unknown_space') throw unknown(spaceId);
      const message = `A space may have at most ${MAX_SPACE_MEMBERS} members`;
      throw new ConversationError('too_many_members', message);
    }
    this.#hint(key, 0);
    return result.member;
  }

  /**
   * Removes a member: the caller itself, or an agent; other persons only by an admin. False when there is none.
   * @throws {ConversationError} unknown_space, forbidden
   */
  async leave(caller: SpaceCaller, spaceId: string, member: MemberRef): Promise<boolean> {
    const key = await this.#keyFor(caller, spaceId);
    refuse(memberProblems(member));
    const mayRemove = member.kind === 'agent' || isSameMember(caller.member, member);
    if (!mayRemove && caller.isAdmin !== true)
      throw new ConversationError('forbidden', 'Another person is removed by an admin only');
    const left = await this.#store.leave(key, member);
    if (left) this.#hint(key, 0);
    return left;
  }

  /** In the order of joining. @throws {ConversationError} unknown_space */
  async members(caller: SpaceCaller, spaceId: string): Promise<readonly Member[]> {
    return await this.#store.members(await this.#keyFor(caller, spaceId));
  }

  /** @throws {ConversationError} unknown_space, not_a_member (an admin), invalid_request */
  async send(caller: SpaceCaller, spaceId: string, given: SendText): Promise<SpaceMessage> {
    const { text, replyTo } = given;
    return await this.#put(caller, {
      ...{ key: keyOf(caller, spaceId), requestId: given.requestId },
      ...{ kind: 'text', status: 'complete', text, replyTo, metadata: undefined },
    });
  }

  /**
   * Shows a call of the caller, or moves the message of one on, then also after the caller has left.
   * @throws {ConversationError} unknown_space, not_a_member (an admin), invalid_request
   */
  async show(caller: SpaceCaller, spaceId: string, given: ShowCall): Promise<SpaceMessage> {
    const { requestId, status, text = '', metadata } = given;
    return await this.#put(caller, {
      ...{ key: keyOf(caller, spaceId), requestId },
      callId: callIdOf(caller.tenant, caller.member, requestId),
      ...{ kind: 'tool', status, text, replyTo: undefined, metadata },
    });
  }

  /**
   * Marks all messages up to one as read by the caller. A mark never goes back, so a repeat, or one that comes late,
   * changes nothing. @throws {ConversationError} unknown_space, not_a_member (an admin), invalid_request
   */
  async read(caller: SpaceCaller, spaceId: string, messageId: string): Promise<ReadMark> {
    const key = await this.#keyFor(caller, spaceId);
    const { kind, id } = caller.member;
    const result = await this.#store.markRead({ ...key, member: { kind, id }, messageId });
    if ('mark' in result) {
      const { mark, outcome } = result;
      if (outcome === 'moved') this.#marked(key, caller.member, mark.readPosition);
      return mark;
    }
    if (result.outcome === 'unknown_message')
      throw invalid({ path: '/messageId', message: 'must be the id of a message of the space' });
    throw notAMember(caller, spaceId);
  }

  /** Shows to present readers what the caller's model writes. Readers leave out that of an agent that is no member. */
  writes({ tenant }: SpaceCaller, spaceId: string, writing: SpaceWriting): void {
    this.#deps.live?.publish({ type: 'writing', ...spaceLiveKey({ tenant, spaceId }), writing });
  }

  /**
   * The call that a message shows, for a member that answers it; undefined where the message does not exist or shows
   * none. @throws {ConversationError} unknown_space, forbidden (an admin who is no member)
   */
  async call(
    caller: SpaceCaller,
    spaceId: string,
    messageId: string,
  ): Promise<ShownCall | undefined> {
    const key = await this.#keyFor(caller, spaceId);
    if (!(await this.#store.isMember(key, caller.member)))
      throw new ConversationError('forbidden', 'Only members answer calls: join the space first');
    const message = await this.#store.message(key, messageId);
    return message === undefined ? undefined : shownCall(key.tenant, message);
  }

  /** Whether a person is a member of a space that shows a call; undefined where none shows it. */
  async isMemberFor(call: MadeCall, person: MemberRef): Promise<boolean | undefined> {
    return await isMemberFor(this.#store, call, person);
  }

  /** @throws {ConversationError} unknown_space */
  async messages(
    caller: SpaceCaller,
    spaceId: string,
    { limit, after, before, offset }: ReadMessages,
  ): Promise<MessagePage> {
    // Read first: what is stored meanwhile comes again by the stream, and nothing is left out.
    const { tenant, lastPosition, lastChange } = await this.get(caller, spaceId);
    const messages = await this.#store.messages(
      { tenant, spaceId },
      {
        limit: Math.min(limit, MAX_SPACE_PAGE),
        after,
        // Positions have no gap, so the offset from the newest is a position.
        before: offset === undefined ? before : Math.max(1, lastPosition - offset + 1),
      },
    );
    return { messages, lastPosition, lastChange };
  }

  /**
   * New messages and changes of messages after a change, until the signal aborts, the space is deleted or the caller is
   * no member any more. @throws {ConversationError} unknown_space; {StoreUnavailable}
   */
  async watch(
    caller: SpaceCaller,
    spaceId: string,
    options: { readonly after?: number | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<SpaceFrame>> {
    const key = await this.#keyFor(caller, spaceId);
    const reader = caller.isAdmin === true ? undefined : caller.member;
    return await this.#streams.watch(key, { ...options, reader, person: caller.member });
  }

  /** @throws {ConversationError} unknown_space */
  async #keyFor(caller: SpaceCaller, spaceId: string): Promise<SpaceKey> {
    const { tenant } = await this.get(caller, spaceId);
    return { tenant, spaceId };
  }

  async #put(
    caller: SpaceCaller,
    {
      key,
      requestId,
      ...given
    }: Omit<MessageFields, 'id'> &
      Pick<PutMessage, 'status' | 'metadata' | 'callId'> &
      Repeatable & { readonly key: SpaceKey },
  ): Promise<SpaceMessage> {
    const { kind, id: member } = caller.member;
    const author = { kind, id: member };
    const id = messageIdOf(key, author, requestId);
    refuse([...messageProblems({ ...given, id }), ...memberProblems(author)]);
    const result = await this.#store.putMessage({
      ...key,
      ...given,
      id,
      author,
      nowMs: this.#now(),
    });
    if ('message' in result) {
      const { outcome, message } = result;
      if (outcome !== 'repeated') this.#hint(key, message.change);
      // The store moves the mark of an author with the text.
      if (outcome === 'stored' && message.kind === 'text')
        this.#marked(key, caller.member, message.position);
      return message;
    }
    switch (result.outcome) {
      case 'reused':
        throw invalid(REUSED);
      case 'unknown_reply':
        throw invalid({ path: '/replyTo', message: 'must be the id of a text of the space' });
      case 'unknown_space':
        throw unknown(key.spaceId);
      case 'not_a_member':
        throw notAMember(caller, key.spaceId);
    }
  }

  async #requireAgent({ tenant }: SpaceCaller, { id }: MemberRef): Promise<void> {
    const named = parseAgentMemberId(id)?.agent;
    const agents = await this.#deps.agents?.({ tenant, name: named ?? '' });
    if (agents?.some(({ name }) => name === named) === false)
      throw new ConversationError('unknown_agent', `No agent "${named ?? ''}"`);
  }

  /** Shows the mark of a person to its other tabs; an agent has none. */
  #marked(key: SpaceKey, { kind, id: personId }: MemberRef, position: number): void {
    if (kind !== 'person') return;
    const read = { personId, position };
    this.#deps.live?.publish({ type: 'read', ...spaceLiveKey(key), read });
  }

  /** Readers read the head of the space again; the number is for people who look at the channel. */
  #hint(key: SpaceKey, change: number): void {
    this.#deps.live?.publish({
      ...{ type: 'appended', ...spaceLiveKey(key), generation: 0, lastSeq: change },
    });
  }
}

/** The spaces of an opened event log. Undefined: adapters of the application that have none. */
export function spacesFrom(
  { spaces: store, live }: Pick<OpenLog, 'spaces' | 'live'>,
  options: Pick<SpacesDeps, 'agents' | 'logger'> = {},
): Spaces | undefined {
  return store === undefined ? undefined : new Spaces({ store, live, ...options });
}

/** @throws {ConversationError} unknown_space for a text that is the id of no space */
function keyOf({ tenant }: SpaceCaller, spaceId: string): SpaceKey {
  if (idProblem('id', spaceId) !== undefined) throw unknown(spaceId);
  return { tenant, spaceId };
}

function unknown(spaceId: string): ConversationError {
  return new ConversationError('unknown_space', `No space "${spaceId}"`);
}

/** The space with the mark of a person; a position that is undefined is that of no member. */
function withMark(space: Space, { kind }: MemberRef, position: number | undefined): Space {
  if (position === undefined || kind !== 'person') return space;
  return { ...space, ...markOf(position, space.lastPosition) };
}

/** Only an admin may learn that the space exists. */
function notAMember({ isAdmin }: SpaceCaller, spaceId: string): ConversationError {
  return isAdmin === true
    ? new ConversationError('not_a_member', 'Only members write: join the space first')
    : unknown(spaceId);
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(...problems);
}

function invalid(...problems: readonly FieldProblem[]): ConversationError {
  const text = problems.map(({ path, message }) => `${path.slice(1)} ${message}`).join('; ');
  return new ConversationError('invalid_request', text, { problems });
}
