/** Spaces for the code of an application, such as a job: it writes under a name of its own, and sees every space. */
import { checkNumber, stampActor } from '../client/api/checks.js';
import { invalidField } from '../client/api/errors.js';
import { MAX_SPACE_PAGE, MAX_SPACE_POSITION } from '../protocol/limits/service-limits.js';
import {
  type AgentEntity,
  agentMemberId,
  type Member,
  type ReadMark,
  type Space,
  type SpaceMessage,
} from '../protocol/spaces/spaces.js';
import { eventsOf, type SpaceEvent } from '../protocol/spaces/tool-events.js';
import type { Actor } from '../protocol/values/actors.js';
import { DEFAULT_TENANT, idProblem, requestIdProblem } from '../protocol/values/ids.js';
import { isRecord } from '../protocol/values/json.js';
import type { NewMember, SpacePage } from '../store/ports/spaces/spaces.js';
import type { MadeCall } from './calls/membership.js';
import type {
  CreateSpace,
  MessagePage,
  ReadMessages,
  SendText,
  SpaceCaller,
  Spaces,
} from './service.js';

/** A person by the id of its actor, or an agent by its conversation. */
export type MemberGiven = Pick<Actor, 'id' | 'name'> | AgentEntity;

export interface ActsAs {
  /** The person who acts, or the job. @defaultValue the actor of the application */
  readonly actor?: Pick<Actor, 'id' | 'name'> | undefined;
  /** @defaultValue the tenant of the application */
  readonly tenant?: string | undefined;
}

export interface FollowSpace {
  /**
   * The place of the reader: `change` of the last message that it has, or `lastChange` of a page of messages.
   * @defaultValue the newest change
   */
  readonly after?: number | undefined;
  /** Ends the events. @defaultValue they end when the reader stops, or the space is deleted */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates and finds spaces. The application may read, change and delete each space of its tenants; to write in one, the
 * actor joins it first.
 * @example
 * const space = await colloquy.spaces.create({ name: 'Refunds', requestId: 'refunds-1' });
 * await space.add({ conversationId: 'desk-1', agent: 'support' });
 * await space.send('Order 42 was never delivered', { requestId: 'm-1' });
 */
export class SpaceClient {
  readonly #spaces: Spaces;
  readonly #defaults: ActsAs;

  constructor(spaces: Spaces, defaults: ActsAs) {
    this.#spaces = spaces;
    this.#defaults = defaults;
  }

  /**
   * Creates a space with the actor as its first member. With the `requestId` of an earlier one, it is the same space.
   * @throws {ConversationError} invalid_request naming the field and its rule
   */
  async create(given: CreateSpace, as: ActsAs = {}): Promise<SpaceHandle> {
    checkRequest(given);
    const caller = this.#caller(as);
    const { id } = await this.#spaces.create(caller, given);
    return new SpaceHandle(this.#spaces, caller, id);
  }

  /**
   * Spaces of the tenant, newest first; with `of: 'actor'` those of which the actor is a member.
   * @throws {ConversationError} invalid_request
   */
  async list(
    options: ActsAs & {
      /** @defaultValue 100, the most */
      readonly limit?: number | undefined;
      readonly cursor?: string | undefined;
      /** @defaultValue 'tenant' */
      readonly of?: 'actor' | 'tenant' | undefined;
    } = {},
  ): Promise<SpacePage> {
    const { limit = MAX_SPACE_PAGE, cursor, of = 'tenant', ...as } = options;
    checkNumber('limit', limit, { least: 1, most: MAX_SPACE_PAGE });
    if (cursor !== undefined && !(typeof cursor === 'string' && /^\d{1,15}$/.test(cursor)))
      throw invalidField('/cursor', 'must be the nextCursor of an earlier page');
    if (!['actor', 'tenant'].includes(of)) throw invalidField('/of', 'must be actor or tenant');
    return await this.#spaces.list(this.#caller(as), { limit, cursor, all: of === 'tenant' });
  }

  /** The space with this id. Reads nothing: a space that does not exist fails its methods with `unknown_space`. */
  space(id: string, as: ActsAs = {}): SpaceHandle {
    return new SpaceHandle(this.#spaces, this.#caller(as), id);
  }

  /**
   * Whether a person, by the id of its actor, is a member of the space that shows a call of an agent; undefined where no
   * space shows it. `hsafaRoutes` judges by it whose answers a call takes.
   */
  async isMemberFor(call: MadeCall, personId: string): Promise<boolean | undefined> {
    return await this.#spaces.isMemberFor(call, { kind: 'person', id: personId });
  }

  /** @throws {ConversationError} invalid_request */
  #caller({ actor = this.#defaults.actor, tenant = this.#defaults.tenant }: ActsAs): SpaceCaller {
    const problem = tenant === undefined ? undefined : idProblem('tenant', tenant);
    if (problem !== undefined) throw invalidField('/tenant', problem);
    if (actor === undefined)
      throw invalidField(
        '/actor',
        'actor is missing: name the person or job, here or in the options of openColloquy',
      );
    stampActor(actor, 'client');
    return { tenant: tenant ?? DEFAULT_TENANT, member: personOf(actor), isAdmin: true };
  }
}

/** One space, for one actor. Methods fail with `unknown_space` where it does not exist, and store nothing then. */
export class SpaceHandle {
  readonly id: string;
  readonly #spaces: Spaces;
  readonly #caller: SpaceCaller;

