/** One space of a page: its view, and what the page does to it. */
import type { Resolution, Verdict } from '../../protocol/calls/resolutions.js';
import type { Member, MemberRef, ReadMark, SpaceMessage } from '../../protocol/spaces/spaces.js';
import type { SpaceEvent } from '../../protocol/spaces/tool-events.js';
import type { Api, WithApi } from '../net/api.js';
import { follow } from '../net/following.js';
import { Listeners } from '../net/listeners.js';
import { ApiError, type Problem } from '../net/problem.js';
import { newId } from '../net/waiting.js';
import { followedSpace } from './follower.js';
import { type SpaceMessagesPage, SpaceModel } from './model.js';
import type { NamedMember, OutgoingText, SpaceView } from './types.js';

interface Deps {
  readonly api: Api;
  /** Id of the person that the page acts for. */
  readonly me: string | undefined;
}

interface Session {
  readonly stopping: AbortController;
  /** Resolves with the first read, or the refusal of it. */
  readonly read: Promise<void>;
}

const PAGE_MESSAGES = 50;

/** One space of a client of `colloquy/browser`. The space need not exist: `open` says so. */
export function spaceOf(client: WithApi, id: string): BrowserSpace {
  return new BrowserSpace(id, { api: client.api, me: client.me?.id });
}

export class BrowserSpace {
  readonly id: string;
  readonly #deps: Deps;
  readonly #path: string;
  readonly #model: SpaceModel;
  readonly #listeners = new Listeners<[]>();
  readonly #eventListeners = new Listeners<[SpaceEvent]>();
  #session: Session | undefined;
  #loading: Promise<void> | undefined;

  constructor(id: string, deps: Deps) {
    this.id = id;
    this.#deps = deps;
    this.#path = `/v1/spaces/${encodeURIComponent(id)}`;
    this.#model = new SpaceModel(id, deps.me);
  }

  /** The present view: the same object until something changes. Bound, for `useSyncExternalStore`. */
  readonly getSnapshot = (): SpaceView => this.#model.view;

  /** Calls the listener after each change of the view. Returns how to end that. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  /**
   * Calls the listener with each event of the stream while the space is open: messages, `tool.started`,
   * `tool.streaming`, `tool.done`, `tool.error`. Each comes once and none is left out, over lost connections, after
   * those that `open` has read. After `reset` the view is read anew, and what it then has comes as no event. An error
   * of a listener is an uncaught error of the page, and the others have the event all the same. Returns how to end
   * that. Bound.
   */
  readonly listen = (listener: (event: SpaceEvent) => void): (() => void) =>
    this.#eventListeners.add(listener);

