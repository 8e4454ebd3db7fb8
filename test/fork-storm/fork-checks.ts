/** Judges forks of a storm by rules of its own: by the log of the origin alone. */
import type { CanonicalEvent } from 'colloquy/client';
import { applyAll } from '../../src/core/apply/apply.js';
import { isCut } from '../../src/core/fork/cuts.js';
import { notReopened } from '../../src/core/fork/fork.js';
import type { ConversationState } from '../../src/core/state/state.js';
import { snapshotOf } from '../../src/core/view/snapshot.js';
import type { ConversationSnapshot } from '../../src/protocol/conversation/conversation.js';
import { NOT_REOPENED } from '../../src/protocol/forks/forks.js';
import type { Reply } from '../e2e/support/api.js';
import { expectModelRead } from '../e2e/support/model-reads.js';
import { expectEffects, type Run } from '../e2e/support/random/trail-checks.js';
import type { World } from '../e2e/support/world.js';
import { cutsOf, stateAt } from '../support/forks/core-forks.js';
import { expectInvariants } from '../support/schedules/core-invariants.js';

export type Events = readonly CanonicalEvent[];

/** The fork that was asked for. */
export interface Cut {
  readonly atSeq: number;
  readonly reopen: readonly string[];
}

/** What must come of it: the calls that stay with the origin, or the fields that break a rule. */
export type Expected =
  | { readonly notCarried: readonly string[] }
  | { readonly refused: Readonly<Record<string, string>> };

export function expectedOf(origin: Events, { atSeq, reopen }: Cut): Expected {
  if (atSeq > origin.length) return { refused: { '/atSeq': nearest(origin, atSeq) } };
  const state = stateAt(origin, atSeq);
  const last = origin[atSeq - 1];
  if (last === undefined || !isCut(state, last))
    return { refused: { '/atSeq': nearest(origin, atSeq) } };
  const refused = reopen.flatMap((callId, index): [string, string][] => {
    const why = notReopened(state, callId);
    return why === undefined ? [] : [[`/reopen/${index}`, NOT_REOPENED[why]]];
  });
  if (refused.length > 0) return { refused: Object.fromEntries(refused) };
  return { notCarried: openCallsOf(state).filter((callId) => !reopen.includes(callId)) };
}

/** The text that names the places beside a seq. */
function nearest(origin: Events, seq: number): string {
  const cuts = cutsOf(origin);
  const before = cuts.findLast((cut) => cut < seq);
  const after = cuts.find((cut) => cut > seq);
  if (before === undefined && after === undefined) return 'there is none yet';
  return [
    ...(before === undefined ? [] : [`${before} before it`]),
    ...(after === undefined ? [] : [`${after} behind it`]),
  ].join(', ');
}

function openCallsOf({ calls }: ConversationState): readonly string[] {
  return Object.values(calls).flatMap(({ plan, result, background }) =>
    (background === undefined && result === undefined) || background === 'detached'
      ? [plan.toolCallId]
      : [],
  );
}

/** Why the answer is none that the rules allow. */
export function misjudged(reply: Reply, expected: Expected): string | undefined {
  const { status, body } = reply;
  const is = (ok: boolean): string | undefined =>
    ok ? undefined : `${status} ${JSON.stringify(body)} instead of ${JSON.stringify(expected)}`;
  if ('notCarried' in expected) {
    const left = (body['notCarried'] ?? []) as readonly string[];
    const isSame = left.toSorted().join(' ') === expected.notCarried.toSorted().join(' ');
    return is(status === 201 && body['status'] === 'forked' && isSame);
  }
  const problems = (body['errors'] ?? []) as readonly {
    readonly path: string;
    readonly message: string;
  }[];
  const named = Object.entries(expected.refused);
  return is(
    status === 422 &&
      body['code'] === 'invalid_request' &&
      problems.length === named.length &&
      named.every(([path, text]) =>
        problems.some((problem) => problem.path === path && problem.message.includes(text)),
      ),
  );
}

export interface Forked {
  readonly id: string;
  readonly cut: Cut;
  readonly origin: { readonly id: string; readonly events: Events };
  readonly events: Events;
  readonly snapshot: ConversationSnapshot;
  /** All lines that tools wrote. */
  readonly runs: readonly Run[];
  readonly finale: string;
}

/** The call that a line is about, by conversation. */
const callsOf = (runs: readonly Run[], conversationId: string): readonly Run[] =>
  runs.filter((run) => run['conversationId'] === conversationId);

/** Calls and keys of the origin that the fork has used. */
export function sharedBy({ id, cut, origin, events, runs }: Forked): readonly string[] {
  const own = callsOf(runs, id);
  const ofOrigin = new Set(
    origin.events.flatMap((event) =>
      event.type === 'tool_call' && event.seq <= cut.atSeq ? [event.call.toolCallId] : [],
    ),
  );
  const foreign = own.filter((run) => {
    const callId = String(run['toolCallId']);
    return ofOrigin.has(callId) && !cut.reopen.includes(callId);
  });
  const keys = own.filter((run) => !String(run['idempotencyKey']).includes(id));
  const answered = events.filter(
    (event) =>
      event.seq > cut.atSeq &&
      (event.type === 'resolution' || event.type === 'suspension') &&
      ofOrigin.has(event.type === 'suspension' ? event.suspension.toolCallId : event.toolCallId) &&
      !cut.reopen.includes(
        event.type === 'suspension' ? event.suspension.toolCallId : event.toolCallId,
      ),
  );
  return [
    ...foreign.map((run) => `ran a call of the origin: ${JSON.stringify(run)}`),
    ...keys.map((run) => `a key without its id: ${JSON.stringify(run)}`),
    ...answered.map((event) => `a call of the origin went on: ${JSON.stringify(event)}`),
  ];
}

/** @throws when an invariant is broken */
export function expectSound(forked: Forked, { model }: World): void {
  const { id, cut, origin, events, snapshot, runs, finale } = forked;
  const blank = (event: CanonicalEvent): string =>
    JSON.stringify({ ...event, conversationId: '', at: event.at });
  const copied = events.slice(0, cut.atSeq).map(blank);
  const copies = origin.events.slice(0, cut.atSeq).map(blank);
  if (copied.join('\n') !== copies.join('\n')) throw new Error('the copies are not the events');
  const state = applyAll(events);
  if (state === undefined) throw new Error('the log is empty');
  expectInvariants({ state, events: [...events] });
  if (JSON.stringify(snapshotOf(state)) !== JSON.stringify(snapshot))
    throw new Error('the log folds to something else');
  const { conversationId, seq, reopenedCalls = [] } = snapshot.origin ?? {};
  if (conversationId !== origin.id || seq !== cut.atSeq)
    throw new Error(`the origin is ${JSON.stringify(snapshot.origin)}`);
  if (reopenedCalls.join(' ') !== cut.reopen.join(' '))
    throw new Error(`waited anew: ${reopenedCalls.join(' ')}`);
  // The origin may have gone on with calls that expired, or were detached.
  const ran: readonly string[] = ['resolved', 'errored'];
  const ended = new Set(
    events.flatMap((event) =>
      event.type === 'tool_result' && event.seq <= cut.atSeq && ran.includes(event.result.status)
        ? [event.toolCallId]
        : [],
    ),
  );
  const before = callsOf(runs, origin.id).filter((run) => ended.has(String(run['toolCallId'])));
  expectEffects([...before, ...callsOf(runs, id)], events);
  expectModelRead(model.requests, { id, finale, events });
}
