/**
 * The view of one conversation from all that is known of it: a snapshot, the loaded end of the log, live events, and
 * messages that are on their way. The log decides; live events only fill in what it does not have yet.
 */

import { NO_USAGE } from '../../core/state/usage.js';
import { foldView } from '../../core/view/view.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { LiveView, type StreamedAnswer } from '../../protocol/log/live-view.js';
import type { LogCursor } from '../../protocol/values/cursor.js';
import type { Json } from '../../protocol/values/json.js';
import { defined } from '../net/defined.js';
import type { Connection } from '../net/following.js';
import { type Settled, Settler } from './settled.js';
import { EMPTY, extendTranscript, type Transcript } from './transcript.js';
import type {
  AssistantMessageView,
  CallView,
  ConversationView,
  EndedTurn,
  Me,
  MessageView,
  UserMessageView,
} from './types.js';

/** A read of the newest events, oldest first. */
export interface Opened {
  readonly snapshot: ConversationSnapshot;
  readonly events: readonly CanonicalEvent[];
  readonly generation: number;
  /** Whether there are events before these. */
  readonly more: boolean;
}

export class ViewModel {
  readonly #conversationId: string;
  readonly #settler: Settler;
  #generation: number | undefined;
  #events: readonly CanonicalEvent[] = [];
  #lastSeq = 0;
  #hasOlder = false;
  #snapshot: ConversationSnapshot | undefined;
  #transcript: Transcript = EMPTY;
  #settled: Settled | undefined;
  readonly #live = new LiveView();
  #progress: ReadonlyMap<string, Json> = new Map();
  #sent: readonly UserMessageView[] = [];
  #connection: Connection = { state: 'off' };
  #view: ConversationView | undefined;

  constructor(conversationId: string, me: Me | undefined) {
    this.#conversationId = conversationId;
    this.#settler = new Settler(me);
  }

  /** The same object until something changes. */
  get view(): ConversationView {
    this.#view ??= this.#made();
    return this.#view;
  }

