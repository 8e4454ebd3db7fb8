/** Reads and judges resolutions of waiting calls. Pure; never throws. */
import type { Resolution, ResolutionType, Verdict } from '../../protocol/calls/resolutions.js';
import { RESOLVES, resolutionDigest } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { LATE_TOLERANCE_MS } from '../../protocol/limits/limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { usableRequestId } from '../../protocol/values/ids.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import { askPart, isOfEarlierAsk } from '../calls/ask.js';
import { endOfWait, isHeldByOther } from '../calls/claim.js';
import { isOpenLate, takesLate } from '../calls/detached.js';
import { preparedEditProblems } from '../calls/preflight.js';
import type { PlainRecord } from '../input/plain-input.js';
import { repeatVerdict } from '../memory/duplicates.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { stampedMs } from '../state/time.js';
import {
  type AtCall,
  byAt,
  type CallRequest,
  type CallRules,
  judgeCall,
  parseCallRequest,
  resolvedBefore,
} from './calls.js';
import { type InvalidVerdict, invalid, type Judged, type Parsed } from './judged.js';
import {
  cleanResolution,
  rememberFaults,
  resolutionProblems,
  resolutionTypeOf,
} from './resolution-fields.js';

export interface ResolutionRequest extends CallRequest {
  /** The sender's, or a digest, so that a signal that is sent twice by hand counts once. */
  readonly requestId: string;
  readonly type: ResolutionType | undefined;
}

/** The resolution in the form in which it is recorded: known fields only. */
export interface AcceptableResolution {
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

export type ResolutionRefusal = Exclude<
  Verdict,
  { verdict: 'accepted' | 'accepted_late' | 'queued' }
>;

export function parseResolution(input: unknown): Parsed<ResolutionRequest, InvalidVerdict> {
  const parsed = parseCallRequest(input);
  if ('refusal' in parsed) return parsed;
  const { fields } = parsed.request;
  const type = resolutionTypeOf(fields['resolution']);
  return { request: { ...parsed.request, requestId: resolutionRequestId(fields), type } };
}

export function resolutionRequestId(input: unknown): string {
  if (!isRecord(input)) return 'digest:0';
  const { requestId, toolCallId, resolution, actor, argsDigest } = input;
  const usable = usableRequestId(requestId);
  if (usable !== undefined) return usable;
  const parts = [toolCallId, resolution, actor, ...askPart(argsDigest)];
  return `digest:${fingerprint(canonicalJson(parts))}`;
}

export function judgeResolution(
  state: ConversationState,
  request: ResolutionRequest,
  nowMs: number,
): Judged<AcceptableResolution, ResolutionRefusal> {
  return judgeCall(RULES, state, { request, nowMs });
}

const RULES: CallRules<ResolutionRequest, AcceptableResolution, ResolutionRefusal> = {
  repeated: (state, { fields, requestId, toolCallId }) =>
    repeatVerdict(state, fields, { requestId, toolCallId }),
  typeOf: ({ type }) => type,
  // An expired call that still accepts a result is judged by the suspension that it had.
  waitOf: (call) => call.suspension ?? (isOpenLate(call) ? call.closedWait : undefined),
  refusal: (at) => {
    const { call, suspension, request } = at;
    const stale = staleVerdict(at);
    if (stale !== undefined) return stale;
    if (isOfEarlierAsk(call, request.fields['argsDigest'])) return resolvedBefore(call);
    return isLate(at) && !takesLate(call, suspension.kind)
      ? { verdict: 'expired', deadline: endOfWait(suspension) }
      : undefined;
  },
  problems: ({ state, call, suspension, request: { fields } }) => [
    ...resolutionProblems(fields, suspension),
    ...rememberFaults(state, call, fields['resolution']),
  ],
  accept: (at) => {
    const { call, suspension, request } = at;
    const { fields, requestId, actor } = request;
    const resolution = cleanResolution(fields['resolution'], suspension);
    if (resolution === undefined)
      return { refusal: invalid('/resolution', 'has an unknown shape') };
    const problems: readonly FieldProblem[] = preparedEditProblems(call, resolution);
    if (problems.length > 0) return { refusal: { verdict: 'invalid', problems } };
    const { receivedAt } = fields;
    return {
      accepted: {
        ...{ call, suspension, resolution, requestId, actor },
        ...digestsOf(fields, suspension),
        ...(typeof receivedAt === 'string' ? { receivedAt: receivedAt.slice(0, 40) } : {}),
        ...(isLate(at) ? { late: true as const } : {}),
      },
    };
  },
};

function isLate({ call, suspension, request, nowMs }: AtCall<ResolutionRequest>): boolean {
  const endMs = Date.parse(endOfWait(suspension)) + LATE_TOLERANCE_MS;
  return call.suspension === undefined || stampedMs(request.fields['receivedAt'], nowMs) > endMs;
}

function digestsOf(
  fields: PlainRecord,
  { argsDigest }: Suspension,
): Pick<AcceptableResolution, 'digest' | 'argsDigest'> {
  const digest = resolutionDigest(fields['resolution']);
  return { digest, ...(argsDigest === undefined ? {} : { argsDigest }) };
}

/** The verdict for a resolution of another kind of suspension, or from a client other than the call's holder. */
function staleVerdict({
  call,
  suspension,
  request: { type, actor, fields },
}: AtCall<ResolutionRequest>): Extract<Verdict, { verdict: 'stale' }> | undefined {
  const { status } = call;
  if (type !== undefined && !RESOLVES[type].includes(suspension.kind))
    return {
      verdict: 'stale',
      why: call.resolvedAt === undefined ? 'other_kind' : 'already_resolved',
      status,
      openKind: suspension.kind,
      ...byAt(call.resolvedBy, call.resolvedAt),
    };
  const { claim } = suspension;
  const sent = { type, actor, claimId: fields['claimId'] };
  if (claim === undefined || !isHeldByOther(suspension, sent)) return undefined;
  return { verdict: 'stale', why: 'not_holder', status, by: claim.by, at: claim.at };
}
