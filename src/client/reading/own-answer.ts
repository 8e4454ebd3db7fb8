/**
 * Finds in the events of a call what became of one answer: whether it was accepted, is still to be checked, or was
 * reverted, and whether its request id belongs to another answer. Pure.
 */
import {
  type AcceptedVerdict,
  type ResolveToolCallInput,
  resolutionDigest,
  type Verdict,
} from '../../protocol/calls/resolutions.js';
import type { CanonicalEvent, ResolutionEvent } from '../../protocol/log/events.js';
import { REUSED } from '../../protocol/values/ids.js';

/** An answer to search for. Without its content (`resolution`), its ids identify it. */
export type SentResolution = Pick<ResolveToolCallInput, 'toolCallId' | 'argsDigest'> & {
  readonly requestId: string;
  /** Callers without types may send any value; null for one that could not be read. */
  readonly resolution?: unknown;
};

export type InvalidVerdict = Extract<Verdict, { verdict: 'invalid' }>;

/** The verdict for a request id that the call knows with other content. */
const REUSED_ID: InvalidVerdict = { verdict: 'invalid', problems: [REUSED] };

/** The events of one call so far, as far as they concern the answer. */
export interface OwnAnswer {
  /** Accepted, with `checked: false` until a worker has checked it; or reverted, with the reasons. */
  readonly verdict?: AcceptedVerdict | InvalidVerdict;
  /** Another answer was accepted under the id, and was not reverted. */
  readonly isReused?: true;
  /** The code of the tool also checks the answers to the question that is open. */
  readonly byCode?: boolean;
}

/**
 * Returns a function that adds one event. Events of other calls change nothing. `since`: the seq before the answer was
 * left as a signal; what was taken back until then is an earlier try, whose id is free again.
 */
export function ownAnswer(
  request: SentResolution,
  since = 0,
): (own: OwnAnswer | undefined, event: CanonicalEvent) => OwnAnswer | undefined {
  return (own, event) => {
    if (event.type === 'conversation_closed' || event.type === 'run_ended') return settled(own);
    return 'toolCallId' in event && event.toolCallId === request.toolCallId
      ? afterEvent(own, event, { ...request, since })
      : own;
  };
}

/** The verdict on a repeat of the request; undefined while its id is free. */
export function repeatOf(
  own: OwnAnswer | undefined,
): Extract<Verdict, { verdict: 'duplicate' | 'invalid' }> | undefined {
  if (own?.isReused === true) return REUSED_ID;
  const { verdict } = own ?? {};
  return verdict === undefined || verdict.verdict === 'invalid'
    ? undefined
    : { verdict: 'duplicate', first: verdict };
}

function afterEvent(
  own: OwnAnswer | undefined,
  event: CanonicalEvent,
  request: SentResolution & { readonly since: number },
): OwnAnswer | undefined {
  switch (event.type) {
    case 'resolution':
      return event.requestId === request.requestId ? accepted(own, event, request) : own;
    case 'resolution_reverted': {
      if (event.requestId !== request.requestId) return own;
      const { isReused, verdict: _before, ...rest } = own ?? {};
      // The id is free again; the problems are those of another answer, or of an earlier try.
      if (isReused === true || event.seq <= request.since) return rest;
      return { ...rest, verdict: { verdict: 'invalid', problems: event.problems } };
    }
    case 'tool_asked':
      return { ...settled(own), byCode: event.question.byCode === true };
    case 'suspension_changed':
      return event.form === undefined ? own : { ...own, byCode: event.byCode === true };
    case 'answer_checked':
      return own?.byCode === true || event.requestId !== request.requestId ? own : settled(own);
    case 'input_edited':
      return event.requestId === request.requestId ? settled(own) : own;
    case 'tool_result':
    case 'inbox_event':
      return event.result === undefined || event.result.status === 'detached' ? own : settled(own);
    default:
      return own;
  }
}

function accepted(
  own: OwnAnswer | undefined,
  event: ResolutionEvent & { readonly seq: number },
  request: SentResolution,
): OwnAnswer | undefined {
  const { toolCallId, seq, checked } = event;
  // A remembered rule decided: no client sent a request under this id.
  if (event.digest === undefined) return own;
  const { verdict: _before, ...rest } = own ?? {};
  if (isOther(event, request)) return { ...rest, isReused: true };
  const verdict = event.late === true ? 'accepted_late' : 'accepted';
  const unchecked = checked === undefined ? {} : { checked };
  return { ...rest, verdict: { verdict, toolCallId, seq, ...unchecked } };
}

/** False if the request has only ids, which then identify the answer. */
function isOther(event: ResolutionEvent, { resolution, argsDigest }: SentResolution): boolean {
  if (resolution === undefined) return false;
  if (event.digest !== resolutionDigest(resolution)) return true;
  return argsDigest !== undefined && argsDigest !== event.argsDigest;
}

/** No worker reverts the answer any more. */
function settled(own: OwnAnswer | undefined): OwnAnswer | undefined {
  const { verdict } = own ?? {};
  if (verdict === undefined || !isUnchecked(verdict)) return own;
  const { checked: _unchecked, ...checked } = verdict;
  return { ...own, verdict: checked };
}

/** Whether a worker still has to check the answer that was accepted. */
export function isUnchecked(
  verdict: Verdict,
): verdict is AcceptedVerdict & { readonly checked: false } {
  return 'checked' in verdict;
}
