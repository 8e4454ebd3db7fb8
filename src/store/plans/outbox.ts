/**
 * Derives the events for webhooks from an append, without touching anything; every adapter stores them in the
 * transaction of the append.
 *
 * W1  An append that extends the log sends each of its events once. A repeat of the append adds nothing to the log, so
 *     it sends nothing.
 * W2  An append that rewrites the log sends the events of its new part, except those that the part which it replaces
 *     has sent in equal form. The part that both generations have is not sent again.
 * W3  A receiver that applies `opened` and `ended` knows the calls that wait, after any append. Where a rewrite leaves
 *     another state than follows from its events, corrections follow them: `ended` with the outcome `withdrawn`, and
 *     `opened` for a call that waits again.
 * W4  The id of an event depends on the conversation and the place in its log alone, so a store that is restored from a
 *     backup gives the same event the same id again.
 */
import { foldView } from '../../core/view/view.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { WebhookEvent } from '../../protocol/log/webhook-events.js';
import { contentHash } from './append.js';
import {
  ended,
  expiring,
  type Facts,
  factsIn,
  factsOf,
  made,
  type Outcome,
  opened,
  type Place,
} from './service/webhook-events.js';

/** An event, and the log event that it comes from. */
interface Derived {
  readonly event: WebhookEvent;
  readonly from: CanonicalEvent;
}

interface Step {
  readonly before: ConversationSnapshot | undefined;
  readonly after: ConversationSnapshot;
  readonly generation: number;
  readonly event: CanonicalEvent;
}

/** Events of an append that extends the log: `before` is the snapshot that it extends. */
export function outboxOf(
  before: ConversationSnapshot | undefined,
  added: readonly CanonicalEvent[],
  generation: number,
): readonly WebhookEvent[] {
  return derived(before, added, generation).map(({ event }) => event);
}

export interface Rewrite {
  /** The fold of the events that both generations have. */
  readonly kept: ConversationSnapshot | undefined;
  /** The rest of the older generation, and its end. */
  readonly replaced: readonly CanonicalEvent[];
  readonly replacedEnd: ConversationSnapshot;
  readonly added: readonly CanonicalEvent[];
  /** The end of the new generation, whose number it has. */
  readonly end: ConversationSnapshot;
  readonly generation: number;
}

export function outboxOfRewrite(rewrite: Rewrite): readonly WebhookEvent[] {
  const { kept, replaced, replacedEnd, added, end, generation } = rewrite;
  const sent = new Set(derived(kept, replaced, generation).map(nameOf));
  const news = newsOf(derived(kept, added, generation), sent);
  return [...news, ...corrections(waitingAfter(replacedEnd, news), end, generation)];
}

/** The events that were not sent before. The end of a wait is sent again where its beginning is. */
function newsOf(all: readonly Derived[], sent: ReadonlySet<string>): readonly WebhookEvent[] {
  const again = new Set<string | undefined>();
  return all
    .filter((one) => {
      const { type, subject } = one.event;
      const isNews =
        !sent.has(nameOf(one)) || (type === 'conversation.suspension.ended' && again.has(subject));
      if (isNews && type === 'conversation.suspension.opened') again.add(subject);
      return isNews;
    })
    .map(({ event }) => event);
}

function nameOf({ event, from }: Derived): string {
  return JSON.stringify([event.type, event.subject, contentHash(from)]);
}

/** The calls that wait according to a receiver, by id: those at the end of the old log, changed by the news. */
function waitingAfter(
  { pending }: ConversationSnapshot,
  news: readonly WebhookEvent[],
): ReadonlyMap<string, Facts> {
  const calls = new Map<string, Facts>(pending.map((call) => [call.toolCallId, factsOf(call)]));
  for (const event of news) {
    if (event.type === 'conversation.suspension.opened')
      calls.set(event.data.toolCallId, factsIn(event.data));
    if (event.type === 'conversation.suspension.ended') calls.delete(event.data.toolCallId);
  }
  return calls;
}

