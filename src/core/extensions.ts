/**
 * Moving the deadline of a waiting call. Judged like a resolution: one verdict, from the same pure function for the update's
 * validator and its handler; takes `unknown`, never throws. Refusals record nothing.
 */
import { actorFrom, type StampedActor } from '../protocol/actors.js';
import type { EventBody } from '../protocol/events.js';
import type { ExtendVerdict } from '../protocol/extensions.js';
import { requestIdProblem } from '../protocol/ids.js';
import { isRecord } from '../protocol/json.js';
import type { FieldProblem } from '../protocol/resolutions.js';
import type { Suspension } from '../protocol/suspensions.js';
import { textProblems } from '../protocol/well-formed.js';
import { forbiddenReason } from './audience.js';
import { cappedEnd, latestEndMs, type WaitEnd } from './clocks.js';
import { graceAfter } from './holding.js';
import { plainInput } from './input.js';
import { instantMs, invalid, notWaiting } from './judge.js';
import type { ConversationMachine } from './machine.js';
import { remembered, tombstoneOf } from './memory.js';
import type { RememberedExtension } from './remembered.js';
import { REUSED } from './repeats.js';
import type { CallState, ConversationState } from './state.js';
import { isoOf } from './state.js';

interface AcceptableExtension {
  readonly verdict: 'acceptable';
  readonly call: CallState;
  readonly end: WaitEnd;
  readonly requestId: string;
  readonly actor: StampedActor;
}

export type ExtendRefusal = Exclude<ExtendVerdict, { verdict: 'accepted' }>;

/** `acceptable` is the only outcome that may be recorded. */
export function judgeExtension(
  state: ConversationState,
  received: unknown,
  nowMs: number,
): ExtendRefusal | AcceptableExtension {
  const input = plainInput(received);
  const toolCallId = isRecord(input) ? input['toolCallId'] : undefined;
  if (!isRecord(input) || typeof toolCallId !== 'string' || toolCallId === '')
    return invalid('/toolCallId', 'must be a non-empty string');
  const call = Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
  if (call === undefined && tombstoneOf(state, toolCallId) === undefined)
    return { verdict: 'unknown', what: 'tool_call' };
  const { requestId } = input;
  const first = rememberedExtension(state, toolCallId, requestId);
  if (first !== undefined)
    return isSameMove(first, input)
      ? { verdict: 'duplicate', first: first.reply }
      : { verdict: 'invalid', problems: [REUSED] };
  const suspension = call?.suspension;
  if (call === undefined || suspension === undefined) return notWaiting(state, toolCallId);
  const actor = actorFrom(input['actor']);
  const reason = forbiddenReason(state, { call, type: undefined, actor });
  if (reason !== undefined) return { verdict: 'forbidden', reason };
  const { deadline } = suspension;
  if (nowMs >= Date.parse(deadline)) return { verdict: 'expired', deadline };
  const problems = [
    ...textProblems(input),
    ...requestIdProblems(requestId),
    ...endProblems(call, suspension, input),
  ];
  if (problems.length > 0) return { verdict: 'invalid', problems };
  return {
    verdict: 'acceptable',
    call,
    end: cappedEnd(call, isoOf(wantedMs(suspension, input))),
    requestId:
      typeof requestId === 'string' ? requestId : `unnamed:${toolCallId}:${state.lastSeq + 1}`,
    actor,
  };
}

type PlainRecord = Readonly<Record<string, unknown>>;

function rememberedExtension(
  state: ConversationState,
  toolCallId: string,
  requestId: unknown,
): RememberedExtension | undefined {
  if (typeof requestId !== 'string') return undefined;
  const known = remembered(state, { operation: 'extend', requestId, toolCallId });
  return known?.operation === 'extend' ? known : undefined;
}

/** Whether it asks for what was accepted. An acceptance is never less than what was asked for. */
function isSameMove(first: RememberedExtension, { until, by }: PlainRecord): boolean {
  const { previousDeadline, reply } = first;
  const movedTo = Date.parse(reply.deadline);
  return until === undefined
    ? movedTo - Date.parse(previousDeadline) === by
    : by === undefined && movedTo === instantMs(until);
}

function requestIdProblems(requestId: unknown): readonly FieldProblem[] {
  if (requestId === undefined) return [];
  const message = requestIdProblem('requestId', requestId);
  return message === undefined ? [] : [{ path: '/requestId', message }];
}

function wantedMs(suspension: Suspension, { until, by }: PlainRecord): number {
  return until === undefined ? Date.parse(suspension.deadline) + Number(by) : instantMs(until);
}

function endProblems(
  call: CallState,
  suspension: Suspension,
  input: PlainRecord,
): readonly FieldProblem[] {
  const { until, by } = input;
  if ((until === undefined) === (by === undefined))
    return [{ path: '/until', message: 'either this or "by" must be given' }];
  const path = until === undefined ? '/by' : '/until';
  if (until !== undefined && Number.isNaN(instantMs(until)))
    return [{ path, message: 'must be an instant such as "2026-01-31T12:00:00Z"' }];
  if (by !== undefined && !(typeof by === 'number' && Number.isSafeInteger(by) && by > 0))
    return [{ path, message: 'must be a positive whole number of milliseconds' }];
  const wanted = wantedMs(suspension, input);
  const latest = latestEndMs(call, suspension);
  if (wanted > latest)
    return [{ path, message: `the deadline can be moved to ${isoOf(latest)} at most` }];
  if (wanted <= Date.parse(suspension.deadline))
    return [{ path, message: `must be after the present deadline, ${suspension.deadline}` }];
  return [];
}

/** Records an extension, or says why not. Synchronous and total. */
export function extendToolCall(machine: ConversationMachine, input: unknown): ExtendVerdict {
  const judged = judgeExtension(machine.state, input, machine.nowMs);
  if (judged.verdict !== 'acceptable') return judged;
  const { call, end, requestId, actor } = judged;
  const { toolCallId } = call.plan;
  const event: EventBody = {
    type: 'extended',
    turnId: call.turnId,
    toolCallId,
    ...end,
    ...graceAfter(call, end.deadline),
    previousDeadline: call.suspension?.deadline ?? end.deadline,
    requestId,
    actor,
  };
  const seq = machine.record([event]);
  return { verdict: 'accepted', toolCallId, deadline: end.deadline, seq };
}

/** Why an extension cannot be accepted now, or undefined. */
export function refuseExtension(
  machine: ConversationMachine,
  input: unknown,
): ExtendRefusal | undefined {
  const judged = judgeExtension(machine.state, input, machine.nowMs);
  return judged.verdict === 'acceptable' ? undefined : judged;
}

/** The timer of a warning fired. Safe to repeat, and when the call has been resolved or its deadline moved meanwhile. */
export function warningDue(
  machine: ConversationMachine,
  warning: { readonly toolCallId: string; readonly ends: string },
): void {
  const { calls } = machine.state;
  const call = Object.hasOwn(calls, warning.toolCallId) ? calls[warning.toolCallId] : undefined;
  const { suspension, turnId, warned } = call ?? {};
  if (suspension === undefined || turnId === undefined) return;
  const { toolCallId, kind, deadline } = suspension;
  if (deadline !== warning.ends || warned === deadline) return;
  // Nobody was there to warn in time: what would be announced has come.
  if (machine.nowMs >= Date.parse(deadline)) {
    machine.deadlinePassed(toolCallId, deadline);
    return;
  }
  machine.record([{ type: 'suspension_expiring', turnId, toolCallId, kind, deadline }]);
}
