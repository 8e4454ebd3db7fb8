/**
 * The steps in which every request about one call is judged: resolutions, claims and extensions. Each verb adds its own
 * rules (`CallRules`). Pure; never throws.
 */
import type { ResolutionType, Verdict } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { forbiddenReason } from '../calls/audience.js';
import type { PlainRecord } from '../input/plain-input.js';
import { tombstoneOf } from '../memory/memory.js';
import type { CallState } from '../state/calls.js';
import { isFinal } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import { type InvalidVerdict, invalid, type Judged, type Parsed } from './judged.js';

export interface CallRequest {
  readonly toolCallId: string;
  readonly actor: StampedActor;
  /** All fields of the request; a verb checks its own once the call is known to wait for it. */
  readonly fields: PlainRecord;
}

export function parseCallRequest(input: unknown): Parsed<CallRequest, InvalidVerdict> {
  const toolCallId = isRecord(input) ? input['toolCallId'] : undefined;
  if (!isRecord(input) || typeof toolCallId !== 'string' || toolCallId === '')
    return { refusal: invalid('/toolCallId', 'must be a non-empty string') };
  return { request: { toolCallId, actor: actorFrom(input['actor']), fields: input } };
}

/** A request and the waiting call that it is about. */
export interface AtCall<Request> {
  readonly state: ConversationState;
  readonly call: CallState;
  readonly suspension: Suspension;
  readonly request: Request;
  readonly nowMs: number;
}

export interface CallRules<Request extends CallRequest, Accepted, Refused> {
  /** The verdict for a request whose id is known already. `call` is undefined when the call has ended. */
  repeated(
    state: ConversationState,
    request: Request,
    call: CallState | undefined,
  ): Refused | undefined;
  /** The type of resolution whose audience counts. Absent: the audience of the open wait counts. */
  typeOf?(request: Request): ResolutionType | undefined;
  /** The wait that the request may end. Absent: the open suspension. */
  waitOf?(call: CallState): Suspension | undefined;
  /** Why the call does not accept such a request now, before its fields are checked. */
  refusal(at: AtCall<Request>): Refused | undefined;
  problems(at: AtCall<Request>): readonly FieldProblem[];
  accept(at: AtCall<Request>): Judged<Accepted, InvalidVerdict>;
}

/** Refusals that do not depend on the verb, in the order of precedence of the verdict table. */
export type CallRefusal = Extract<
  Verdict,
  { verdict: 'unknown' | 'forbidden' | 'stale' | 'expired' | 'invalid' }
>;

export function judgeCall<Request extends CallRequest, Accepted, Refused>(
  rules: CallRules<Request, Accepted, Refused>,
  state: ConversationState,
  of: { readonly request: Request; readonly nowMs: number },
): Judged<Accepted, Refused | CallRefusal> {
  const { request, nowMs } = of;
  const { toolCallId, actor, fields } = request;
  const call = callOf(state, toolCallId);
  if (call === undefined && tombstoneOf(state, toolCallId) === undefined)
    return { refusal: { verdict: 'unknown', what: 'tool_call' } };
  const repeated = rules.repeated(state, request, call);
  if (repeated !== undefined) return { refusal: repeated };
  if (call === undefined) return { refusal: endedVerdict(state, toolCallId) };
  const reason = forbiddenReason(state, { call, type: rules.typeOf?.(request), actor });
  if (reason !== undefined) return { refusal: { verdict: 'forbidden', reason } };
  const suspension = rules.waitOf === undefined ? call.suspension : rules.waitOf(call);
  if (suspension === undefined) return { refusal: goneVerdict(state, call) };
  const at = { state, call, suspension, request, nowMs };
  const refusal = rules.refusal(at);
  if (refusal !== undefined) return { refusal };
  const problems = [
    ...textProblems(fields),
    ...requestIdProblems(fields['requestId']),
    ...rules.problems(at),
  ];
  return problems.length > 0 ? { refusal: { verdict: 'invalid', problems } } : rules.accept(at);
}

/** A request need not have an id. */
export function requestIdProblems(requestId: unknown): readonly FieldProblem[] {
  if (requestId === undefined) return [];
  const message = requestIdProblem('requestId', requestId);
  return message === undefined ? [] : [{ path: '/requestId', message }];
}

/** The id of an accepted request, or one that no sender uses. */
export function requestIdOf(
  { lastSeq }: ConversationState,
  { toolCallId, fields: { requestId } }: CallRequest,
): string {
  return typeof requestId === 'string' ? requestId : `unnamed:${toolCallId}:${lastSeq + 1}`;
}

type OverVerdict = Extract<Verdict, { verdict: 'stale' | 'expired' | 'unknown' }>;

function endedVerdict(state: ConversationState, toolCallId: string): OverVerdict {
  const tombstone = tombstoneOf(state, toolCallId);
  if (tombstone === undefined) return { verdict: 'unknown', what: 'tool_call' };
  const { status, at, by, deadline, code } = tombstone;
  if (status === 'expired') return { verdict: 'expired', deadline: deadline ?? at };
  const ended = code === undefined ? {} : { code };
  return { verdict: 'stale', why: 'already_resolved', status, ...byAt(by, at), ...ended };
}

/** The verdict for a call without the wait that the request is about. */
function goneVerdict(state: ConversationState, call: CallState): OverVerdict {
  return isFinal(call.status) && call.answer === undefined
    ? endedVerdict(state, call.plan.toolCallId)
    : resolvedBefore(call);
}

export function resolvedBefore({ status, resolvedBy, resolvedAt }: CallState): OverVerdict {
  return { verdict: 'stale', why: 'already_resolved', status, ...byAt(resolvedBy, resolvedAt) };
}

export function byAt(
  by: string | undefined,
  at: string | undefined,
): { readonly by?: string; readonly at?: string } {
  return { ...(by === undefined ? {} : { by }), ...(at === undefined ? {} : { at }) };
}
