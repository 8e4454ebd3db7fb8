/**
 * Judgements: whether an input may be accepted, and what its sender is told if not. Pure functions of (state, input, time);
 * update validators, signal handlers and the test harness apply the same ones. They take `unknown` and never throw.
 */
import type { StampedActor } from '../protocol/actors.js';
import { actorFrom } from '../protocol/actors.js';
import { requestIdProblem } from '../protocol/ids.js';
import { canonicalJson, fingerprint, isRecord } from '../protocol/json.js';
import { LATE_TOLERANCE_MS, MAX_REASON_CHARS } from '../protocol/limits.js';
import type { FieldProblem, Resolution, ResolutionType, Verdict } from '../protocol/resolutions.js';
import { RESOLVES } from '../protocol/resolutions.js';
import type { Suspension } from '../protocol/suspensions.js';
import { takesLate } from './aside.js';
import { forbiddenReason } from './audience.js';
import { editOf, editProblems } from './edits.js';
import { plainInput } from './input.js';
import { answerProblems } from './json-schema.js';
import { preparedEditProblems } from './preflight.js';
import { rememberOf, rememberProblems } from './rules.js';
import type { CallState, ConversationState } from './state.js';
import { isFinal, rememberedResolution, tombstoneOf } from './state.js';

export type { Refusal } from './judge-message.js';
export { judgeMessage, messageFieldProblems } from './judge-message.js';

/** A record as `plainInput` makes it: reading it has no effects and cannot fail. */
type PlainRecord = Readonly<Record<string, unknown>>;

/** The request id of a resolution: the caller's, or a digest, so that a signal sent twice by hand counts once. */
export function resolutionRequestId(received: unknown): string {
  const input = plainInput(received);
  return isRecord(input) ? requestIdOf(input) : 'digest:0';
}

function requestIdOf(input: PlainRecord): string {
  if (requestIdProblem('requestId', input['requestId']) === undefined)
    return String(input['requestId']);
  const { toolCallId, resolution, actor } = input;
  return `digest:${fingerprint(canonicalJson([toolCallId, resolution, actor]))}`;
}

/**
 * Instants with their offset only. `Date.parse` reads everything else by the time zone of the worker, and two workers must
 * judge alike.
 */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** When the input was received, in milliseconds: as stamped, but never in the future of the workflow. */
export function receivedAtMs(received: unknown, nowMs: number): number {
  const input = plainInput(received);
  return stampedMs(isRecord(input) ? input['receivedAt'] : undefined, nowMs);
}

/** Milliseconds since the epoch, or NaN when the value is no instant. */
export function instantMs(value: unknown): number {
  return typeof value === 'string' && INSTANT.test(value) ? Date.parse(value) : Number.NaN;
}

function stampedMs(stamp: unknown, nowMs: number): number {
  const stamped = instantMs(stamp);
  return Number.isNaN(stamped) ? nowMs : Math.min(stamped, nowMs);
}

/** The resolution as it may be recorded: known fields only. */
export interface AcceptableResolution {
  readonly verdict: 'acceptable';
  readonly call: CallState;
  readonly suspension: Suspension;
  readonly resolution: Resolution;
  readonly requestId: string;
  readonly actor: StampedActor;
  readonly receivedAt?: string;
  /** The call has expired, or will first: the result is new input. */
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
  const first = rememberedResolution(state, requestId, toolCallId);
  if (first !== undefined) return { verdict: 'duplicate', first };

  if (call === undefined) return endedVerdict(state, toolCallId);
  // An expired call whose results are still taken is judged by the wait that it had.
  const suspension = call.suspension ?? (isOpenLate(call) ? call.closedWait : undefined);
  const actor = actorFrom(input['actor']);
  const type = resolutionTypeOf(input['resolution']);
  const reason = forbiddenReason(state, { call, type, actor });
  if (reason !== undefined) return { verdict: 'forbidden', reason };
  if (suspension === undefined) return goneVerdict(state, call);
  if (type !== undefined && !RESOLVES[type].includes(suspension.kind))
    return {
      verdict: 'stale',
      why: call.resolvedAt === undefined ? 'other_kind' : 'already_resolved',
      status: call.status,
      openKind: suspension.kind,
      ...byAt(call.resolvedBy, call.resolvedAt),
    };
  const { deadline } = suspension;
  const isLate =
    call.suspension === undefined ||
    stampedMs(input['receivedAt'], nowMs) > Date.parse(deadline) + LATE_TOLERANCE_MS;
  if (isLate && !takesLate(call, suspension.kind)) return { verdict: 'expired', deadline };

  const problems = [
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
    ...(typeof receivedAt === 'string' ? { receivedAt: receivedAt.slice(0, 40) } : {}),
    ...(isLate ? { late: true as const } : {}),
  };
}

/** An expired call that nobody has answered late yet. */
function isOpenLate(call: CallState): boolean {
  return call.aside === 'late' && call.answer === undefined;
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
  const { status, at, by, deadline } = tombstone;
  if (status === 'expired') return { verdict: 'expired', deadline: deadline ?? at };
  return { verdict: 'stale', why: 'already_resolved', status, ...byAt(by, at) };
}

