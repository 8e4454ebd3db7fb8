/** What the log alone shows: messages, calls and waiting calls. Pure; unchanged parts keep their identity. */
import { outsideReason } from '../../core/calls/audience.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { textOf } from '../../protocol/conversation/messages.js';
import { formOf } from '../forms/form.js';
import { defined } from '../net/defined.js';
import type { AssistantEntry, Entry, LoggedCall, Transcript } from './transcript.js';
import type {
  AssistantMessageView,
  CallState,
  CallView,
  Me,
  MessageView,
  PendingView,
  UserMessageView,
} from './types.js';

export interface Settled {
  readonly messages: readonly MessageView[];
  /** Messages that wait for their turn. */
  readonly queued: readonly UserMessageView[];
  readonly pending: readonly PendingView[];
}

/** Makes the views, and remembers each with what it was made of. */
export class Settler {
  readonly #me: Me | undefined;
  #made = new Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>();
  #kept = new Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>();

  constructor(me: Me | undefined) {
    this.#me = me;
  }

  settled(transcript: Transcript, snapshot: ConversationSnapshot | undefined): Settled {
    this.#kept = new Map();
    const { requesters, refusedAnswers } = transcript;
    const pending = this.#same('pending', [snapshot?.pending, requesters, refusedAnswers], () =>
      (snapshot?.pending ?? []).map((call): PendingView => {
        const ids = requesters.get(call.turnId) ?? [];
        const refused = refusedAnswers.get(call.toolCallId);
        return this.#same(`pending ${call.toolCallId}`, [call, ids.join(), refused], () => {
          const view = pendingView(call, { me: this.#me, requesters: ids });
          return { ...view, ...defined({ refused }) };
        });
      }),
    );
    const waiting = new Map(pending.map((call) => [call.toolCallId, call]));
    const running = new Set(snapshot?.inFlightTools.map(({ toolCallId }) => toolCallId));
    const turnId = snapshot?.turn?.turnId;
    const isClosed = snapshot?.status === 'closed';
    const viewOf = (call: LoggedCall): CallView => {
      const wait = waiting.get(call.toolCallId);
      const mayRun = !isClosed && (call.turnId === turnId || call.detached === true);
      const state = stateOf(call, { wait, isRunning: running.has(call.toolCallId), mayRun });
      return this.#same(`call ${call.toolCallId}`, [call, state, wait], () =>
        callView(call, { state, pending: wait }),
      );
    };
    const keys = new Set<string>();
    const messages = transcript.entries.map((entry) =>
      this.#message(entry, { keys, calls: transcript.calls, viewOf }),
    );
    const queued = transcript.queued.map((event) =>
      this.#same(`queued ${event.messageId}`, [event], () =>
        userView(event, keyOf(event, keys), 'queued'),
      ),
    );
    this.#made = this.#kept;
    return { messages, queued, pending };
  }

  #message(
    entry: Entry,
    context: {
      readonly keys: Set<string>;
      readonly calls: Transcript['calls'];
      readonly viewOf: (call: LoggedCall) => CallView;
    },
  ): MessageView {
    if (entry.role === 'user') {
      const { event } = entry;
      const key = keyOf(event, context.keys);
      return this.#same(`user ${event.messageId}`, [event, key], () =>
        userView(event, key, 'sent'),
      );
    }
    if (entry.role === 'event') {
      const { eventId, kind, payload, actor, at } = entry.event;
      return this.#same(`event ${eventId}`, [entry.event], () => ({
        ...{ role: 'event' as const, key: eventId, kind, from: actor, at },
        ...(payload === undefined ? {} : { payload }),
      }));
    }
    const known = entry.calls.flatMap((id) => {
      const call = context.calls.get(id);
      return call === undefined ? [] : [context.viewOf(call)];
    });
    const calls = this.#same(`calls ${entry.messageId}`, known, () => known);
    return this.#same(`assistant ${entry.messageId}`, [entry, ...calls], () =>
      assistantView(entry, calls),
    );
  }

  /** The value made before of the same things, or a new one. */
  #same<Value>(key: string, of: readonly unknown[], make: () => Value): Value {
    const before = this.#made.get(key);
    const isSame =
      before?.of.length === of.length && of.every((part, index) => part === before.of[index]);
    const value = isSame ? before.value : kept(before?.value, make());
    this.#kept.set(key, { of, value });
    return value as Value;
  }
}

