/**
 * The reader's view of a conversation as a fold over canonical events; the content of snapshots. Pure; runs anywhere.
 * The store folds it as it appends; it must always equal what the workflow itself would show (a property test holds
 * that).
 */

import { withoutRules, withRule } from '../../protocol/calls/rules.js';
import { contextShown } from '../../protocol/conversation/context.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { ConversationStatus } from '../../protocol/conversation/statuses.js';
import { openStatus } from '../../protocol/conversation/statuses.js';
import type {
  CanonicalEvent,
  ModelCallEvent,
  UserMessageEvent,
} from '../../protocol/log/events.js';
import type { TurnId } from '../../protocol/values/ids.js';
import { stepIdFor } from '../../protocol/values/ids.js';
import { isTelemetry } from '../state/update.js';
import { addUsage, NO_USAGE, takenBy } from '../state/usage.js';
import { callChanged } from './calls.js';

/** Folds one event; `undefined` before the first. Events without effect on the view only move `seq`. */
export function foldView(
  view: ConversationSnapshot | undefined,
  event: CanonicalEvent,
): ConversationSnapshot | undefined {
  if (event.type === 'conversation_started') {
    const { origin = view?.origin } = event;
    // A fork counts anew.
    const kept = event.origin === undefined ? view : undefined;
    const next: ConversationSnapshot = {
      tenant: event.tenant,
      conversationId: event.conversationId,
      agent: event.agent,
      status: 'idle',
      seq: event.seq,
      startedAt: kept?.startedAt ?? event.at,
      updatedAt: event.at,
      queued: [],
      pending: [],
      inFlightTools: [],
      usage: kept?.usage ?? NO_USAGE,
      ...(view?.title === undefined ? {} : { title: view.title }),
      ...(event.parent === undefined ? {} : { parent: event.parent }),
      ...(view?.context === undefined ? {} : { context: view.context }),
      ...(kept?.rules === undefined ? {} : { rules: kept.rules }),
      ...(origin === undefined ? {} : { origin }),
    };
    const turn = kept === view ? undefined : view?.turn;
    if (turn === undefined) return next;
    return withStatus({ ...next, turn: { ...turn, startedAt: event.at } });
  }
  if (event.type === 'events_lost' && event.snapshot !== undefined) return event.snapshot;
  if (view === undefined) return undefined;
  // The snapshot of `events_lost` includes the gap and possibly a few of the events after it.
  if (event.seq <= view.seq) return view;
  const next = withStatus(changed(view, event));
  return { ...next, seq: event.seq, updatedAt: isTelemetry(event) ? view.updatedAt : event.at };
}

type LaterEvent = Exclude<CanonicalEvent, { type: 'conversation_started' }>;

/** Events that change nothing that a snapshot shows. */
type Unshown = Extract<
  LaterEvent,
  {
    readonly type:
      | 'assistant_message'
      | 'state_patch'
      | 'message_refused'
      | 'resolution_refused'
      | 'resolution_reverted'
      | 'tool_lost'
      | 'tool_reconciled'
      | 'tool_asked'
      | 'answer_checked'
      | 'definition_changed'
      | 'cancel_requested'
      | 'turn_limit_reached'
      | 'suspension_expiring'
      | 'transcript_offloaded'
      | 'rolled_over'
      | 'events_lost'
      | 'log_rewritten'
      | 'inbox_paused';
  }
>;

function changed(view: ConversationSnapshot, event: LaterEvent): ConversationSnapshot {
  switch (event.type) {
    case 'user_message':
      return withQueued(view, event);
    case 'turn_started':
      return withTurn(view, event.turnId, event.at);
    case 'model_call':
      return withModelCall(view, event);
    case 'summary':
      return { ...view, usage: addUsage(view.usage, event.usage) };
    case 'agent_changed':
      return withAgent(view, event);
    case 'child_changed':
      return withChild(view, event);
    case 'tool_call':
    case 'call_planned':
    case 'suspension':
    case 'call_prepared':
    case 'resolution':
    case 'input_edited':
    case 'input_migrated':
    case 'suspension_changed':
    case 'expired':
    case 'extended':
    case 'claimed':
    case 'lease_lost':
    case 'tool_result':
    case 'inbox_event':
      return callChanged(view, event);
    case 'rule_remembered':
      return { ...view, ...withRule(view.rules, { ...event.rule, at: event.at }) };
    case 'rule_revoked':
      return withoutRules(view, ({ ruleId }) => ruleId === event.ruleId);
    case 'turn_ended':
      return withoutTurn(view, event.turnId);
    case 'conversation_closed':
    case 'run_ended':
      return closedView(view);
    default:
      return unchanged(event, view);
  }
}