  /** The last known event. Undefined before the first. */
  get cursor(): LogCursor | undefined {
    return this.#generation === undefined || this.#lastSeq === 0
      ? undefined
      : { generation: this.#generation, seq: this.#lastSeq };
  }

  /** The first known event. */
  get firstSeq(): number {
    return this.#events[0]?.seq ?? 1;
  }

  get snapshot(): ConversationSnapshot | undefined {
    return this.#snapshot;
  }

  set connection(connection: Connection) {
    this.#connection = connection;
    this.#view = undefined;
  }

  /** Begins anew with a read; messages that are on their way stay. */
  open({ snapshot, events, generation, more }: Opened): void {
    const known = events.filter(({ seq }) => seq > 0);
    const { trouble, attention: _seenAtTheTime, ...logged } = snapshot;
    if (this.#generation !== undefined && this.#generation !== generation)
      this.#live.note(rewritten(this.#generation));
    this.#generation = generation;
    this.#hasOlder = more;
    // Seen from outside at that moment: no event would take it back.
    this.#snapshot = trouble === undefined ? logged : { ...logged, status: trouble.was };
    this.#events = [];
    this.#lastSeq = 0;
    this.#transcript = EMPTY;
    this.#progress = new Map();
    this.#extend(known);
  }

  /** Adds older events, which end before the first known one. */
  addOlder(events: readonly CanonicalEvent[], more: boolean): void {
    const older = events.filter(({ seq }) => seq > 0 && seq < this.firstSeq);
    this.#events = [...older, ...this.#events];
    this.#hasOlder = more;
    this.#transcript = extendTranscript(EMPTY, this.#events);
    this.#settled = undefined;
    this.#view = undefined;
  }

  /**
   * Takes events of the stream. Known ones are left out; `false`: these do not follow the known ones, so the log has to
   * be read anew.
   */
  takeEvents(
    given: readonly { readonly cursor: LogCursor; readonly event: CanonicalEvent }[],
  ): boolean {
    const news: CanonicalEvent[] = [];
    let follows = true;
    for (const { cursor, event } of given) {
      this.#generation ??= cursor.generation;
      const last = news.at(-1)?.seq ?? this.#lastSeq;
      follows = cursor.generation === this.#generation && event.seq <= last + 1;
      if (!follows) break;
      if (event.seq > last) news.push(event);
    }
    if (news.length > 0) this.#extend(news);
    return follows;
  }

  takeLive(event: LiveEvent): void {
    const news = this.#live.take(event);
    if (news === undefined) return;
    if (news.type === 'tool_progress')
      this.#progress = new Map(this.#progress).set(news.toolCallId, news.payload);
    this.#view = undefined;
  }

  /** A message that the page sends, or what became of it. Undefined takes it away. */
  sent(requestId: string, message: UserMessageView | undefined): void {
    const place = this.#sent.findIndex((entry) => entry.requestId === requestId);
    const others = this.#sent.filter((entry) => entry.requestId !== requestId);
    if (message === undefined || this.#transcript.accepted.has(requestId)) this.#sent = others;
    else this.#sent = place < 0 ? [...others, message] : this.#sent.with(place, message);
    this.#view = undefined;
  }

  #extend(events: readonly CanonicalEvent[]): void {
    for (const event of events) {
      this.#live.note(event);
      if (event.seq > (this.#snapshot?.seq ?? 0)) this.#snapshot = foldView(this.#snapshot, event);
    }
    this.#events = [...this.#events, ...events];
    this.#lastSeq = events.at(-1)?.seq ?? this.#lastSeq;
    this.#transcript = extendTranscript(this.#transcript, events);
    this.#progress = this.#withoutEnded();
    this.#sent = this.#stillSent();
    this.#settled = undefined;
    this.#view = undefined;
  }

  #withoutEnded(): ReadonlyMap<string, Json> {
    const { calls } = this.#transcript;
    const isOpen = (id: string): boolean => {
      const status = calls.get(id)?.result?.status;
      return status === undefined || status === 'detached';
    };
    return new Map([...this.#progress].filter(([id]) => isOpen(id)));
  }

  #stillSent(): readonly UserMessageView[] {
    const { accepted, refused } = this.#transcript;
    return this.#sent.flatMap((message) => {
      const code = refused.get(message.requestId);
      if (accepted.has(message.requestId)) return [];
      if (code === undefined || message.state !== 'accepted') return [message];
      const problem = { status: 0, code, detail: `The conversation refused the message: ${code}` };
      return [{ ...message, state: 'failed' as const, problem }];
    });
  }

  #made(): ConversationView {
    this.#settled ??= this.#settler.settled(this.#transcript, this.#snapshot);
    const { messages, queued, pending } = this.#settled;
    const { answer } = this.#live;
    const { turn, status = 'unknown', agent, usage = NO_USAGE, rules } = this.#snapshot ?? {};
    return {
      conversationId: this.#conversationId,
      connection: this.#connection,
      status,
      ...defined({ agent, rules, subAgents: subAgentsOf(this.#snapshot) }),
      messages: [
        ...messages.map((message) => withProgress(message, this.#progress)),
        ...(answer === undefined ? [] : [streamedView(answer)]),
        ...queued,
        ...this.#sent,
      ],
      pending,
      ...(turn === undefined
        ? {}
        : { turn: { turnId: turn.turnId, step: turn.step, startedAt: turn.startedAt } }),
      ...lastTurnOf(this.#transcript),
      hasOlder: this.#hasOlder,
      usage,
    };
  }
}

function subAgentsOf(snapshot: ConversationSnapshot | undefined): readonly string[] | undefined {
  const ids = snapshot?.inFlightTools.flatMap(({ childId }) => childId ?? []) ?? [];
  return ids.length === 0 ? undefined : ids;
}

/** The text that is streamed may belong to a turn that the new log does not have. */
function rewritten(previousGeneration: number): CanonicalEvent {
  return { type: 'log_rewritten', seq: 0, at: '', previousGeneration, divergedAtSeq: 0 };
}

function lastTurnOf({ lastTurn }: Transcript): { readonly lastTurn?: EndedTurn } {
  if (lastTurn === undefined) return {};
  const { turnId, status, reason, error, output } = lastTurn;
  return {
    lastTurn: { turnId, status, ...defined({ reason, error, output }) },
  };
}

function withProgress(message: MessageView, progress: ReadonlyMap<string, Json>): MessageView {
  if (progress.size === 0 || message.role !== 'assistant') return message;
  const isShown = ({ key }: CallView): boolean => progress.has(key);
  if (!message.calls.some(isShown)) return message;
  const calls = message.calls.map((call) => {
    const payload = progress.get(call.key);
    return payload === undefined ? call : { ...call, progress: payload };
  });
  return { ...message, calls };
}

function streamedView(answer: StreamedAnswer): AssistantMessageView {
  const { messageId, turnId, step, text, reasoning, calls, isWhole, failure } = answer;
  return {
    ...{ role: 'assistant', key: messageId, turnId, step, text, reasoning },
    calls: calls.map(({ index, name = '', argumentsJson }) => {
      return { key: `${messageId}#${index}`, name, state: 'writing' as const, argumentsJson };
    }),
    ...{ isStreaming: true, isWhole },
    ...defined({ failure }),
  };
}
