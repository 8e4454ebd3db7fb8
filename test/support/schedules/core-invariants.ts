/** Invariants of a conversation after every input of any kind. */
import { isDeepStrictEqual } from 'node:util';
import { applyAll } from '../../../src/core/apply/apply.js';
import { backgroundCalls } from '../../../src/core/calls/detached.js';
import { bytesOf } from '../../../src/core/context/transcript.js';
import { decide } from '../../../src/core/decide/decide.js';
import { isInternal } from '../../../src/core/events/internal.js';
import type { CallState } from '../../../src/core/state/calls.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { openSuspensions } from '../../../src/core/state/state.js';
import { isOffloaded } from '../../../src/core/state/transcript.js';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import { foldView } from '../../../src/core/view/view.js';
import { effectKey } from '../../../src/core/work/effects.js';
import type { CallStatus } from '../../../src/protocol/calls/results.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import {
  MAX_DETACHED_CALLS,
  MAX_REMEMBERED_REQUESTS,
  MAX_TOMBSTONES,
} from '../../../src/protocol/limits/limits.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { MachineUnderTest } from './core-driver.js';

function expectChildren({ state, events }: Pick<MachineUnderTest, 'state' | 'events'>): void {
  const { children = [] } = state;
  // Sub-agents stay with the origin of a fork.
  const isFork = (event: CanonicalEvent): boolean =>
    event.type === 'conversation_started' && event.origin !== undefined;
  const forkedAt = events.findLast(isFork)?.seq ?? 0;
  const changes = events.flatMap((event) =>
    event.type === 'child_changed' && event.seq > forkedAt ? [event] : [],
  );
  const of = (status: string): readonly string[] =>
    changes.flatMap((change) => (change.status === status ? [change.childId] : []));
  const ended = of('ended');
  hold('a sub-agent ends once', new Set(ended).size, ended.length);
  hold('a sub-agent begins once', new Set(of('starting')).size, of('starting').length);
  // A conversation that is opened again closes those of its old run, unless they outlive it.
  const reopenedAt = events.findLast(({ type }) => type === 'conversation_started')?.seq ?? 0;
  const open = changes
    .filter(({ status, outlives, seq }) => status === 'starting' && !(outlives && seq < reopenedAt))
    .map(({ childId }) => childId)
    .filter((childId) => !ended.includes(childId));
  if (!state.closed)
    hold(
      'the sub-agents of the log are those of the state',
      children.map(({ childId }) => childId),
      open,
    );
  const waiting = Object.values(state.calls).flatMap(({ suspension }) =>
    suspension?.childId === undefined ? [] : [suspension.childId],
  );
  const known = children.map(({ childId }) => childId);
  hold(
    'a call that waits for a sub-agent has one',
    waiting.filter((childId) => !known.includes(childId)),
    [],
  );
}

/**
 * Throws with the name of the first invariant that does not hold. Folds the whole log: quadratic over a schedule.
 */
export function expectInvariants(m: Pick<MachineUnderTest, 'state' | 'events'>): void {
  const { state, events } = m;
  hold('the state is the fold of the events', applyAll(events), state);
  hold('the state is plain JSON', JSON.parse(JSON.stringify(state)), state);
  hold('the events are plain JSON', JSON.parse(JSON.stringify(events)), events);
  hold(
    'seq is dense',
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  );
  hold('the snapshot is the view of the events', snapshotOf(state), viewOf(events));
  hold(
    'the snapshot has what is suspended',
    snapshotOf(state).pending.length,
    openSuspensions(state).length,
  );
  hold(
    'decide is a function of the state',
    decide(JSON.parse(JSON.stringify(state)) as ConversationState),
    decide(state),
  );
  // A closed conversation keeps its unread input for the message that opens it again.
  const left = decide(state).filter(isInternal);
  const due = state.turnCount === 0 ? left.filter(({ type }) => type !== 'start_inbox_turn') : left;
  hold('nothing internal is left to do', due, []);
  const wanted = decide(state).flatMap((effect) => (isInternal(effect) ? [] : [effectKey(effect)]));
  hold('effects have keys of their own', new Set(wanted).size, wanted.length);
  // A summary is made beside all other work, also when no message comes; so are sub-agents started and stopped, and
  // events may wait for the turn that answers them.
  const keys = wanted.filter((key) => !/^(summarize|child|stop-child|inbox):/.test(key));
  const works = state.turn !== undefined || backgroundCalls(state).some(isAtWork);
  const ungated = decide(state).filter(
    (effect) => effect.type === 'run_tool' && !mayRun(state.calls[effect.toolCallId]),
  );
  hold('what is gated runs after its approval only', ungated, []);
  const misshapen = Object.values(state.calls).filter((call) => !hasFieldsOfPhase(call));
  hold('a call has the fields of its phase, and no others', misshapen, []);
  hold('no person keeps a message waiting', keepsWaiting(state), false);
  hold('a turn that runs, or a call beside it, has something under way', keys.length > 0, works);
  hold(
    'memory is bounded',
    [
      state.tombstones.length <= MAX_TOMBSTONES,
      state.requests.length <= MAX_REMEMBERED_REQUESTS,
      state.requests.every((row) => JSON.stringify(row).length <= 256),
    ],
    [true, true, true],
  );
  expectCalls(m);
  expectChildren(m);
  expectHolders(m);
  expectTranscript(state);
  expectNothingAfterClose(events);
}