/** What is told of a call that waits for nobody. */
export function notWaiting(state: ConversationState, toolCallId: string): RefusedVerdict {
  const call = Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
  return call === undefined ? endedVerdict(state, toolCallId) : goneVerdict(state, call);
}

function goneVerdict(state: ConversationState, call: CallState): RefusedVerdict {
  if (isFinal(call.status) && call.answer === undefined)
    return endedVerdict(state, call.plan.toolCallId);
  return {
    verdict: 'stale',
    why: 'already_resolved',
    status: call.status,
    ...byAt(call.resolvedBy, call.resolvedAt),
  };
}

function resolutionTypeOf(resolution: unknown): ResolutionType | undefined {
  const type = isRecord(resolution) ? resolution['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(RESOLVES, type)
    ? (type as ResolutionType)
    : undefined;
}

function resolutionProblems(input: PlainRecord, suspension: Suspension): readonly FieldProblem[] {
  const { resolution, requestId, argsDigest } = input;
  const problems: FieldProblem[] = [];
  if (requestId !== undefined) {
    const problem = requestIdProblem('requestId', requestId);
    if (problem !== undefined) problems.push({ path: '/requestId', message: problem });
  }
  if (argsDigest !== undefined && argsDigest !== suspension.argsDigest)
    problems.push({ path: '/argsDigest', message: 'is not the digest of the pending call' });
  const type = resolutionTypeOf(resolution);
  if (!isRecord(resolution) || type === undefined) {
    const expected = Object.keys(RESOLVES)
      .filter((name) => RESOLVES[name as ResolutionType].includes(suspension.kind))
      .map((name) => `"${name}"`);
    return [...problems, { path: '/resolution/type', message: `must be ${expected.join(' or ')}` }];
  }
  return [...problems, ...valueProblems(type, resolution, suspension)];
}

function rememberFaults(
  state: ConversationState,
  call: CallState,
  resolution: unknown,
): readonly FieldProblem[] {
  return isRecord(resolution) ? rememberProblems(state, call, resolution) : [];
}

function valueProblems(
  type: ResolutionType,
  resolution: PlainRecord,
  suspension: Suspension,
): readonly FieldProblem[] {
  switch (type) {
    case 'approve':
      return [
        ...unknownFields(resolution, ['input', 'remember']),
        ...editProblems(resolution['input']),
      ];
    case 'deny':
    case 'decline':
      return [
        ...unknownFields(resolution, type === 'deny' ? ['reason', 'remember'] : ['reason']),
        ...textProblems('/resolution/reason', resolution['reason'], false),
      ];
    case 'error':
      return [
        ...unknownFields(resolution, ['message']),
        ...textProblems('/resolution/message', resolution['message'], true),
      ];
    case 'outcome':
      return outcomeProblems(resolution);
    case 'answer':
    case 'result':
      return [
        ...unknownFields(resolution, ['value']),
        ...answerProblems(resolution['value'], suspension.answerSchema),
      ];
  }
}

function outcomeProblems(resolution: PlainRecord): readonly FieldProblem[] {
  const { value, error } = resolution;
  const problems = unknownFields(resolution, ['value', 'error']);
  if ((value === undefined) === (error === undefined))
    return [...problems, { path: '/resolution', message: 'must have value or error, not both' }];
  if (value === undefined) return [...problems, ...textProblems('/resolution/error', error, true)];
  return [...problems, ...answerProblems(value, undefined)];
}

/** A field that would be ignored is refused: its sender must not think that it was used. */
function unknownFields(
  resolution: PlainRecord,
  allowed: readonly string[],
): readonly FieldProblem[] {
  return Object.keys(resolution)
    .filter((field) => field !== 'type' && !allowed.includes(field))
    .map((field) => ({ path: `/resolution/${field}`, message: 'is not supported here' }));
}

function textProblems(path: string, value: unknown, required: boolean): readonly FieldProblem[] {
  if (value === undefined) return required ? [{ path, message: 'is required' }] : [];
  if (typeof value !== 'string') return [{ path, message: 'must be a string' }];
  if (value.length > MAX_REASON_CHARS)
    return [
      { path, message: `must be at most ${MAX_REASON_CHARS} characters, got ${value.length}` },
    ];
  return [];
}

function cleanResolution(value: unknown, suspension: Suspension): Resolution | undefined {
  const type = resolutionTypeOf(value);
  if (!isRecord(value) || type === undefined) return undefined;
  const resolution = value as Resolution;
  switch (resolution.type) {
    case 'approve':
      return {
        type: 'approve',
        ...editOf(resolution.input, suspension),
        ...rememberOf(resolution),
      };
    case 'deny':
    case 'decline':
      return {
        type: resolution.type,
        ...(resolution.reason === undefined ? {} : { reason: resolution.reason }),
        ...(resolution.type === 'deny' ? rememberOf(resolution) : {}),
      };
    case 'answer':
    case 'result':
      return { type: resolution.type, value: resolution.value };
    case 'error':
      return { type: 'error', message: resolution.message };
    case 'outcome':
      return resolution.error === undefined
        ? { type: 'outcome', value: resolution.value ?? null }
        : { type: 'outcome', error: resolution.error };
  }
}

/** Who resolves, as it will be recorded. */
export function resolverOf(received: unknown): StampedActor {
  const input = plainInput(received);
  return actorFrom(isRecord(input) ? input['actor'] : undefined);
}
