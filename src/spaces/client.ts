/** Spaces for the code of an application, such as a job: it writes under a name of its own, and sees every space. */
import { ConversationError } from '../client/api/errors.js';
import { MAX_SPACE_PAGE } from '../protocol/limits/service-limits.js';
import {
  type AgentEntity,
  agentMemberId,
  type Member,
  type Space,
  type SpaceMessage,
} from '../protocol/spaces/spaces.js';
import type { Actor } from '../protocol/values/actors.js';
import type { NewMember, SpacePage } from '../store/ports/spaces/spaces.js';
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
    const caller = this.#caller(as);
    const { id } = await this.#spaces.create(caller, given);
    return new SpaceHandle(this.#spaces, caller, id);
  }

  /** Spaces of the tenant, newest first; with `of: 'actor'` those of which the actor is a member. */
  async list(
    options: ActsAs & {
      /** @defaultValue 100, the most */
      readonly limit?: number;
      readonly cursor?: string;
      /** @defaultValue 'tenant' */
      readonly of?: 'actor' | 'tenant';
    } = {},
  ): Promise<SpacePage> {
    const { limit = MAX_SPACE_PAGE, cursor, of = 'tenant', ...as } = options;
    return await this.#spaces.list(this.#caller(as), { limit, cursor, all: of === 'tenant' });
  }

  /** The space with this id. Reads nothing: a space that does not exist fails its methods with `unknown_space`. */
  space(id: string, as: ActsAs = {}): SpaceHandle {
    return new SpaceHandle(this.#spaces, this.#caller(as), id);
  }

  #caller({ actor = this.#defaults.actor, tenant = this.#defaults.tenant }: ActsAs): SpaceCaller {
    if (actor === undefined)
      throw new ConversationError(
        'invalid_request',
        'actor is missing: name the person or job, here or in the options of openColloquy',
      );
    return { tenant: tenant ?? 'default', member: personOf(actor), isAdmin: true };
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
    return await this.#spaces.send(this.#caller, this.id, { text, ...more });
  }

  /** The newest messages, in the order of positions. */
  async messages(options: Partial<ReadMessages> = {}): Promise<MessagePage> {
    return await this.#spaces.messages(this.#caller, this.id, {
      limit: MAX_SPACE_PAGE,
      ...options,
    });
  }

  /** Deletes the space with its members and messages. */
  async delete(): Promise<void> {
    await this.#spaces.remove(this.#caller, this.id);
  }
}

function personOf({ id, name }: Pick<Actor, 'id' | 'name'>): NewMember {
  return { kind: 'person', id, ...(name === undefined || name.trim() === '' ? {} : { name }) };
}

function memberOf(member: MemberGiven): NewMember {
  return 'agent' in member ? { kind: 'agent', id: agentMemberId(member) } : personOf(member);
}