/**
 * For a conversation whose agent says that questions must not freeze the chat; none of these reaches its bound of
 * background calls.
 */
function keepsWaiting({ settings, turn, queue, calls }: ConversationState): boolean {
  if (settings.whileWaiting !== 'detach') return false;
  if (turn?.phase !== 'tools' || Object.keys(calls).length > MAX_DETACHED_CALLS - 20) return false;
  const isWaiting =
    (turn.steering ?? []).length > 0 || queue.some(({ mayWait }) => mayWait !== true);
  const isAsked = ({ background, suspension }: CallState): boolean =>
    background === undefined && ['approval', 'elicitation'].includes(suspension?.kind ?? '');
  return isWaiting && Object.values(calls).some(isAsked);
}

/** The fields of a call that belong to phases, as its JSON has them. */
interface CallJson extends Readonly<Partial<Record<PhaseField, unknown>>> {
  readonly status: CallStatus;
}

type PhaseField =
  | 'suspension'
  | 'result'
  | 'background'
  | 'ack'
  | 'lost'
  | 'closedWait'
  | 'reopenUntil'
  | 'reverted';

/** Whether the call is one of the union; a wait that has expired has its result by now. */
function hasFieldsOfPhase(call: CallJson): boolean {
  const { status, suspension, result, background, closedWait } = call;
  const waits = suspension !== undefined;
  const isDetached = background === 'detached' && call.ack !== undefined;
  if (waits && (call.reopenUntil !== undefined || call.reverted !== undefined)) return false;
  if (result !== undefined && background === 'late')
    return status === 'expired' && !waits && closedWait !== undefined;
  if (result !== undefined) return FINAL.includes(status) && !waits && background === undefined;
  if (!(background === undefined || isDetached)) return false;
  switch (status) {
    case 'running':
      return !waits;
    case 'detached':
      return isDetached;
    case 'outcome_unknown':
      return call.lost !== undefined && !(waits && isDetached);
    default:
      return status.startsWith('awaiting_') && waits && background === undefined;
  }
}

const FINAL: readonly CallStatus[] = ['resolved', 'errored', 'denied', 'expired', 'cancelled'];

/** S50: holds for every input from every source. */
function mayRun(call: CallState | undefined): boolean {
  return call !== undefined && (!call.plan.approval.needed || call.approver !== undefined);
}

/** An expired call waits for no answer, but takes one that comes. */
function isAtWork({ background, answer }: CallState): boolean {
  return background === 'detached' || answer !== undefined;
}

/** The view at every prefix of the log equals the snapshot of the state at that prefix. */
export function expectViewsAgree(events: readonly CanonicalEvent[]): void {
  for (let length = 1; length <= events.length; length += 1) {
    const prefix = events.slice(0, length);
    const state = applyAll(prefix);
    if (state !== undefined)
      hold(`view after ${prefix.at(-1)?.type ?? ''}`, snapshotOf(state), viewOf(prefix));
  }
}

function hold(invariant: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(
      `${invariant}: ${JSON.stringify(actual).slice(0, 2_000)} instead of ${JSON.stringify(expected).slice(0, 2_000)}`,
    );
}

function viewOf(events: readonly CanonicalEvent[]): ConversationSnapshot | undefined {
  let view: ConversationSnapshot | undefined;
  for (const event of events) view = foldView(view, event);
  return view;
}

/** One result for each call by the end of its turn; one accepted resolution for each wait; waits and answers add up. */
function expectCalls({ state, events }: Pick<MachineUnderTest, 'state' | 'events'>): void {
  const open = new Map<string, string>();
  const seen = new Set<string>();
  const waiting = new Map<string, string>();
  const inbox = new Set<string>();
  for (const event of events) {
    switch (event.type) {
      case 'tool_call':
        hold('call ids are used once', seen.has(event.call.toolCallId), false);
        seen.add(event.call.toolCallId);
        open.set(event.call.toolCallId, event.turnId);
        break;
      case 'suspension':
        hold('a call waits for one thing', waiting.has(event.suspension.toolCallId), false);
        waiting.set(event.suspension.toolCallId, event.suspension.kind);
        break;
      case 'inbox_event':
        hold('an event comes in once', inbox.has(event.eventId), false);
        inbox.add(event.eventId);
        if (event.toolCallId !== undefined) waiting.delete(event.toolCallId);
        break;
      case 'resolution':
        if (event.rule !== undefined) {
          hold('a rule decides before anybody is asked', waiting.has(event.toolCallId), false);
          break;
        }
        if (event.late === true) break;
        hold('a wait is ended once, by its kind', waiting.get(event.toolCallId), event.kind);
        waiting.delete(event.toolCallId);
        break;
      case 'expired':
        hold('a wait is ended once, by its kind', waiting.get(event.toolCallId), event.kind);
        waiting.delete(event.toolCallId);
        break;
      case 'tool_result':
        hold('a call has one result', open.delete(event.toolCallId), true);
        // A detached call stays pending.
        if (event.result.status !== 'detached') waiting.delete(event.toolCallId);
        break;
      case 'turn_ended':
        hold('no call outlives its turn', [...open.values()].includes(event.turnId), false);
        break;
      case 'conversation_started': {
        const { reopenedCalls = [] } = event.origin ?? {};
        for (const callId of open.keys()) if (!reopenedCalls.includes(callId)) open.delete(callId);
        waiting.clear();
        // Ids of requests and events are not carried to a fork.
        if (event.origin !== undefined) inbox.clear();
        break;
      }
      default:
    }
  }
  hold(
    'what waits is what was suspended and not ended',
    Object.values(state.calls)
      .flatMap(({ suspension }) => (suspension === undefined ? [] : [suspension.toolCallId]))
      .sort(),
    [...waiting.keys()].sort(),
  );
}

