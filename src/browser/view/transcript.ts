/** The messages and calls of a conversation as a fold over events of its log. Pure. */
import type { Executor } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { assistantMessageId } from '../../protocol/log/live-events.js';
import type { Json } from '../../protocol/values/json.js';
import type { Decided, RefusedAnswer } from './types.js';

type EventOf<Type extends CanonicalEvent['type']> = Extract<CanonicalEvent, { type: Type }>;

export type Entry =
  | { readonly role: 'user'; readonly event: EventOf<'user_message'> }
  | AssistantEntry
  | { readonly role: 'event'; readonly event: EventOf<'inbox_event'> };

export interface AssistantEntry {
  readonly role: 'assistant';
  readonly messageId: string;
  readonly turnId: string;
  readonly step: number;
  /** Absent: only calls of the message are known. */
  readonly event?: EventOf<'assistant_message'>;
  /** Ids of its calls, in the model's order. */
  readonly calls: readonly string[];
}

/** A call as far as the log has it. Whether it waits or runs is in the snapshot. */
export interface LoggedCall {
  readonly toolCallId: string;
  readonly turnId: string;
  readonly name: string;
  readonly executor?: Executor;
  readonly input?: Json;
  readonly argumentsJson?: string;
  readonly detached?: true;
  /** An answer was accepted: only a check of it may be under way. */
  readonly answered?: true;
  readonly result?: ToolResult;
  /** The last answer that was accepted and not taken back. */
  readonly decided?: Decided | undefined;
}

export interface Transcript {
  readonly entries: readonly Entry[];
  /** Accepted messages whose turn has not begun; they are shown last. */
  readonly queued: readonly EventOf<'user_message'>[];
  readonly calls: ReadonlyMap<string, LoggedCall>;
  /** Ids of the actors who sent a message of the turn, by turn. */
  readonly requesters: ReadonlyMap<string, readonly string[]>;
  /** Request ids of accepted messages, and codes of those refused later. */
  readonly accepted: ReadonlySet<string>;
  readonly refused: ReadonlyMap<string, string>;
  /** Answers that were refused after their request, by call. */
  readonly refusedAnswers: ReadonlyMap<string, readonly RefusedAnswer[]>;
  readonly lastTurn?: EventOf<'turn_ended'>;
}

export const EMPTY: Transcript = {
  entries: [],
  queued: [],
  calls: new Map(),
  requesters: new Map(),
  accepted: new Set(),
  refused: new Map(),
  refusedAnswers: new Map(),
};

/** The transcript after these events, which follow those before. Copies what it changes, once for all events. */
export function extendTranscript(
  before: Transcript,
  events: readonly CanonicalEvent[],
): Transcript {
  const draft = new Draft(before);
  for (const event of events) draft.take(event);
  return draft.finished();
}

/** A transcript whose parts may still change. */
interface Unfinished extends Transcript {
  readonly entries: Entry[];
  queued: Transcript['queued'];
  readonly calls: Map<string, LoggedCall>;
  readonly requesters: Map<string, readonly string[]>;
  readonly accepted: Set<string>;
  readonly refused: Map<string, string>;
  readonly refusedAnswers: Map<string, readonly RefusedAnswer[]>;
  lastTurn?: EventOf<'turn_ended'>;
}

class Draft {
  readonly #of: Unfinished;

