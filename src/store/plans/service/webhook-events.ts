/** Makes the events for webhooks, of an append or of the store, from the state of a conversation. */
import { createHash } from 'node:crypto';
import { labelsOf } from '../../../protocol/calls/executors.js';
import type { PendingCall } from '../../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type {
  AtEvent,
  WebhookData,
  WebhookEnvelope,
  WebhookEvent,
  WebhookEventType,
} from '../../../protocol/log/webhook-events.js';
import { formatCursor } from '../../../protocol/values/cursor.js';
import type { ConversationKey } from '../../../protocol/values/ids.js';
import type { Trouble } from '../../../protocol/values/trouble.js';

/** Place of a log event, and the state at it. */
export interface Place {
  readonly view: ConversationSnapshot;
  readonly cursor: { readonly generation: number; readonly seq: number };
  readonly time: string;
}

/** How a wait ended. */
export type Outcome = Pick<
  WebhookData['conversation.suspension.ended'],
  'outcome' | 'answer' | 'by'
>;

export function opened(at: Place, call: PendingCall): WebhookEvent {
  const data = {
    ...factsOf(call),
    openedAt: call.openedAt,
    ...(call.reverted === undefined ? {} : { reverted: true as const }),
  };
  return made('conversation.suspension.opened', at, { subject: call.toolCallId, data });
}

export function ended(at: Place, call: Facts, outcome: Outcome): WebhookEvent {
  const data = { ...call, ...outcome };
  return made('conversation.suspension.ended', at, { subject: call.toolCallId, data });
}

/** One event for each deadline, from the log or from the store: its id has the deadline in place of the cursor. */
export function expiring(at: Place, call: PendingCall): WebhookEvent {
  return made('conversation.suspension.expiring', at, {
    subject: call.toolCallId,
    data: factsOf(call),
    place: [call.toolCallId, call.deadline],
  });
}

/** The event of a wait that ends soon, as of a stored state. Undefined when the call does not wait there. */
export function expiringIn(
  {
    snapshot,
    generation,
  }: { readonly snapshot: ConversationSnapshot; readonly generation: number },
  toolCallId: string,
  nowMs: number,
): WebhookEvent | undefined {
  const call = snapshot.pending.find((each) => each.toolCallId === toolCallId);
  if (call === undefined || Date.parse(call.deadline) <= nowMs) return undefined;
  const cursor = { generation, seq: snapshot.seq };
  return expiring({ view: snapshot, cursor, time: new Date(nowMs).toISOString() }, call);
}

/** Whether the calls of a turn say themselves when they are about to expire: then the log has an event of it. */
export function warnsItself(turn: readonly CanonicalEvent[], toolCallId: string): boolean {
  const plans = turn.flatMap((event) =>
    (event.type === 'tool_call' || event.type === 'call_planned') &&
    event.call.toolCallId === toolCallId
      ? [event.call]
      : [],
  );
  return plans.at(-1)?.warnBeforeMs !== undefined;
}

/** The event of a mark of trouble. Undefined when the mark is no news, or says only that the workflow is slow. */
export function failingOf(
  key: ConversationKey,
  marks: { readonly before: Trouble | undefined; readonly now: Trouble },
  snapshot: ConversationSnapshot | undefined,
): WebhookEvent | undefined {
  const { before, now } = marks;
  const { runId, since, attempts } = now;
  if (now.kind !== 'failing' || (before?.kind === 'failing' && before.runId === runId))
    return undefined;
  const type = 'conversation.failing';
  const { tenant, conversationId } = key;
  const about = snapshot === undefined ? { tenant, conversationId } : aboutOf(snapshot);
  return {
    ...envelope(type, key, { id: [runId, since], time: new Date().toISOString() }),
    data: { ...about, runId, since, attempts },
  };
}

/** The facts of a call that every event about its wait has. */
export type Facts = Omit<WebhookData['conversation.suspension.expiring'], keyof AtEvent>;

export function factsOf({ name, ...call }: PendingCall): Facts {
  return factsIn({ ...call, tool: name });
}

export function factsIn(call: Facts): Facts {
  const { turnId, toolCallId, ref, tool, kind, deadline, argsDigest } = call;
  return {
    ...{ turnId, toolCallId, ref, tool, kind, deadline },
    ...labelsOf(call),
    ...(argsDigest === undefined ? {} : { argsDigest }),
  };
}

function aboutOf({ tenant, conversationId, agent, parent }: ConversationSnapshot) {
  const root = parent === undefined ? {} : { root: parent.root };
  return { tenant, conversationId, agent, ...root };
}

interface Made<Type extends WebhookEventType> {
  readonly subject?: string;
  readonly data: Omit<WebhookData[Type], keyof AtEvent>;
  /** Parts of the id in place of the cursor. */
  readonly place?: readonly string[];
}

export function made<Type extends WebhookEventType>(
  type: Type,
  { view, cursor, time }: Place,
  { subject, data, place }: Made<Type>,
): WebhookEvent {
  const at = formatCursor(cursor);
  const id = [view.startedAt, ...(place ?? [at, subject ?? ''])];
  return {
    ...envelope(type, view, { id, time, ...(subject === undefined ? {} : { subject }) }),
    data: { ...aboutOf(view), cursor: at, ...data },
  } as unknown as WebhookEvent;
}

function envelope<Type extends string>(
  type: Type,
  { tenant, conversationId }: ConversationKey,
  parts: { readonly id: readonly string[]; readonly time: string; readonly subject?: string },
): Omit<WebhookEnvelope<Type>, 'data'> {
  const { id, time, subject } = parts;
  const hash = createHash('sha256').update(JSON.stringify([tenant, conversationId, type, ...id]));
  return {
    specversion: '1.0',
    id: `msg_${hash.digest('hex').slice(0, 40)}`,
    source: `/tenants/${tenant}/conversations/${conversationId}`,
    type,
    time,
    timestamp: time,
    ...(subject === undefined ? {} : { subject }),
    datacontenttype: 'application/json',
  };
}
