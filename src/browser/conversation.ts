/** One conversation of a page: its view, and what the page does to it. */
import type { ClaimVerdict } from '../protocol/calls/claims.js';
import type { ExtendVerdict } from '../protocol/calls/extensions.js';
import type { PluginStatesRead } from '../protocol/calls/plugin-state.js';
import type { Resolution, Verdict } from '../protocol/calls/resolutions.js';
import type { OnBusy } from '../protocol/conversation/agents.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { FilePart, ImagePart } from '../protocol/values/attachments.js';
import type { BlobRef } from '../protocol/values/blobs.js';
import { formatCursor } from '../protocol/values/cursor.js';
import type { JsonSchema } from '../protocol/values/json.js';
import { followedConversation } from './follower.js';
import type { Api } from './net/api.js';
import { follow } from './net/following.js';
import { Listeners } from './net/listeners.js';
import { ApiError, type Problem } from './net/problem.js';
import { newId } from './net/waiting.js';
import type { ToolRegistry } from './tools/registry.js';
import { ToolRunner } from './tools/runner.js';
import type { ToolSettings } from './tools/types.js';
import { ViewModel } from './view/model.js';
import type { ConversationView, Me, UserMessageView } from './view/types.js';

/** The API's answer to a message. `queued`: no worker has taken it yet; it is kept, and `warning` says why. */
export type SentMessage =
  | {
      readonly status: 'admitted';
      readonly conversationId: string;
      readonly requestId: string;
      readonly turnId: string;
      readonly messageId: string;
      readonly seq: number;
      /** Number of turns that come first. */
      readonly ahead: number;
      readonly duplicate: boolean;
    }
  | {
      readonly status: 'queued';
      readonly conversationId: string;
      readonly requestId: string;
      readonly reason: string;
      readonly warning: string;
    };

export interface SendMessageOptions {
  /** Names the message: repeats with the same id are one message. @defaultValue a new one */
  readonly requestId?: string;
  readonly onBusy?: OnBusy;
  readonly attachments?: readonly (ImagePart | FilePart)[];
  /** Schema of the turn's final answer; `false`: a text. */
  readonly output?: JsonSchema | false;
  /** Reopens a closed conversation. */
  readonly reopen?: boolean;
}

export type CancelledTurn =
  | { readonly status: 'done'; readonly cancelled: boolean; readonly turnId?: string }
  | { readonly status: 'queued'; readonly requestId: string; readonly reason: string };

interface Deps {
  readonly api: Api;
  readonly registry: ToolRegistry;
  readonly settings: ToolSettings;
  readonly agent: string | undefined;
  /** Nothing has the id yet. */
  readonly isNew: boolean;
  readonly me: Me | undefined;
}

interface Session {
  readonly leaving: AbortController;
  readonly runner: ToolRunner;
  /** Resolves with the first read, or the refusal of it. */
  readonly read: Promise<void>;
}

/** Events that are read at once: a few dozen turns. */
const PAGE_EVENTS = 200;

export class BrowserConversation {
  readonly id: string;
  readonly #deps: Deps;
  readonly #path: string;
  readonly #model: ViewModel;
  readonly #listeners = new Listeners<[]>();
  #session: Session | undefined;
  #loading: Promise<void> | undefined;
  #hasBegun: boolean;
  /** Of messages that may fail still, or have failed, by request id. */
  readonly #options = new Map<string, SendMessageOptions>();

  constructor(id: string, deps: Deps) {
    this.id = id;
    this.#deps = deps;
    this.#path = `/v1/conversations/${encodeURIComponent(id)}`;
    this.#model = new ViewModel(id, deps.me);
    this.#hasBegun = deps.agent === undefined;
  }

  /** The present view: the same object until something changes. Bound, for `useSyncExternalStore`. */
  readonly getSnapshot = (): ConversationView => this.#model.view;

