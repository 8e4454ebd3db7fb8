/**
 * Resolves a waiting call: one verdict, synchronously, from any process. Never starts a workflow.
 *
 * I1 `requestId` and `receivedAt` are stamped before the first try, so a late delivery is judged by when it arrived.
 * I2 The workflow judges; this file refuses only answers that cannot be sent.
 * I3 An answer is durable within three seconds, times the client's `patience`: where no verdict came until then, it is
 * left as a signal, and the verdict is still waited for. The workflow judges it once, by its request id.
 */

import { randomUUID } from 'node:crypto';
import {
  type AcceptedVerdict,
  type Resolution,
  type ResolveToolCallInput,
  VERDICT_HTTP_STATUS,
  type Verdict,
} from '../../protocol/calls/resolutions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallRef } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import type { ResolveOptions, ResolveOutcome, ResolveTarget } from '../api/call-types.js';
import { checkedMs, checkRequestId, transportProblems } from '../api/checks.js';
import { checkOptions } from '../api/known-options.js';
import type { FinalOptions } from '../api/types.js';
import { DEFAULT_RESULT_TIMEOUT } from '../messages/turn.js';
import type { ConversationReader } from '../ports/reader.js';
import { endedVerdict, loggedCall } from '../reading/ended-calls.js';
import { verdictFromLog } from '../reading/log-search.js';
import { isUnchecked, ownAnswer } from '../reading/own-answer.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import { SignalTrace } from '../reading/signal-outcome.js';
import { verdictOfFailure } from '../temporal/confirmed-update.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { repeatUntil } from '../temporal/waiting.js';
import { firstOf, withoutOwnDuplicate } from './duplicates.js';
import { callOf, isNoCall } from './target.js';

export interface ResolveParts {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  readonly tenant: string;
  readonly known: ReadYourWrites;
  readonly stamp: (actor: ResolveOptions['actor']) => StampedActor;
}

/** Milliseconds until an answer without a verdict is left as a signal, which takes some more. */
const DURABLE_MS = 2_800;

interface Attempt {
  readonly ref: CallRef;
  readonly input: ResolveToolCallInput & { readonly requestId: string };
  readonly updateId: string;
  /** Seq of the newest event of the call, as the log had it before the answer was left as a signal. */
  since?: number | undefined;
}

/**
 * | verdict | what the caller does |
 * |---|---|
 * | `accepted`, `accepted_late`, `duplicate` | nothing: it is recorded |
 * | the same with `checked: false` | may wait for `final()`: a worker still has to check it, and may revert it |
 * | `queued` | nothing: it is durable; `final()` returns the verdict |
 * | `stale`, `expired`, `unknown` | shows that it is too late |
 * | `forbidden` | asks another actor |
 * | `invalid` | corrects the answer, or the ref, and sends it again: the call is still open |
 *
 * Safe to repeat with the same `requestId`: the second call returns `duplicate` and records nothing.
 *
 * @throws {ConversationError} invalid_request for an unusable request id; temporal_unreachable when not even a signal could
 *   be left
 */
export async function resolveCall(
  parts: ResolveParts,
  target: ResolveTarget,
  answer: { readonly resolution: Resolution; readonly options: ResolveOptions },
): Promise<ResolveOutcome> {
  const { resolution, options } = answer;
  const receivedAt = options.receivedAt ?? new Date().toISOString();
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const ref = callOf(target, parts.tenant);
  const said = (verdict: Verdict): ResolveOutcome =>
    outcomeOf(withoutOwnDuplicate(verdict, options.requestId), requestId);
  if (isNoCall(ref)) return said(ref);
  const problems = transportProblems(resolution);
  if (problems.length > 0) return said({ verdict: 'invalid', problems });

  const { toolCallId } = ref;
  const attempt: Attempt = {
    ref,
    input: {
      toolCallId,
      resolution,
      requestId,
      actor,
      receivedAt,
      ...(options.argsDigest === undefined ? {} : { argsDigest: options.argsDigest }),
      ...(options.claimId === undefined ? {} : { claimId: options.claimId }),
    },
    // Unique per call, so that a repeat reaches the workflow and returns `duplicate`; constant over its tries.
    updateId: updateIdFor({
      operation: 'resolveToolCall',
      callId: toolCallId,
      type: typeOf(resolution),
      actor: actor.id,
      requestId: `${requestId}~${randomUUID()}`,
    }),
  };
  const answered = (verdict: Verdict): ResolveOutcome => {
    const outcome = said(noted(parts, ref, verdict));
    const accepted = firstOf(verdict);
    return isUnchecked(accepted)
      ? { ...outcome, final: (given) => finalVerdict(parts, attempt, { ...given, accepted }) }
      : outcome;
  };
  const verdict = await askOrLeave(parts, attempt);
  if (verdict !== undefined) return answered(verdict);
  const { reason, text } = await parts.gateway.whyUnanswered(ref);
  return {
    ...outcomeOf({ verdict: 'queued', requestId, reason }, requestId),
    warning: text,
    final: async (given) => await finalVerdict(parts, attempt, given ?? {}),
  };
}