  /**
   * Reads the newest messages and follows the space, over lost connections, until `stop`, or until the signal aborts.
   * Resolves with the view that was read first, or that says why there is none (`connection.state` `refused`). Never
   * rejects; a repeat changes nothing.
   */
  async open({ signal }: { readonly signal?: AbortSignal } = {}): Promise<SpaceView> {
    if (signal?.aborted === true) return this.#model.view;
    this.#session ??= this.#begin();
    const { read, stopping } = this.#session;
    signal?.addEventListener('abort', () => this.#stop(stopping), { signal: stopping.signal });
    await read;
    return this.#model.view;
  }

  /** Ends the connection, not the membership. The view stays; `open` begins again. */
  stop(): void {
    if (this.#session !== undefined) this.#stop(this.#session.stopping);
  }

  /** Reads the messages before the first that is loaded. @throws {ApiError} */
  async loadOlder(): Promise<void> {
    this.#loading ??= this.#readOlder().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  /**
   * Sends a text, which the view shows as outgoing at once. Repeated until there is an answer; where there is none, or
   * the API refuses, it stays with state `failed`: send it again with its `requestId`, or `discard` it.
   * @throws {ApiError}
   */
  async send(
    text: string,
    {
      requestId = newId(),
      replyTo,
    }: { readonly requestId?: string; readonly replyTo?: string } = {},
  ): Promise<SpaceMessage> {
    const fields = { requestId, text, ...(replyTo === undefined ? {} : { replyTo }) };
    const show = (state: OutgoingText['state'], problem?: Problem): void => {
      const shown = { ...fields, state };
      this.#model.sent(requestId, problem === undefined ? shown : { ...shown, problem });
      this.#changed();
    };
    show('sending');
    try {
      const message = await this.#change<SpaceMessage>('/messages', fields);
      // Before the first read, and while the space is read anew, the message comes with that read.
      if (this.#model.change !== undefined) this.#model.take(message);
      this.#model.sent(requestId, undefined);
      this.#changed();
      return message;
    } catch (error) {
      if (error instanceof ApiError) show('failed', error.problem);
      throw error;
    }
  }

  /** Takes an outgoing text away that failed. */
  discard(requestId: string): void {
    this.#model.sent(requestId, undefined);
    this.#changed();
  }

  /**
   * Answers the call that a message of kind `tool` shows; `metadata.waitsFor` is the kind of its wait. Repeated until
   * there is a verdict. @throws {ApiError} without a verdict
   */
  async answer(
    messageId: string,
    resolution: Resolution,
    options: {
      readonly requestId?: string;
      readonly argsDigest?: string;
      readonly claimId?: string;
    } = {},
  ): Promise<Verdict> {
    const body = { resolution, requestId: newId(), ...options };
    return await this.#change(`/messages/${encodeURIComponent(messageId)}/resolution`, body);
  }

  /**
   * Marks all messages up to one as read, by default up to the newest of the view. A mark never goes back, so a repeat
   * is safe. Undefined where there is no message. @throws {ApiError}
   */
  async read(
    messageId: string | undefined = this.#model.view.messages.at(-1)?.id,
  ): Promise<ReadMark | undefined> {
    if (messageId === undefined) return undefined;
    const mark = await this.#change<ReadMark>('/read', { messageId });
    this.#model.marked(mark.readPosition);
    this.#changed();
    return mark;
  }

  /** Joins an open space as the caller of the API. Safe to repeat. @throws {ApiError} */
  async join(): Promise<Member> {
    return await this.#change('/members', {});
  }

  /** Adds a person or an agent. Safe to repeat. @throws {ApiError} */
  async add(member: NamedMember): Promise<Member> {
    return await this.#change('/members', { member });
  }

  /** Leaves the space; the view ends as `refused`. @throws {ApiError}; {TypeError} for a client without `me` */
  async leave(): Promise<boolean> {
    const { me } = this.#deps;
    if (me === undefined) throw new TypeError('leave: createBrowserClient needs me: { id }');
    return await this.remove({ kind: 'person', id: me });
  }

  /** Removes a member; other persons only as an admin. False when there is none. Safe to repeat. @throws {ApiError} */
  async remove({ kind, id }: MemberRef): Promise<boolean> {
    const path = `${this.#path}/members/${kind}/${encodeURIComponent(id)}`;
    const { removed } = await this.#deps.api.change<{ readonly removed: boolean }>(
      path,
      undefined,
      {
        method: 'DELETE',
      },
    );
    return removed;
  }

  /** Deletes the space for all members. @throws {ApiError} */
  async delete(): Promise<void> {
    await this.#deps.api.change(this.#path, undefined, { method: 'DELETE' });
  }

  #begin(): Session {
    const stopping = new AbortController();
    const { signal } = stopping;
    this.#model.connection = { state: 'connecting' };
    const changed = (): void => {
      if (!signal.aborted) this.#changed();
    };
    const followed = followedSpace({
      ...{ api: this.#deps.api, path: this.#path, model: this.#model },
      ...{ pageSize: PAGE_MESSAGES, changed },
      happened: (event) => {
        this.#eventListeners.call(event);
      },
    });
    const read = new Promise<void>((resolve) => {
      void follow(followed, { signal, onRead: resolve }).then(() => {
        resolve();
        if (this.#session?.stopping === stopping) this.#session = undefined;
      });
    });
    this.#changed();
    return { stopping, read };
  }

  #stop(stopping: AbortController): void {
    stopping.abort();
    if (this.#session?.stopping !== stopping) return;
    this.#session = undefined;
    this.#model.connection = { state: 'off' };
    this.#changed();
  }

  async #readOlder(): Promise<void> {
    const model = this.#model;
    const { first, reads } = model;
    if (model.change === undefined || !model.view.hasOlder) return;
    model.readsOlder = true;
    try {
      const query = { before: String(first), limit: String(PAGE_MESSAGES) };
      const path = `${this.#path}/messages`;
      const page = await this.#deps.api.read<SpaceMessagesPage>(path, { query });
      // Where the space was read anew meanwhile, changes of these messages may be missing.
      if (model.reads === reads) model.addOlder(page);
    } finally {
      model.readsOlder = false;
    }
    this.#changed();
  }

  #change<Value>(path: string, body: object): Promise<Value> {
    return this.#deps.api.change<Value>(`${this.#path}${path}`, body);
  }

  #changed(): void {
    this.#listeners.call();
  }
}