/** The value before, where the new one has the same parts. */
function kept(before: unknown, value: unknown): unknown {
  if (!isObject(before) || !isObject(value)) return value;
  const keys = Object.keys(value);
  const isSame = keys.every((key) => before[key] === value[key]);
  return isSame && Object.keys(before).length === keys.length ? before : value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The key by which a message is known from its sending on. Ids that an application uses again are no keys. */
function keyOf(
  { requestId, messageId }: { readonly requestId: string; readonly messageId: string },
  taken: Set<string>,
): string {
  const key = taken.has(requestId) ? messageId : requestId;
  taken.add(key);
  return key;
}

function userView(
  event: Extract<Entry, { role: 'user' }>['event'],
  key: string,
  state: 'queued' | 'sent',
): UserMessageView {
  const { requestId, parts, turnId, actor, at, onBusy } = event;
  return {
    role: 'user',
    key,
    requestId,
    text: textOf(parts),
    parts,
    state,
    turnId,
    from: actor,
    at,
    ...defined({ onBusy }),
  };
}

function assistantView(
  { messageId, turnId, step, event }: AssistantEntry,
  calls: readonly CallView[],
): AssistantMessageView {
  const reasoning = event?.parts.map((part) => (part.type === 'reasoning' ? part.text : ''));
  return {
    ...{ role: 'assistant', key: messageId, turnId, step, calls },
    text: event === undefined ? '' : textOf(event.parts),
    reasoning: reasoning?.join('') ?? '',
    isStreaming: false,
    isWhole: true,
    ...defined({ partial: event?.partial, synthetic: event?.synthetic, at: event?.at }),
  };
}

function callView(
  call: LoggedCall,
  { state, pending }: { readonly state: CallState; readonly pending: PendingView | undefined },
): CallView {
  const { toolCallId, name, executor, input, argumentsJson, detached, result, decided } = call;
  const isEnded = result !== undefined && result.status !== 'detached';
  return {
    ...{ key: toolCallId, toolCallId, name, state },
    ...defined({ executor, input, argumentsJson, pending, decided }),
    ...(detached === undefined && result?.status !== 'detached' ? {} : { detached: true }),
    ...(isEnded ? { result: result.envelope, provenance: result.provenance } : {}),
  };
}

function stateOf(
  call: LoggedCall,
  now: {
    readonly wait: PendingView | undefined;
    readonly isRunning: boolean;
    /** The turn of the call runs, or no turn needs to. */
    readonly mayRun: boolean;
  },
): CallState {
  const { result, answered } = call;
  if (result !== undefined && result.status !== 'detached') return endOf(result);
  if (now.wait !== undefined) return now.wait.state;
  if (now.isRunning || (answered === true && now.mayRun)) return 'running';
  return now.mayRun || result?.status === 'detached' ? 'queued' : 'cancelled';
}

function endOf({ status, envelope }: ToolResult): CallState {
  switch (status) {
    case 'denied':
    case 'expired':
    case 'cancelled':
      return status;
    case 'resolved':
    case 'errored':
    case 'detached':
      return envelope.ok ? 'done' : 'failed';
  }
}

export function pendingView(
  call: PendingCall,
  { me, requesters }: { readonly me: Me | undefined; readonly requesters: readonly string[] },
): PendingView {
  return {
    ...call,
    state: waitOf(call, me, requesters),
    ...(call.answerSchema === undefined ? {} : { form: formOf(call.answerSchema) }),
  };
}

/** Backends and operators answer the last two kinds; a call that is held runs where it is held. */
function waitOf(
  { kind, claim, audience }: PendingCall,
  me: Me | undefined,
  requesters: readonly string[],
): PendingView['state'] {
  if (claim !== undefined) return 'running';
  if (kind === 'external_execution' || kind === 'outcome') return 'waiting_for_others';
  if (audience === undefined) return 'waiting_for_you';
  if (me === undefined) return 'waiting_for_others';
  const outside = outsideReason(audience, { ...me, verified: true }, requesters);
  return outside === undefined ? 'waiting_for_you' : 'waiting_for_others';
}