  /** Calls the listener after each change of the view. Returns how to end that. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  /**
   * Reads the end of the conversation and follows it, over lost connections, until `leave`. Resolves with the view that
   * was read first, or that says why there is none (`connection.state` `refused`). Never rejects; a repeat changes
   * nothing.
   */
  async open(): Promise<ConversationView> {
    if (this.#session === undefined) this.#begin();
    await this.#session?.read;
    return this.#model.view;
  }

  /** Ends the connection and functions that run for the conversation. The view stays; `open` begins again. */
  leave(): void {
    this.#session?.leaving.abort();
    this.#session?.runner.stop();
    this.#session = undefined;
    this.#model.connection = { state: 'off' };
    this.#changed();
  }

  /** Reads the messages before the first that is loaded. @throws {ApiError} */
  async loadOlder(): Promise<void> {
    this.#loading ??= this.#readOlder().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  /**
   * Sends a message, which the view shows at once. Repeated until there is an answer; where there is none, or the API
   * refuses, the message stays with state `failed`: send it again with its `requestId`, which has the options of before
   * that are not given, or `discard` it.
   * @throws {ApiError}
   */
  async send(text: string, options: SendMessageOptions = {}): Promise<SentMessage> {
    const { requestId = newId() } = options;
    const rest = { ...this.#options.get(requestId), ...options };
    const message = { text, ...rest, requestId };
    this.#options.set(requestId, rest);
    const parts = [{ type: 'text' as const, text }, ...(rest.attachments ?? [])];
    const show = (state: UserMessageView['state'], problem?: Problem): void => {
      const shown = { role: 'user' as const, key: requestId, requestId, text, parts, state };
      this.#model.sent(requestId, problem === undefined ? shown : { ...shown, problem });
      this.#changed();
    };
    show('sending');
    try {
      const sent = await this.#sendMessage(message);
      this.#hasBegun = true;
      // A worker may refuse a queued one.
      if (sent.status === 'admitted') this.#options.delete(requestId);
      show('accepted');
      return sent;
    } catch (error) {
      if (error instanceof ApiError) show('failed', error.problem);
      throw error;
    }
  }

  /**
   * Stores a file for `attachments` of a later message, at most 16 MiB; the conversation need not have begun. A repeat
   * stores nothing new: the id names the content. @throws {ApiError}
   */
  async upload(file: Blob): Promise<BlobRef> {
    const { api } = this.#deps;
    const { blob } = await api.change<{ readonly blob: BlobRef }>(
      `${this.#path}/blobs`,
      undefined,
      {
        file,
      },
    );
    return blob;
  }

  /** Takes a message away that failed. */
  discard(requestId: string): void {
    this.#options.delete(requestId);
    this.#model.sent(requestId, undefined);
    this.#changed();
  }

  /**
   * Answers a call that waits. By default the answer is for the arguments that the view shows: where they have changed,
   * it is refused. @throws {ApiError} without a verdict
   */
  async resolve(
    toolCallId: string,
    resolution: Resolution,
    options: {
      readonly requestId?: string;
      readonly argsDigest?: string | undefined;
      readonly claimId?: string;
    } = {},
  ): Promise<Verdict> {
    const shown = this.#model.view.pending.find((call) => call.toolCallId === toolCallId);
    const { requestId = newId(), claimId, argsDigest = shown?.argsDigest } = options;
    // JSON leaves fields out that are undefined.
    const body = { resolution, requestId, argsDigest, claimId };
    return this.#change(`${callPath(toolCallId)}/resolution`, body);
  }

  /**
   * Claims a call of kind `client_execution`, or renews the claim. `lease` in milliseconds, or as words. Functions of
   * registered tools are claimed by themselves. @throws {ApiError} without a verdict
   */
  async claim(
    toolCallId: string,
    options: {
      readonly lease?: number | string;
      readonly claimId?: string;
      /** Refuses to claim the call anew when the claim is over. */
      readonly renewOnly?: true;
      readonly requestId?: string;
    } = {},
  ): Promise<ClaimVerdict> {
    const { requestId = newId(), ...rest } = options;
    return this.#change(`${callPath(toolCallId)}/claim`, { ...rest, requestId });
  }

  /** Moves the deadline of a call: `{ by: '2 hours' }` or `{ until }`, ISO 8601. @throws {ApiError} without a verdict */
  async extend(
    toolCallId: string,
    options: ({ readonly by: number | string } | { readonly until: string }) & {
      readonly requestId?: string;
    },
  ): Promise<ExtendVerdict> {
    return this.#change(`${callPath(toolCallId)}/extend`, { requestId: newId(), ...options });
  }

  /** Stops the running turn, or the one named. @throws {ApiError} */
  async cancel(
    options: {
      readonly turnId?: string;
      readonly reason?: string;
      readonly requestId?: string;
    } = {},
  ): Promise<CancelledTurn> {
    return this.#change('/cancel', { requestId: newId(), ...options });
  }

  /** Closes the conversation for everyone; to end only this page's part, `leave`. @throws {ApiError} */
  async close(): Promise<{ readonly closed: true; readonly seq: number }> {
    return this.#change('/close', {});
  }

  /** The states of plugins, read now. @throws {ApiError} */
  async pluginStates(): Promise<PluginStatesRead> {
    return this.#deps.api.read(`${this.#path}/plugin-states`);
  }

  #begin(): void {
    const { api, registry, settings, agent, isNew } = this.#deps;
    const leaving = new AbortController();
    const { signal } = leaving;
    const runner = new ToolRunner(this.#callPort(), registry, settings);
    const changed = (): void => {
      if (signal.aborted) return;
      runner.look(this.#model.view.pending);
      this.#changed();
    };
    const read = new Promise<void>((resolve) => {
      this.#model.connection = { state: 'connecting' };
      const followed = followedConversation({
        ...{ api, path: this.#path, model: this.#model, pageSize: PAGE_EVENTS, changed },
        mayBegin: agent !== undefined,
        isNew: agent !== undefined && isNew,
      });
      void follow(followed, { signal, onRead: resolve }).then(() => {
        resolve();
        if (this.#session?.leaving === leaving) this.#session = undefined;
        if (!signal.aborted) runner.stop();
      });
    });
    this.#session = { leaving, runner, read };
    this.#changed();
  }

  #callPort(): ConstructorParameters<typeof ToolRunner>[0] {
    return {
      conversationId: this.id,
      pauses: this.#deps.api.timing,
      claim: (toolCallId, options) => this.claim(toolCallId, options),
      resolve: (toolCallId, resolution, options) => this.resolve(toolCallId, resolution, options),
      progress: (toolCallId, claimId, payload) =>
        this.#deps.api.request(`${this.#path}${callPath(toolCallId)}/progress`, {
          method: 'POST',
          body: { claimId, payload },
        }),
    };
  }

  async #sendMessage(
    message: SendMessageOptions & { readonly text: string; readonly requestId: string },
  ): Promise<SentMessage> {
    const { agent } = this.#deps;
    if (this.#hasBegun || this.#model.snapshot !== undefined)
      return this.#change('/messages', message);
    const { requestId, reopen, ...rest } = message;
    const body = { agent, id: this.id, requestId, message: rest };
    return this.#deps.api.change(
      '/v1/conversations',
      reopen === undefined ? body : { ...body, reopen },
    );
  }

  async #readOlder(): Promise<void> {
    const model = this.#model;
    const { cursor, firstSeq } = model;
    if (cursor === undefined || !model.view.hasOlder) return;
    const before = formatCursor({ generation: cursor.generation, seq: firstSeq });
    const page = await this.#deps.api.read<{
      readonly generation: number;
      readonly events: readonly CanonicalEvent[];
      readonly more: boolean;
    }>(`${this.#path}/events`, { query: { before, limit: String(PAGE_EVENTS) } });
    // The log was rewritten meanwhile: the stream brings that, and what is known is read anew.
    if (page.generation !== cursor.generation || model.firstSeq !== firstSeq) return;
    model.addOlder(page.events.toReversed(), page.more);
    this.#changed();
  }

  #change<Value>(path: string, body: object): Promise<Value> {
    return this.#deps.api.change<Value>(`${this.#path}${path}`, body);
  }

  #changed(): void {
    this.#listeners.call();
  }
}

function callPath(toolCallId: string): string {
  return `/tool-calls/${encodeURIComponent(toolCallId)}`;
}