function corrections(
  waiting: ReadonlyMap<string, Facts>,
  end: ConversationSnapshot,
  generation: number,
): readonly WebhookEvent[] {
  const at = { view: end, cursor: { generation, seq: end.seq }, time: end.updatedAt };
  const stays = new Set(end.pending.map(({ toolCallId }) => toolCallId));
  const reopened = end.pending.filter(({ toolCallId }) => !waiting.has(toolCallId));
  const withdrawn = [...waiting.values()].filter(({ toolCallId }) => !stays.has(toolCallId));
  return [
    ...withdrawn.map((call) => ended(at, call, { outcome: 'withdrawn' })),
    ...reopened.map((call) => opened(at, call)),
  ];
}

function derived(
  from: ConversationSnapshot | undefined,
  events: readonly CanonicalEvent[],
  generation: number,
): readonly Derived[] {
  let view = from;
  const found: Derived[] = [];
  for (const event of events) {
    const before = view;
    view = foldView(before, event);
    if (view === undefined || view === before) continue;
    const here = ofStep({ before, after: view, event, generation });
    found.push(...here.map((each) => ({ event: each, from: event })));
  }
  return found;
}

function ofStep(step: Step): readonly WebhookEvent[] {
  const { before, after, event } = step;
  const at = {
    view: after,
    cursor: { generation: step.generation, seq: event.seq },
    time: event.at,
  };
  const was = before?.pending ?? [];
  const isIn = (calls: readonly PendingCall[], call: PendingCall): boolean =>
    calls.some(({ toolCallId }) => toolCallId === call.toolCallId);
  const over = was.filter((call) => !isIn(after.pending, call));
  const begun = after.pending.filter((call) => !isIn(was, call) || opensAgain(event, call));
  return [
    ...over.map((call) => ended(at, factsOf(call), outcomeOf(event))),
    ...begun.map((call) => opened(at, call)),
    ...ofEvent(at, event, before),
  ];
}

/** A wait took the place of another wait for the same call. */
function opensAgain(event: CanonicalEvent, { toolCallId }: PendingCall): boolean {
  return event.type === 'suspension' && event.suspension.toolCallId === toolCallId;
}

function outcomeOf(event: CanonicalEvent): Outcome {
  switch (event.type) {
    case 'resolution':
      return { outcome: 'answered', answer: event.resolution.type, by: event.actor.id };
    case 'expired':
      return { outcome: 'expired' };
    case 'events_lost':
      return { outcome: 'withdrawn' };
    default:
      return { outcome: 'cancelled' };
  }
}

/** Events that say nothing about the calls that wait. */
function ofEvent(
  at: Place,
  event: CanonicalEvent,
  before: ConversationSnapshot | undefined,
): readonly WebhookEvent[] {
  switch (event.type) {
    case 'suspension_expiring': {
      const call = at.view.pending.find(({ toolCallId }) => toolCallId === event.toolCallId);
      return call === undefined ? [] : [expiring(at, call)];
    }
    case 'turn_limit_reached': {
      const { turnId, limit } = event;
      return [
        made('conversation.budget.reached', at, { subject: turnId, data: { turnId, limit } }),
      ];
    }
    case 'turn_ended': {
      const { turnId, status, reason, error, steps } = event;
      const data = {
        ...{ turnId, status, steps },
        ...(reason === undefined ? {} : { reason }),
        ...(error === undefined ? {} : { error: error.code }),
      };
      return [made('conversation.turn.ended', at, { subject: turnId, data })];
    }
    case 'conversation_closed':
      return [made('conversation.closed', at, { data: { reason: event.reason } })];
    case 'run_ended':
      if (before?.status === 'closed') return [];
      return [made('conversation.closed', at, { data: { reason: event.status } })];
    default:
      return [];
  }
}
