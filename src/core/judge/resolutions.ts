/**
 * Judges resolutions: whether one may be accepted, and the verdict if not. Pure functions of (state, input, time);
 * update validators, signal handlers and the test harness call the same ones. All accept `unknown` and never throw.
 */

import type { Resolution, ResolutionType, Verdict } from '../../protocol/calls/resolutions.js';
import { RESOLVES } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { LATE_TOLERANCE_MS } from '../../protocol/limits/limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { askPart, isOfEarlierAsk } from '../calls/ask.js';
import { forbiddenReason } from '../calls/audience.js';
import type { Presented } from '../calls/claim.js';
import { endOfWait, isHeldByOther } from '../calls/claim.js';
import { takesLate } from '../calls/detached.js';
import { preparedEditProblems } from '../calls/preflight.js';
import { stampedMs } from '../input/instants.js';
import type { PlainRecord } from '../input/plain-input.js';
import { plainInput } from '../input/plain-input.js';
import { repeatVerdict, resolutionDigest } from '../memory/duplicates.js';
import { tombstoneOf } from '../memory/memory.js';
import type { CallState, ConversationState } from '../state/state.js';
import { isFinal } from '../state/state.js';
import {
  cleanResolution,
  rememberFaults,
  resolutionProblems,
  resolutionTypeOf,
} from './resolution-fields.js';

/**
 * The request id of a resolution: the caller's, or a digest, so that a signal that is sent twice by hand counts once.
 */
export function resolutionRequestId(received: unknown): string {
  const input = plainInput(received);
  return isRecord(input) ? requestIdOf(input) : 'digest:0';
}

function requestIdOf(input: PlainRecord): string {
  if (requestIdProblem('requestId', input['requestId']) === undefined)
    return String(input['requestId']);
  const { toolCallId, resolution, actor, argsDigest } = input;
  const parts = [toolCallId, resolution, actor, ...askPart(argsDigest)];
  return `digest:${fingerprint(canonicalJson(parts))}`;
}

/** The resolution in the form in which it is recorded: known fields only. */
export interface AcceptableResolution {
  readonly verdict: 'acceptable';
  readonly call: CallState;
  readonly suspension: Suspension;
  readonly resolution: Resolution;
  readonly requestId: string;
  readonly actor: StampedActor;
  readonly digest: string;
  readonly argsDigest?: string;
  readonly receivedAt?: string;
  /** The call has expired, or is about to expire first: the result becomes new input. */
  readonly late?: true;
}

/**
 * Judges one resolution by the precedence of the verdict table. `acceptable` is the only outcome that may be recorded.
 */
export function judgeResolution(
  state: ConversationState,
  received: unknown,
  nowMs: number,
): Exclude<Verdict, { verdict: 'accepted' | 'accepted_late' | 'queued' }> | AcceptableResolution {
  const input = plainInput(received);
  const toolCallId = isRecord(input) ? input['toolCallId'] : undefined;
  if (!isRecord(input) || typeof toolCallId !== 'string' || toolCallId === '')
    return invalid('/toolCallId', 'must be a non-empty string');
  const call = Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
  const tombstone = call === undefined ? tombstoneOf(state, toolCallId) : undefined;
  if (call === undefined && tombstone === undefined)
    return { verdict: 'unknown', what: 'tool_call' };

  const requestId = requestIdOf(input);
  const repeated = repeatVerdict(state, input, { requestId, toolCallId });
  if (repeated !== undefined) return repeated;

  if (call === undefined) return endedVerdict(state, toolCallId);
  // An expired call that still accepts a result is judged by the suspension that it had.
  const suspension = call.suspension ?? (isOpenLate(call) ? call.closedWait : undefined);
  const actor = actorFrom(input['actor']);
  const type = resolutionTypeOf(input['resolution']);
  const reason = forbiddenReason(state, { call, type, actor });
  if (reason !== undefined) return { verdict: 'forbidden', reason };
  if (suspension === undefined) return goneVerdict(state, call);
  const stale = staleVerdict(call, suspension, { type, actor, claimId: input['claimId'] });
  if (stale !== undefined) return stale;
  if (isOfEarlierAsk(call, input['argsDigest'])) return resolvedBefore(call);
  const deadline = endOfWait(suspension);
  const isLate =
    call.suspension === undefined ||
    stampedMs(input['receivedAt'], nowMs) > Date.parse(deadline) + LATE_TOLERANCE_MS;
  if (isLate && !takesLate(call, suspension.kind)) return { verdict: 'expired', deadline };

  const problems = [
    ...textProblems(input),
    ...resolutionProblems(input, suspension),
    ...rememberFaults(state, call, input['resolution']),
  ];
  if (problems.length > 0) return { verdict: 'invalid', problems };
  const resolution = cleanResolution(input['resolution'], suspension);
  if (resolution === undefined) return invalid('/resolution', 'has an unknown shape');
  const editing = preparedEditProblems(call, resolution);
  if (editing.length > 0) return { verdict: 'invalid', problems: editing };
  const { receivedAt } = input;
  return {
    verdict: 'acceptable',
    call,
    suspension,
    resolution,
    requestId,
    actor,
    ...digestsOf(input, suspension),
    ...(typeof receivedAt === 'string' ? { receivedAt: receivedAt.slice(0, 40) } : {}),
    ...(isLate ? { late: true as const } : {}),
  };
}

