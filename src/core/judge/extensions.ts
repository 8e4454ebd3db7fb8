/**
 * Judges requests to move the deadline of a waiting call. One pure function gives the verdict for the update's
 * validator and its handler; accepts `unknown`, never throws. Refusals record nothing.
 */

import type { ExtendVerdict } from '../../protocol/calls/extensions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { forbiddenReason } from '../calls/audience.js';
import type { WaitEnd } from '../calls/clocks.js';
import { cappedEnd, latestEndMs } from '../calls/clocks.js';
import { instantMs } from '../input/instants.js';
import { plainInput } from '../input/plain-input.js';
import { REUSED } from '../memory/duplicates.js';
import { remembered, tombstoneOf } from '../memory/memory.js';
import type { RememberedExtension } from '../state/requests.js';
import type { CallState, ConversationState } from '../state/state.js';
import { isoOf } from '../state/time.js';
import { invalid, notWaiting } from './resolutions.js';

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

/** Whether the request asks for the move that was accepted. Acceptance never grants less than was asked for. */
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
