/** Judges requests to move the deadline of a waiting call. Pure; never throws. */
import type { ExtendVerdict } from '../../protocol/calls/extensions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { Extended } from '../../protocol/log/events.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { REUSED } from '../../protocol/values/ids.js';
import { claimDeadlineAfter } from '../calls/claim.js';
import { cappedEnd, latestEndMs } from '../calls/clocks.js';
import type { PlainRecord } from '../input/plain-input.js';
import type { RememberedExtension } from '../memory/memory.js';
import { rememberedExtension } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';
import { instantMs, isoOf } from '../state/time.js';
import { type AtCall, type CallRequest, type CallRules, judgeCall, requestIdOf } from './calls.js';
import type { Judged } from './judged.js';

export type ExtendRefusal = Exclude<ExtendVerdict, { verdict: 'accepted' }>;

export function judgeExtension(
  state: ConversationState,
  request: CallRequest,
  nowMs: number,
): Judged<Extended, ExtendRefusal> {
  return judgeCall(RULES, state, { request, nowMs });
}

const RULES: CallRules<CallRequest, Extended, ExtendRefusal> = {
  repeated: (state, { toolCallId, fields }) => {
    const first = rememberedExtension(state, fields['requestId'], toolCallId);
    if (first === undefined) return undefined;
    return isSameMove(first, fields)
      ? { verdict: 'duplicate', first: first.reply }
      : { verdict: 'invalid', problems: [REUSED] };
  },
  refusal: ({ suspension: { deadline }, nowMs }) =>
    nowMs >= Date.parse(deadline) ? { verdict: 'expired', deadline } : undefined,
  problems: endProblems,
  accept: ({ state, call, suspension, request }) => {
    const { toolCallId, actor, fields } = request;
    const end = cappedEnd(call, isoOf(wantedMs(suspension, fields)));
    return {
      accepted: {
        type: 'extended',
        turnId: call.turnId,
        toolCallId,
        ...end,
        ...claimDeadlineAfter(call, suspension, end.deadline),
        previousDeadline: suspension.deadline,
        requestId: requestIdOf(state, request),
        actor,
      },
    };
  },
};

/** Whether the request asks for the move that was accepted. Acceptance never grants less than was asked for. */
function isSameMove(first: RememberedExtension, { until, by }: PlainRecord): boolean {
  const { previousDeadline, reply } = first;
  const movedTo = Date.parse(reply.deadline);
  return until === undefined
    ? movedTo - Date.parse(previousDeadline) === by
    : by === undefined && movedTo === instantMs(until);
}

function wantedMs(suspension: Suspension, { until, by }: PlainRecord): number {
  return until === undefined ? Date.parse(suspension.deadline) + Number(by) : instantMs(until);
}

function endProblems({
  call,
  suspension,
  request: { fields },
}: AtCall<CallRequest>): readonly FieldProblem[] {
  const { until, by } = fields;
  if ((until === undefined) === (by === undefined))
    return [{ path: '/until', message: 'either this or "by" must be given' }];
  const path = until === undefined ? '/by' : '/until';
  if (until !== undefined && Number.isNaN(instantMs(until)))
    return [{ path, message: 'must be an instant such as "2026-01-31T12:00:00Z"' }];
  if (by !== undefined && !(typeof by === 'number' && Number.isSafeInteger(by) && by > 0))
    return [{ path, message: 'must be a positive whole number of milliseconds' }];
  const wanted = wantedMs(suspension, fields);
  const latest = latestEndMs(call, suspension);
  if (wanted > latest)
    return [{ path, message: `the deadline can be moved to ${isoOf(latest)} at most` }];
  if (wanted <= Date.parse(suspension.deadline))
    return [{ path, message: `must be after the present deadline, ${suspension.deadline}` }];
  return [];
}
