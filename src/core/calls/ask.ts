/**
 * Questions that the code of a tool asks in the middle of its run: fields, audience, digest, input of the next run.
 * Pure.
 */
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { Audience } from '../../protocol/values/audience.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import type { AskState, CallState } from '../state/calls.js';

/** Prefix of a digest; the ordinal of the question and the fingerprint of its content follow. */
export const DIGEST = 'ask:';

/** Number of the run that is due or under way, from 1; attempts of one activity are one run. */
export function runOf(call: CallState): number {
  return (call.runsEnded ?? 0) + 1;
}

/** Fields of a question's suspension that other suspensions do not have. */
export function askFields(
  call: CallState,
  kind: SuspensionKind,
): Pick<Suspension, 'reason' | 'answerSchema' | 'argsDigest' | 'ask'> {
  const ask = askOf(call, kind);
  if (ask === undefined) return {};
  const { question, argsDigest, ordinal } = ask;
  const { reason, form } = question;
  return {
    ...(reason === undefined ? {} : { reason }),
    answerSchema: form,
    argsDigest,
    ask: ordinal,
  };
}

/** Audience of the question; undefined where the question does not name one. */
export function askAudience(call: CallState, kind: SuspensionKind): Audience | undefined {
  return askOf(call, kind)?.question.audience;
}

/** Time limit of the question in milliseconds; undefined where the question does not set one. */
export function askTimeoutMs(call: CallState, kind: SuspensionKind): number | undefined {
  return askOf(call, kind)?.question.timeoutMs;
}

function askOf({ ask }: CallState, kind: SuspensionKind): AskState | undefined {
  return kind === 'elicitation' ? ask : undefined;
}

/** True for the digest of a question that the call asked before the open one. */
export function isOfEarlierAsk(call: CallState, argsDigest: unknown): boolean {
  return typeof argsDigest === 'string' && call.ask?.earlier.includes(argsDigest) === true;
}

/** Problems of an answer that may be meant for another question of the call. */
export function askDigestProblems(
  { ask }: Suspension,
  argsDigest: unknown,
): readonly FieldProblem[] {
  if (argsDigest !== undefined || ask === undefined || ask < 2) return [];
  const message = `must be given: it is question ${ask} of this call, and without the digest of the pending one the answer may be meant for another`;
  return [{ path: '/argsDigest', message }];
}

/**
 * The part of a digest that distinguishes a repeat of one answer from an answer to the next question, where there is no
 * request id.
 */
export function askPart(argsDigest: unknown): readonly string[] {
  return typeof argsDigest === 'string' && argsDigest.startsWith(DIGEST) ? [argsDigest] : [];
}

/** Whether the resolution declines a question whose tool asked to be run again in that case. */
export function runsAgainOnDecline(call: CallState, { type }: Resolution): boolean {
  return type === 'decline' && call.ask?.question.onDecline === 'enter';
}

/** The part of the next run's input that describes the runs before it. */
export function rerunFields(call: CallState): Pick<RunToolInput, 'run' | 'asked'> {
  const { ask, answer, declined } = call;
  const run = runOf(call);
  const actor = declined?.actor ?? answer?.actor;
  if (ask === undefined || actor === undefined) return run > 1 ? { run } : {};
  const { state, byCode } = ask.question;
  const reason = declined?.reason;
  return {
    run,
    asked: {
      asks: ask.ordinal,
      ...(state === undefined ? {} : { state }),
      ...(declined === undefined ? {} : { declined: reason === undefined ? {} : { reason } }),
      ...(declined !== undefined || answer === undefined
        ? {}
        : { answer: { value: answer.value } }),
      actor,
      ...(byCode === undefined ? {} : { byCode }),
    },
  };
}