function withChild(
  view: ConversationSnapshot,
  { end }: Extract<CanonicalEvent, { type: 'child_changed' }>,
): ConversationSnapshot {
  return end === undefined ? view : { ...view, usage: addUsage(view.usage, end.usage) };
}

/** Waiting calls keep the agent that made them. */
function withAgent(
  view: ConversationSnapshot,
  { agent, previous }: Extract<CanonicalEvent, { type: 'agent_changed' }>,
): ConversationSnapshot {
  const pending = view.pending.map((call) =>
    call.agent === undefined ? { ...call, agent: previous } : call,
  );
  return { ...view, agent, pending };
}

function withTurn(
  view: ConversationSnapshot,
  turnId: TurnId,
  startedAt: string,
): ConversationSnapshot {
  const queued = view.queued.filter((waiting) => waiting !== turnId);
  return { ...view, queued, turn: { turnId, step: 1, stepId: stepIdFor(turnId, 1), startedAt } };
}

function closedView(view: ConversationSnapshot): ConversationSnapshot {
  const { turn: _ended, ...rest } = view;
  return { ...rest, status: 'closed', queued: [], pending: [], inFlightTools: [] };
}

function withoutTurn(view: ConversationSnapshot, ended: TurnId): ConversationSnapshot {
  const queued = view.queued.filter((turnId) => turnId !== ended);
  const left = withoutRules(view, ({ turnId }) => turnId === ended);
  if (view.turn?.turnId !== ended) return { ...left, queued };
  const { turn: _ended, ...rest } = left;
  return {
    ...rest,
    queued,
    pending: view.pending.filter(isDetached),
    inFlightTools: view.inFlightTools.filter(isDetached),
  };
}

function withQueued(view: ConversationSnapshot, event: UserMessageEvent): ConversationSnapshot {
  const { turnId, onBusy } = event;
  if (turnId === view.turn?.turnId) return view;
  const queued = onBusy === 'interrupt' ? [turnId, ...view.queued] : [...view.queued, turnId];
  return { ...view, queued };
}

function withModelCall(view: ConversationSnapshot, event: ModelCallEvent): ConversationSnapshot {
  const usage = addUsage(view.usage, takenBy(event));
  const { turn, ...rest } = view;
  const context = event.context === undefined ? {} : { context: contextShown(event.context) };
  if (turn === undefined) return { ...rest, ...context, usage };
  const { step } = event;
  return {
    ...rest,
    ...context,
    usage,
    turn: { ...turn, step, stepId: stepIdFor(turn.turnId, step) },
  };
}

/** For events that show nothing, and those of a later version: the compiler checks that all others are handled. */
function unchanged(_event: Unshown, view: ConversationSnapshot): ConversationSnapshot {
  return view;
}

function withStatus(view: ConversationSnapshot): ConversationSnapshot {
  return { ...view, status: statusOf(view) };
}

/** No turn waits for the entry, and it outlives its own turn. */
function isDetached(entry: { readonly detached?: true }): boolean {
  return entry.detached === true;
}

function statusOf(view: ConversationSnapshot): ConversationStatus {
  if (view.status === 'closed') return 'closed';
  const attended = (entries: readonly { readonly detached?: true }[]): number =>
    entries.filter((entry) => !isDetached(entry)).length;
  return openStatus({
    hasTurn: view.turn !== undefined,
    awaited: attended(view.pending),
    pending: view.pending.length,
    working: attended(view.inFlightTools),
  });
}