/**
 * One holder at a time; the accepted answer of a held call is the holder's; a call that was claimed never counts as
 * unclaimed.
 */
function expectHolders({ state, events }: Pick<MachineUnderTest, 'state' | 'events'>): void {
  const holders = new Map<string, { readonly by: string; readonly claimId: string }>();
  const wanted = new Set<string>();
  for (const event of events) {
    switch (event.type) {
      case 'suspension':
        wanted.add(event.suspension.toolCallId);
        break;
      case 'claimed': {
        const { claimId, actor } = event;
        const renewed = event.renewal === true ? { by: actor.id, claimId } : undefined;
        hold('a call has one holder', holders.get(event.toolCallId), renewed);
        holders.set(event.toolCallId, { by: actor.id, claimId });
        wanted.delete(event.toolCallId);
        break;
      }
      case 'lease_lost': {
        const { by, claimId } = event;
        hold('a lease is lost once', holders.get(event.toolCallId), { by, claimId });
        holders.delete(event.toolCallId);
        break;
      }
      case 'resolution': {
        const by = holders.get(event.toolCallId)?.by ?? event.actor.id;
        hold('a held call is resolved by its holder', event.actor.id, by);
        holders.delete(event.toolCallId);
        break;
      }
      case 'expired':
        if (event.unclaimed === true)
          hold('an unclaimed call was never claimed', wanted.has(event.toolCallId), true);
        holders.delete(event.toolCallId);
        break;
      case 'tool_result':
        if (event.result.status !== 'detached') holders.delete(event.toolCallId);
        break;
      case 'inbox_event':
        if (event.toolCallId !== undefined) holders.delete(event.toolCallId);
        break;
      case 'conversation_started':
        holders.clear();
        break;
      default:
    }
  }
  hold(
    'who holds a call is who claimed it last',
    openSuspensions(state)
      .flatMap(({ toolCallId, claim }) => (claim ? [toolCallId] : []))
      .sort(),
    [...holders.keys()].sort(),
  );
}

/** Calls are followed by their results, in call order, in as many messages as needed, before any other message. */
function expectTranscript(state: ConversationState): void {
  const { transcript, transcriptBytes } = state;
  hold('the bytes of the transcript are counted', transcriptBytes, bytesOf(transcript));
  let asked: string[] = [];
  for (const message of state.transcript) {
    if (isOffloaded(message)) {
      hold('calls and their results are offloaded together', asked, []);
      continue;
    }
    if (asked.length > 0) {
      const answered = message.parts.map((part) =>
        part.type === 'tool_result' ? part.toolCallId : '',
      );
      const next = asked.slice(0, Math.max(1, answered.length));
      hold('results follow their calls, in order', answered, next);
      asked = asked.slice(answered.length);
    } else {
      hold('no results without calls', message.role === 'tool', false);
      asked = message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : []));
    }
  }
  hold('calls without results are only those of the open step', asked, state.turn?.callIds ?? []);
}

function expectNothingAfterClose(events: readonly CanonicalEvent[]): void {
  let closed = false;
  const accepted = new Set<string>();
  for (const event of events) {
    if (event.type === 'conversation_started') {
      closed = false;
      // A turn whose calls wait anew goes on in the fork.
      if (event.origin?.reopenedCalls === undefined) accepted.clear();
    }
    if (closed) hold('a closed conversation only refuses', event.type, 'resolution_refused');
    if (event.type === 'user_message' || isInboxTurn(event)) accepted.add(event.turnId);
    if (event.type === 'turn_ended') hold('a turn ends once', accepted.delete(event.turnId), true);
    if (event.type === 'conversation_closed') {
      closed = true;
      hold('every accepted turn has ended', [...accepted], []);
    }
  }
}

function isInboxTurn(
  event: CanonicalEvent,
): event is Extract<CanonicalEvent, { type: 'turn_started' }> {
  return event.type === 'turn_started' && event.inbox !== undefined;
}