  constructor(before: Transcript) {
    this.#of = {
      ...before,
      entries: [...before.entries],
      calls: new Map(before.calls),
      requesters: new Map(before.requesters),
      accepted: new Set(before.accepted),
      refused: new Map(before.refused),
      refusedAnswers: new Map(before.refusedAnswers),
    };
  }

  finished(): Transcript {
    return this.#of;
  }

  take(event: CanonicalEvent): void {
    switch (event.type) {
      case 'user_message':
        this.#userMessage(event);
        break;
      case 'message_refused':
        if (event.request === undefined) this.#of.refused.set(event.requestId, event.code);
        break;
      case 'resolution_refused':
        this.#answerRefused(event);
        break;
      case 'turn_started':
        this.#place((message) => message.turnId === event.turnId);
        break;
      case 'turn_ended':
        this.#place((message) => message.turnId === event.turnId);
        this.#of.lastTurn = event;
        break;
      case 'conversation_closed':
      case 'run_ended':
        this.#place(() => true);
        break;
      case 'assistant_message':
        this.#assistantMessage(event);
        break;
      case 'inbox_event':
        this.#inboxEvent(event);
        break;
      default:
        this.#call(event);
    }
  }

  #userMessage(event: EventOf<'user_message'>): void {
    this.#of.accepted.add(event.requestId);
    this.#addRequester(event.turnId, event.actor.id);
    // A message that joins the running turn has no turn of its own to wait for.
    if (event.onBusy === 'steer') this.#of.entries.push({ role: 'user', event });
    else if (event.onBusy === 'interrupt') this.#of.queued = [event, ...this.#of.queued];
    else this.#of.queued = [...this.#of.queued, event];
  }

  #addRequester(turnId: string, id: string): void {
    const known = this.#of.requesters.get(turnId) ?? [];
    if (!known.includes(id)) this.#of.requesters.set(turnId, [...known, id]);
  }

  #answerRefused({ toolCallId, requestId, detail }: EventOf<'resolution_refused'>): void {
    const known = this.#of.refusedAnswers.get(toolCallId) ?? [];
    const refused = { requestId, verdict: refusalOf(detail) };
    this.#of.refusedAnswers.set(toolCallId, [...known, refused]);
  }

  #place(isDue: (event: EventOf<'user_message'>) => boolean): void {
    const due = this.#of.queued.filter(isDue);
    if (due.length === 0) return;
    this.#of.queued = this.#of.queued.filter((event) => !isDue(event));
    for (const event of due) this.#of.entries.push({ role: 'user', event });
  }

  #assistantMessage(event: EventOf<'assistant_message'>): void {
    const { messageId, turnId, step, parts } = event;
    const written = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
    for (const { toolCallId, name, argumentsJson } of written)
      this.#change(toolCallId, { toolCallId, turnId, name, argumentsJson });
    const ids = written.map(({ toolCallId }) => toolCallId);
    this.#changeEntry({ messageId, turnId, step }, ({ calls }) => ({
      event,
      calls: [...new Set([...ids, ...calls])],
    }));
  }

  #inboxEvent(event: EventOf<'inbox_event'>): void {
    const { toolCallId, result } = event;
    if (toolCallId === undefined || result === undefined)
      this.#of.entries.push({ role: 'event', event });
    else this.#change(toolCallId, { result });
  }

  #call(event: CanonicalEvent): void {
    switch (event.type) {
      case 'tool_call':
      case 'call_planned':
        this.#planned(event);
        break;
      case 'input_edited':
      case 'input_migrated':
        this.#change(event.toolCallId, { input: event.input });
        break;
      case 'suspension':
        this.#change(event.suspension.toolCallId, {}, 'answered');
        break;
      case 'resolution':
        this.#change(event.toolCallId, {
          decided: { type: event.resolution.type, by: event.actor, at: event.at },
          ...(event.kind === 'approval' ? {} : { answered: true }),
        });
        break;
      case 'resolution_reverted':
        this.#change(event.toolCallId, { decided: undefined }, 'answered');
        break;
      case 'tool_result':
        this.#change(event.toolCallId, { result: event.result });
        break;
      default:
    }
  }

  #planned({ turnId, step, call }: EventOf<'tool_call' | 'call_planned'>): void {
    const { toolCallId } = call;
    this.#change(toolCallId, { turnId, ...plannedPart(call) });
    const messageId = assistantMessageId(turnId, step);
    this.#changeEntry({ messageId, turnId, step }, ({ calls }) => ({
      calls: calls.includes(toolCallId) ? calls : [...calls, toolCallId],
    }));
  }

  /** Changes a call; one that begins before the loaded events is left out until those are loaded. */
  #change(toolCallId: string, change: Partial<LoggedCall>, without?: 'answered'): void {
    const before = this.#of.calls.get(toolCallId);
    const { turnId, name } = { ...before, ...change };
    if (turnId === undefined || name === undefined) return;
    const { answered, ...rest } = before ?? {};
    const kept = answered === undefined || without === 'answered' ? {} : { answered };
    this.#of.calls.set(toolCallId, { toolCallId, turnId, name, ...rest, ...kept, ...change });
  }

  #changeEntry(
    at: Pick<AssistantEntry, 'messageId' | 'turnId' | 'step'>,
    change: (entry: AssistantEntry) => Partial<AssistantEntry>,
  ): void {
    // Events of a step follow each other, so its message is one of the last.
    const place = this.#of.entries.findLastIndex(
      (entry) => entry.role === 'assistant' && entry.messageId === at.messageId,
    );
    const known = this.#of.entries[place];
    const entry: AssistantEntry =
      known?.role === 'assistant' ? known : { role: 'assistant', ...at, calls: [] };
    const changed = { ...entry, ...change(entry) };
    if (known === undefined) this.#of.entries.push(changed);
    else this.#of.entries[place] = changed;
  }
}

/** The verdict in an event, which has its first characters only: one with many problems may be cut. */
function refusalOf(detail: string): Verdict {
  try {
    return JSON.parse(detail) as Verdict;
  } catch {
    return {
      verdict: 'invalid',
      problems: [{ path: '', message: 'the answer breaks many rules' }],
    };
  }
}

function plannedPart(call: PlannedCall): Partial<LoggedCall> & Pick<LoggedCall, 'name'> {
  const { toolCallId, name, executor, input, mode } = call;
  return {
    ...{ toolCallId, name, executor },
    ...(input === undefined ? {} : { input }),
    ...(mode === 'detach' ? { detached: true } : {}),
  };
}