function digestsOf(
  input: PlainRecord,
  { argsDigest }: Suspension,
): Pick<AcceptableResolution, 'digest' | 'argsDigest'> {
  return {
    digest: resolutionDigest(input),
    ...(argsDigest === undefined ? {} : { argsDigest }),
  };
}

/** The verdict for a resolution of another kind of suspension, or from a client other than the call's holder. */
function staleVerdict(
  call: CallState,
  suspension: Suspension,
  sent: Presented & { readonly type: ResolutionType | undefined },
): Extract<Verdict, { verdict: 'stale' }> | undefined {
  const { status } = call;
  if (sent.type !== undefined && !RESOLVES[sent.type].includes(suspension.kind))
    return {
      verdict: 'stale',
      why: call.resolvedAt === undefined ? 'other_kind' : 'already_resolved',
      status,
      openKind: suspension.kind,
      ...byAt(call.resolvedBy, call.resolvedAt),
    };
  const { claim } = suspension;
  if (claim === undefined || !isHeldByOther(suspension, sent)) return undefined;
  return { verdict: 'stale', why: 'not_holder', status, by: claim.by, at: claim.at };
}

/** Whether the call has expired and no late answer was accepted yet. */
function isOpenLate(call: CallState): boolean {
  return call.background === 'late' && call.answer === undefined;
}

export function invalid(path: string, message: string): Extract<Verdict, { verdict: 'invalid' }> {
  return { verdict: 'invalid', problems: [{ path, message }] };
}

function byAt(by: string | undefined, at: string | undefined): { by?: string; at?: string } {
  return { ...(by === undefined ? {} : { by }), ...(at === undefined ? {} : { at }) };
}

type RefusedVerdict = Extract<Verdict, { verdict: 'stale' | 'expired' | 'unknown' }>;

function endedVerdict(state: ConversationState, toolCallId: string): RefusedVerdict {
  const tombstone = tombstoneOf(state, toolCallId);
  if (tombstone === undefined) return { verdict: 'unknown', what: 'tool_call' };
  const { status, at, by, deadline, code } = tombstone;
  if (status === 'expired') return { verdict: 'expired', deadline: deadline ?? at };
  const ended = code === undefined ? {} : { code };
  return { verdict: 'stale', why: 'already_resolved', status, ...byAt(by, at), ...ended };
}

/** The verdict for a call without an open suspension. */
export function notWaiting(state: ConversationState, toolCallId: string): RefusedVerdict {
  const call = Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
  return call === undefined ? endedVerdict(state, toolCallId) : goneVerdict(state, call);
}

function goneVerdict(state: ConversationState, call: CallState): RefusedVerdict {
  if (isFinal(call.status) && call.answer === undefined)
    return endedVerdict(state, call.plan.toolCallId);
  return resolvedBefore(call);
}

function resolvedBefore({ status, resolvedBy, resolvedAt }: CallState): RefusedVerdict {
  return { verdict: 'stale', why: 'already_resolved', status, ...byAt(resolvedBy, resolvedAt) };
}

/** The actor of a resolution in the form in which it is recorded. */
export function resolverOf(received: unknown): StampedActor {
  const input = plainInput(received);
  return actorFrom(isRecord(input) ? input['actor'] : undefined);
}
