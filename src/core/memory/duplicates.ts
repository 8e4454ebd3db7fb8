/**
 * Requests that come again under their id. An id names one request for ever: the same again is a repeat, and is told what the
 * first was; anything else under it is a mistake of its sender, who must hear of it, for the first verdict would be taken for
 * its own. Ids are judged for each call, so one id (of a job, of a webhook's delivery) may serve for several. Pure.
 */
import type { AcceptedVerdict, Verdict } from '../../protocol/calls/resolutions.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import { awaitsCheck } from '../decide/decide.js';
import { plainInput } from '../input/plain-input.js';
import type { ConversationState } from '../state/state.js';
import { rememberedResolution } from './memory.js';
import { isSameDigest } from './packed-requests.js';

/** What a resolution says. Its `argsDigest` is compared beside it, and only where it is given: it says for what it is meant. */
export function resolutionDigest(received: unknown): string {
  const input = plainInput(received);
  return fingerprint(canonicalJson(isRecord(input) ? input['resolution'] : undefined));
}

export const REUSED: FieldProblem = {
  path: '/requestId',
  message: 'was used before for a request with other content; each request needs an id of its own',
};

/** Whether what was accepted under an id is this. */
export function isSameRequest(known: string, digest: string): boolean {
  return isSameDigest(known, digest);
}

/** The same for resolutions, as they were recorded or are remembered. Those that a remembered rule made have no digest: no request equals them. */
export function isSameResolution(
  known: { readonly digest?: string; readonly argsDigest?: string },
  received: unknown,
): boolean {
  const input = plainInput(received);
  const meantFor = isRecord(input) ? input['argsDigest'] : undefined;
  return (
    known.digest !== undefined &&
    isSameDigest(known.digest, resolutionDigest(input)) &&
    (meantFor === undefined || isMeantFor(known.argsDigest, meantFor))
  );
}

function isMeantFor(known: string | undefined, meantFor: unknown): boolean {
  return known !== undefined && typeof meantFor === 'string' && isSameDigest(known, meantFor);
}

/** What is told of a resolution under an id that this call has accepted one under; undefined when it is the first. */
export function repeatVerdict(
  state: ConversationState,
  received: unknown,
  of: { readonly requestId: string; readonly toolCallId: string },
): Extract<Verdict, { verdict: 'duplicate' | 'invalid' }> | undefined {
  const known = rememberedResolution(state, of.requestId, of.toolCallId);
  if (known === undefined) return undefined;
  if (!isSameResolution(known, received)) return { verdict: 'invalid', problems: [REUSED] };
  const call = Object.hasOwn(state.calls, of.toolCallId) ? state.calls[of.toolCallId] : undefined;
  const isUnchecked = call !== undefined && awaitsCheck(call, of.requestId);
  return duplicateOf(isUnchecked ? { ...known.reply, checked: false } : known.reply);
}

function duplicateOf(first: AcceptedVerdict): Extract<Verdict, { verdict: 'duplicate' }> {
  return { verdict: 'duplicate', first };
}

export function contentDigest(kind: string, payload: unknown): string {
  return fingerprint(canonicalJson([kind, payload ?? null]));
}
