/** What a page knows of a space. Pure. */
import type {
  Member,
  Space,
  SpaceMessage,
  StreamedArguments,
} from '../../protocol/spaces/spaces.js';
import type { Connection } from '../net/following.js';
import type { OutgoingText, SpaceView } from './types.js';
import { WrittenCalls } from './writing.js';

export interface SpaceMessagesPage {
  readonly messages: readonly SpaceMessage[];
  readonly lastPosition: number;
  readonly lastChange: number;
}

export class SpaceModel {
  /** The last change that was taken from the stream, or read; undefined before the first read. */
  change: number | undefined;
  /** Differs after each `open`. */
  reads = 0;
  readonly #spaceId: string;
  readonly #me: string | undefined;
  #connection: Connection = { state: 'off' };
  #space: SpaceView['space'];
  #members: readonly Member[] = [];
  #messages: ReadonlyMap<string, SpaceMessage> = new Map();
  /** Position of the first message of the view: all from there on are in it, and none before. */
  #first = 1;
  /** Position of the newest message. */
  #lastPosition = 0;
  #readPosition: number | undefined;
  /** Changes of older messages that came while a page of these is read. */
  #changedOlder: SpaceMessage[] | undefined;
  #outgoing: ReadonlyMap<string, OutgoingText> = new Map();
  readonly #written = new WrittenCalls();
  #view: SpaceView | undefined;

  /** @param me Id of the person for whom the space is shown. */
  constructor(spaceId: string, me?: string) {
    this.#spaceId = spaceId;
    this.#me = me;
  }

  /** The same object until something changes. */
  get view(): SpaceView {
    this.#view ??= {
      spaceId: this.#spaceId,
      connection: this.#connection,
      ...(this.#space === undefined ? {} : { space: this.#space }),
      members: this.#members,
      messages: [...this.#messages.values()].sort((one, other) => one.position - other.position),
      outgoing: [...this.#outgoing.values()],
      writing: this.#written.all,
      ...(this.#readPosition === undefined
        ? {}
        : { unread: Math.max(0, this.#lastPosition - this.#readPosition) }),
      hasOlder: this.#first > 1,
    };
    return this.#view;
  }

  /** The position before which `loadOlder` reads. */
  get first(): number {
    return this.#first;
  }

  set connection(connection: Connection) {
    this.#connection = connection;
    if (connection.state === 'off' || connection.state === 'refused') this.#written.clear();
    this.#view = undefined;
  }

  set members(members: readonly Member[]) {
    this.#members = members;
    this.#view = undefined;
  }

  /** Begins with the newest messages, in place of all that was known. */
  open(given: Space, page: SpaceMessagesPage): void {
    const {
      lastPosition: _position,
      lastChange: _change,
      readPosition,
      unread: _unread,
      ...space
    } = given;
    this.#space = space;
    this.#lastPosition = page.lastPosition;
    this.#readPosition = readPosition;
    this.reads += 1;
    this.change = page.lastChange;
    this.#first = page.messages[0]?.position ?? page.lastPosition + 1;
    this.#messages = new Map();
    this.#written.clear();
    this.#put(page.messages);
  }

  /** A message in its newest state; one that is older than the view has no place in it yet. */
  take(message: SpaceMessage): void {
    const { author, kind, position } = message;
    this.#lastPosition = Math.max(this.#lastPosition, position);
    // The author of a text has read what stands before it.
    if (kind === 'text' && author.kind === 'person' && author.id === this.#me) this.read(position);
    if (message.position >= this.#first) this.#put([message]);
    else this.#changedOlder?.push(message);
  }

  /** Whether the caller is a member, whose mark is shown. */
  get hasMark(): boolean {
    return this.#readPosition !== undefined;
  }

  /** The caller has read up to a position. A mark never goes back, so an older one changes nothing. */
  read(position: number): void {
    if (this.#readPosition !== undefined) this.marked(position);
  }

  /** The same where no mark was known: the API has answered the caller, who has joined meanwhile, with its own. */
  marked(position: number): void {
    if (this.#readPosition !== undefined && position <= this.#readPosition) return;
    this.#readPosition = position;
    this.#view = undefined;
  }

  /** Adds a piece of the arguments of a call. Returns the part of it that is new. */
  write(piece: StreamedArguments, nowMs: number): StreamedArguments | undefined {
    const news = this.#written.take(piece, nowMs);
    if (news !== undefined) this.#view = undefined;
    return news;
  }

  /** Takes away calls that no model writes any more. Returns whether there were any. */
  forgetWritten(nowMs: number): boolean {
    const isChanged = this.#written.forget(nowMs);
    if (isChanged) this.#view = undefined;
    return isChanged;
  }

  /** Begins, or ends, to keep changes of older messages, which the page that is read may not have. */
  set readsOlder(reads: boolean) {
    this.#changedOlder = reads ? [] : undefined;
  }

  addOlder({ messages }: SpaceMessagesPage): void {
    // Without an older message there is none.
    this.#first = messages[0]?.position ?? 1;
    const first = this.#first;
    const changed = this.#changedOlder?.filter(({ position }) => position >= first) ?? [];
    this.#put([...messages, ...changed]);
  }

  sent(requestId: string, text: OutgoingText | undefined): void {
    const outgoing = new Map(this.#outgoing);
    if (text === undefined) outgoing.delete(requestId);
    else outgoing.set(requestId, text);
    this.#outgoing = outgoing;
    this.#view = undefined;
  }

  #put(messages: readonly SpaceMessage[]): void {
    const known = new Map(this.#messages);
    // A repeat, or an older state that came late, changes nothing.
    for (const message of messages) {
      if (!known.has(message.id)) this.#written.begins(message);
      if ((known.get(message.id)?.change ?? 0) < message.change) known.set(message.id, message);
    }
    this.#messages = known;
    this.#view = undefined;
  }
}
