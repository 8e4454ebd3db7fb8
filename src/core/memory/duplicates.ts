/**
 * Finds requests that are sent again under their id. An id names one request for good: the same content is a repeat and
 * gets the first verdict; other content is a mistake of the sender and is refused, because the sender would take the
 * first verdict for its own. Ids are compared per call, so one id (of a job, of a webhook delivery) may serve several
 * calls. Pure.
 */
import {
  type AcceptedVerdict,
  resolutionDigest,
  type Verdict,
} from '../../protocol/calls/resolutions.js';
import { REUSED } from '../../protocol/values/ids.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import { awaitsCheck } from '../decide/decide.js';
import { isSameDigest, keptArgsDigest } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import { rememberedResolution } from './memory.js';

/**
 * Whether a resolution has the content of a recorded or remembered one. Resolutions made by remembered rules have no
 * digest, so no request equals them.
 */
function isSameResolution(
  known: { readonly digest?: string; readonly argsDigest?: string },
  input: unknown,
): boolean {
  const { resolution, argsDigest: meantFor } = isRecord(input) ? input : {};
  return (
    known.digest !== undefined &&
    isSameDigest(known.digest, resolutionDigest(resolution)) &&
    (meantFor === undefined || isMeantFor(known.argsDigest, meantFor))
  );
}

function isMeantFor(known: string | undefined, meantFor: unknown): boolean {
  return (
    known !== undefined &&
    typeof meantFor === 'string' &&
    keptArgsDigest(known) === keptArgsDigest(meantFor)
  );
}

/** The verdict for a resolution whose id this call has accepted before; undefined when the id is new. */
export function repeatVerdict(
  state: ConversationState,
  input: unknown,
  of: { readonly requestId: string; readonly toolCallId: string },
): Extract<Verdict, { verdict: 'duplicate' | 'invalid' }> | undefined {
  const known = rememberedResolution(state, of.requestId, of.toolCallId);
  if (known === undefined) return undefined;
  if (!isSameResolution(known, input)) return { verdict: 'invalid', problems: [REUSED] };
  const call = callOf(state, of.toolCallId);
  const isUnchecked = call !== undefined && awaitsCheck(call, of.requestId);
  return duplicateOf(isUnchecked ? { ...known.reply, checked: false } : known.reply);
}

function duplicateOf(first: AcceptedVerdict): Extract<Verdict, { verdict: 'duplicate' }> {
  return { verdict: 'duplicate', first };
}

export function contentDigest(kind: string, payload: unknown): string {
  return fingerprint(canonicalJson([kind, payload ?? null]));
}