/** The verdict, or undefined once the answer is left as a signal that no worker has judged in time. */
async function askOrLeave(parts: ResolveParts, attempt: Attempt): Promise<Verdict | undefined> {
  let left: Promise<Verdict | undefined> | undefined;
  const timer = setTimeout(() => {
    left = leave(parts, attempt);
    left.catch(() => undefined);
  }, DURABLE_MS * parts.gateway.patience());
  try {
    const verdict = await ask(parts, attempt);
    if (verdict !== undefined)
      return left === undefined ? verdict : await besideSignal(parts, attempt, { verdict, left });
  } catch (error) {
    // With the signal the answer is durable, however the update ended.
    if (left === undefined) throw error;
  } finally {
    clearTimeout(timer);
  }
  return await (left?.catch(() => leave(parts, attempt)) ?? leave(parts, attempt));
}

/**
 * The verdict of an update, beside which the answer was left as a signal. The request that was accepted under the id
 * may be the signal. A refusal is not the last word: the workflow may judge the signal later, and take it where another
 * answer was taken back meanwhile. An update behind the signal has the verdict on both. Undefined without one in time.
 */
async function besideSignal(
  parts: ResolveParts,
  attempt: Attempt,
  { verdict, left }: { readonly verdict: Verdict; readonly left: Promise<Verdict | undefined> },
): Promise<Verdict | undefined> {
  const first = firstOf(verdict);
  if (first.verdict === 'accepted' || first.verdict === 'accepted_late') return first;
  const isLeft = await left.then(
    (ended) => ended === undefined,
    () => false,
  );
  if (!isLeft) return first;
  const again = await ask(parts, attempt);
  return again === undefined ? undefined : firstOf(again);
}

/** The verdict, or undefined when no worker returned one within the budget. */
async function ask(
  parts: ResolveParts,
  attempt: Attempt,
  budgetMs?: number,
): Promise<Verdict | undefined> {
  const { gateway } = parts;
  const { ref, input, updateId } = attempt;
  try {
    const tried = await gateway.confirm(
      () => gateway.update(ref, 'resolveToolCall', { input, updateId }),
      { key: ref, kind: 'resolution', ...(budgetMs === undefined ? {} : { budgetMs }) },
    );
    return tried.confirmed ? tried.value : undefined;
  } catch (error) {
    return await verdictOf(parts, attempt, error);
  }
}

/** Leaves the answer as a signal. The verdict where none is left, because the call or its conversation has ended. */
async function leave(parts: ResolveParts, attempt: Attempt): Promise<Verdict | undefined> {
  const { ref, input } = attempt;
  const logged = await loggedCall(parts.reader, ref, input);
  if (logged.verdict !== undefined) return logged.verdict;
  attempt.since ??= logged.seq;
  try {
    await parts.gateway.signal(ref, 'resolveToolCall', input);
    return undefined;
  } catch (error) {
    return await verdictOf(parts, attempt, error);
  }
}

/**
 * The verdict on an answer that was left as a signal, or was accepted before a worker had checked it (`accepted`). The
 * log is read first: an answer that was reverted is forgotten with its request id, so an update would send it anew. If
 * nothing is recorded, an update with the same request id is safe and exact: the signal comes first in the history, so
 * the workflow has judged it.
 */
async function finalVerdict(
  parts: ResolveParts,
  attempt: Attempt,
  options: FinalOptions & { readonly accepted?: AcceptedVerdict },
): Promise<Verdict> {
  const { ref, input } = attempt;
  const { accepted: _before, ...given } = options;
  checkOptions('final', given);
  const timeoutMs = checkedMs('timeout', options.timeout ?? DEFAULT_RESULT_TIMEOUT);
  let { accepted } = options;
  const since = Math.max(attempt.since ?? 0, accepted?.seq ?? 0);
  const trace = new SignalTrace(parts, ref, { trace: ownAnswer(input, since) });
  const verdict = await repeatUntil({ timeoutMs, signal: options.signal }, async (remainingMs) => {
    const { found, away } = await trace.find().catch((error: unknown) => {
      throw parts.gateway.toConversationError(error);
    });
    const own = found?.verdict;
    if (own !== undefined && !isUnchecked(own)) return noted(parts, ref, own);
    accepted = own ?? accepted;
    if (accepted !== undefined) return undefined;
    // Only a few refusals of a call are recorded; if the call has ended, an update would add nothing.
    const ended = await endedVerdict(parts.reader, ref, input);
    if (ended !== undefined) return noted(parts, ref, firstOf(ended));
    if (away) return undefined;
    const answer = await ask(parts, attempt, remainingMs);
    if (answer === undefined) return undefined;
    const first = noted(parts, ref, firstOf(answer));
    if (!isUnchecked(first)) return first;
    accepted = first;
    return undefined;
  });
  return verdict ?? accepted ?? { verdict: 'queued', requestId: attempt.input.requestId };
}

async function verdictOf(
  { gateway, reader }: ResolveParts,
  { ref, input }: Attempt,
  error: unknown,
): Promise<Verdict> {
  return await verdictOfFailure<Verdict>(gateway, error, () => verdictFromLog(reader, ref, input));
}

/** Notes the seq of a verdict, so that later reads of this process are at least as new. */
function noted(parts: ResolveParts, ref: CallRef, verdict: Verdict): Verdict {
  if (verdict.verdict === 'duplicate') parts.known.note(ref, verdict.first.seq);
  else if ('seq' in verdict) parts.known.note(ref, verdict.seq);
  return verdict;
}

/** Callers without types may send any value; the workflow judges it. */
function typeOf(resolution: unknown): string {
  const type = isRecord(resolution) ? resolution['type'] : undefined;
  return typeof type === 'string' ? type : '';
}

function outcomeOf(verdict: Verdict, requestId: string): ResolveOutcome {
  return {
    ...verdict,
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
    requestId,
    final: () => Promise.resolve(verdict),
  };
}
