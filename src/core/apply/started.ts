/** The state with which a conversation starts, or continues after it was reopened. Pure. */

import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { ToolResultPart } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ConversationStarted } from '../../protocol/log/events.js';
import { detachedCalls } from '../calls/detached.js';
import { withoutOldest, withResults } from '../context/transcript.js';
import { callsOfFork } from '../state/forked.js';
import { callKey } from '../state/requests.js';
import type { ConversationState, Tombstone } from '../state/state.js';
import { callOf, type TurnState } from '../state/state.js';
import { NO_USAGE } from '../state/usage.js';
import { withTombstones } from './tombstones.js';

/**
 * Keeps the memory of the conversation: transcript, ended calls, request ids, usage. No work of the old run is under
 * way.
 */
export function startedState(
  before: ConversationState | undefined,
  event: ConversationStarted & { readonly seq: number; readonly at: string },
): ConversationState {
  if (before !== undefined && event.origin !== undefined)
    return forkedState(before, { ...event, origin: event.origin });
  const ended = before === undefined ? undefined : endedState(before, event);
  return {
    tenant: event.tenant,
    conversationId: event.conversationId,
    agent: event.agent,
    chain: event.chain,
    settings: event.settings,
    startedAt: ended?.startedAt ?? event.at,
    updatedAt: event.at,
    lastSeq: event.seq,
    turnCount: 0,
    closed: false,
    queue: [],
    ...(ended?.inbox === undefined ? {} : { inbox: ended.inbox }),
    calls: {},
    transcript: ended?.transcript ?? [],
    transcriptBytes: ended?.transcriptBytes ?? 0,
    ...(ended?.forgotten === undefined ? {} : { forgotten: ended.forgotten }),
    ...(ended?.context === undefined ? {} : { context: ended.context }),
    tombstones: ended?.tombstones ?? [],
    requests: ended?.requests ?? [],
    ...(ended?.forgetsCalls === undefined ? {} : { forgetsCalls: ended.forgetsCalls }),
    usage: ended?.usage ?? NO_USAGE,
    ...(ended?.plugins === undefined ? {} : { plugins: ended.plugins }),
    ...(ended?.duePatches === undefined ? {} : { duePatches: ended.duePatches }),
    ...(event.parent === undefined ? {} : { parent: event.parent }),
    ...(ended?.origin === undefined ? {} : { origin: ended.origin }),
    ...formerAgents(before, event),
    ...leftChildren(ended),
    ...(ended?.rules === undefined ? {} : { rules: ended.rules }),
  };
}

/**
 * Keeps what the model has read: transcript, summaries, plugin states, ended calls; and the calls that wait anew, with
 * their turn. Usage and budgets start anew. Requests, rules, sub-agents and the parent stay with the origin.
 */
function forkedState(
  before: ConversationState,
  event: ConversationStarted &
    Required<Pick<ConversationStarted, 'origin'>> & { readonly seq: number; readonly at: string },
): ConversationState {
  const { at, agent, chain, settings, tenant, conversationId, droppedMessages = 0 } = event;
  const left = withoutOldest(before, droppedMessages);
  const { reopenedCalls: reopened = [] } = event.origin;
  const { turn, inbox } = left;
  return {
    ...{ tenant, conversationId, agent, chain, settings },
    ...{ startedAt: at, updatedAt: at, lastSeq: event.seq, turnCount: 0, closed: false },
    ...(turn === undefined ? {} : { turn: turnOfFork(turn, at) }),
    queue: [],
    ...(inbox === undefined ? {} : { inbox, inboxHeld: true as const }),
    calls: callsOfFork(left.calls, { reopened, ofStep: turn?.callIds ?? [], at }),
    ...{ transcript: left.transcript, transcriptBytes: left.transcriptBytes },
    ...(left.forgotten === undefined ? {} : { forgotten: left.forgotten }),
    ...(left.context === undefined ? {} : { context: left.context }),
    tombstones: left.tombstones,
    requests: [],
    ...(left.forgetsCalls === undefined ? {} : { forgetsCalls: left.forgetsCalls }),
    usage: NO_USAGE,
    ...(left.plugins === undefined ? {} : { plugins: left.plugins }),
    ...(left.duePatches === undefined ? {} : { duePatches: left.duePatches }),
    ...formerAgents(before, event),
    origin: event.origin,
  };
}

/** Its steps are counted on, because message ids contain them. */
function turnOfFork(turn: TurnState, startedAt: string): TurnState {
  const { spent: _spent, spentByChildren: _below, ...rest } = turn;
  return { ...rest, startedAt, usage: NO_USAGE };
}

function formerAgents(
  before: ConversationState | undefined,
  { agent }: ConversationStarted,
): Pick<ConversationState, 'formerAgents'> {
  const former = (before?.formerAgents ?? []).filter((name) => name !== agent);
  return former.length === 0 ? {} : { formerAgents: former };
}

/** Sub-agents of the old run that go with it may still run, also after a start that was cut off: they are closed. */
function leftChildren(ended: ConversationState | undefined): Pick<ConversationState, 'children'> {
  const left = (ended?.children ?? []).filter(({ outlives }) => outlives !== true);
  if (left.length === 0) return {};
  return { children: left.map((child) => ({ ...child, status: 'started' as const })) };
}

function endedState(
  before: ConversationState,
  { droppedMessages = 0, at }: ConversationStarted & { readonly at: string },
): ConversationState {
  return withoutDetached(withoutOpenStep(withoutOldest(before, droppedMessages), at), at);
}

function withoutDetached(state: ConversationState, at: string): ConversationState {
  const left = detachedCalls(state).map(
    ({ plan: { toolCallId, name }, turnId }): Tombstone => ({
      key: callKey(toolCallId),
      ...{ name, turnId, status: 'cancelled', at },
    }),
  );
  return withTombstones(state, left);
}

const CANCELLED: ToolResultEnvelope = {
  ok: false,
  error: { code: 'cancelled', message: TEXTS.cancelled },
};

/**
 * A terminated run, unlike a closed one, may have left its step open. No provider accepts a call without a result, so
 * every call gets one, and a later answer gets the verdict that the call has ended.
 */
function withoutOpenStep(state: ConversationState, at: string): ConversationState {
  const last = state.transcript.at(-1);
  if (last?.role !== 'assistant') return state;
  const { turnId, step } = last;
  const parts: ToolResultPart[] = [];
  const left: Tombstone[] = [];
  for (const part of last.parts) {
    if (part.type !== 'tool_call') continue;
    const { toolCallId, name } = part;
    const call = callOf(state, toolCallId);
    const result = call?.ack ?? call?.result;
    parts.push({ type: 'tool_result', toolCallId, name, envelope: result?.envelope ?? CANCELLED });
    if (result === undefined)
      left.push({ key: callKey(toolCallId), name, turnId, status: 'cancelled', at });
  }
  if (parts.length === 0) return state;
  return withResults(withTombstones(state, left), { turnId, step }, parts);
}