  constructor(spaces: Spaces, caller: SpaceCaller, id: string) {
    this.#spaces = spaces;
    this.#caller = caller;
    this.id = id;
  }

  async get(): Promise<Space> {
    return await this.#spaces.get(this.#caller, this.id);
  }

  /** In the order of joining. */
  async members(): Promise<readonly Member[]> {
    return await this.#spaces.members(this.#caller, this.id);
  }

  /** Adds the actor. Safe to repeat. */
  async join(): Promise<Member> {
    return await this.#spaces.join(this.#caller, this.id, this.#caller.member);
  }

  /** Adds a person or an agent. Safe to repeat. @throws {ConversationError} unknown_agent, too_many_members */
  async add(member: MemberGiven): Promise<Member> {
    return await this.#spaces.join(this.#caller, this.id, memberOf(member));
  }

  /** Removes a member, by default the actor. False when it was none. */
  async remove(member?: MemberGiven): Promise<boolean> {
    const removed = member === undefined ? this.#caller.member : memberOf(member);
    return await this.#spaces.leave(this.#caller, this.id, removed);
  }

  /**
   * Writes a text, which wakes each agent of the space. With the `requestId` of an earlier one, it is the same text.
   * @throws {ConversationError} not_a_member, invalid_request
   */
  async send(text: string, more: Omit<SendText, 'text'> = {}): Promise<SpaceMessage> {
    checkRequest(more);
    return await this.#spaces.send(this.#caller, this.id, { ...more, text });
  }

  /**
   * Marks all messages up to one as read by the actor; never moves back.
   * @throws {ConversationError} not_a_member, invalid_request
   */
  async read(messageId: string): Promise<ReadMark> {
    if (typeof messageId !== 'string') throw invalidField('/messageId', 'must be a text');
    return await this.#spaces.read(this.#caller, this.id, messageId);
  }

  /**
   * The newest messages, in the order of positions; at most one of `before`, `after` and `offset`.
   * @throws {ConversationError} invalid_request
   */
  async messages(options: Partial<ReadMessages> = {}): Promise<MessagePage> {
    const { limit = MAX_SPACE_PAGE, before, after, offset } = options;
    checkNumber('limit', limit, { least: 1, most: MAX_SPACE_PAGE });
    const places = Object.entries({ before, after, offset }).filter(([, at]) => at !== undefined);
    for (const [name, at] of places) checkNumber(name, at, { least: 0, most: MAX_SPACE_POSITION });
    const [, second] = places;
    if (second !== undefined)
      throw invalidField(`/${second[0]}`, 'must be the only one of before, after and offset');
    const page = { limit, before, after, offset };
    return await this.#spaces.messages(this.#caller, this.id, page);
  }

  /**
   * Messages and states of calls from now on, or after a place, over outages of the store, and the arguments of visible
   * calls as models write them. A reader that begins again after the `change` of its last message misses none.
   * @throws {ConversationError} invalid_request, with the first event as all failures
   */
  async *follow({ after, signal }: FollowSpace = {}): AsyncGenerator<SpaceEvent, void, undefined> {
    if (after !== undefined) checkNumber('after', after, { least: 0, most: MAX_SPACE_POSITION });
    const left = new AbortController();
    const signals = [left.signal, ...(signal === undefined ? [] : [signal])];
    const options = { after, signal: AbortSignal.any(signals) };
    try {
      const frames = await this.#spaces.watch(this.#caller, this.id, options);
      for await (const frame of frames) yield* eventsOf(frame);
    } finally {
      left.abort();
    }
  }

  /** Deletes the space with its members and messages. */
  async delete(): Promise<void> {
    await this.#spaces.remove(this.#caller, this.id);
  }
}

/** A blank name is none; the service judges what is no text. */
function personOf({ id, name }: Pick<Actor, 'id' | 'name'>): NewMember {
  const isBlank = name === undefined || (typeof name === 'string' && name.trim() === '');
  return { kind: 'person', id, ...(isBlank ? {} : { name }) };
}

/** @throws {ConversationError} invalid_request */
function memberOf(member: MemberGiven): NewMember {
  const given: unknown = member;
  if (!isRecord(given)) throw invalidField('/member', 'must be an object');
  if (!('agent' in member)) return personOf(member);
  for (const field of ['conversationId', 'agent'] as const) {
    const problem = idProblem(field, member[field]);
    if (problem !== undefined) throw invalidField(`/${field}`, problem);
  }
  return { kind: 'agent', id: agentMemberId(member) };
}

/** @throws {ConversationError} invalid_request */
function checkRequest(given: { readonly requestId?: string | undefined }): void {
  if (!isRecord(given)) throw invalidField('', 'must be an object');
  const { requestId } = given;
  const problem = requestId === undefined ? undefined : requestIdProblem('requestId', requestId);
  if (problem !== undefined) throw invalidField('/requestId', problem);
}
