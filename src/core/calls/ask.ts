/** What the code of a tool asks in the middle of its run: fields, audience, digest, entry of the next run. Pure. */
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { Audience } from '../../protocol/values/audience.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import type { AskState, CallState } from '../state/state.js';

/** Before the place of a question and the fingerprint of what it is. */
export const DIGEST = 'ask:';

/** Which run of the tool is due or under way, from 1; attempts of one activity are one run. */
export function runOf(call: CallState): number {
  return (call.runsEnded ?? 0) + 1;
}

/** What is shown of a question beside what every wait shows. */
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

/** Who may answer the question, where it says so itself. */
export function askAudience(call: CallState, kind: SuspensionKind): Audience | undefined {
  return askOf(call, kind)?.question.audience;
}

/** How long it may take, where it says so itself. */
export function askTimeoutMs(call: CallState, kind: SuspensionKind): number | undefined {
  return askOf(call, kind)?.question.timeoutMs;
}

function askOf({ ask }: CallState, kind: SuspensionKind): AskState | undefined {
  return kind === 'elicitation' ? ask : undefined;
}

/** True for the digest of a question that the call asked before the one that is open. */
export function isOfEarlierAsk(call: CallState, argsDigest: unknown): boolean {
  return typeof argsDigest === 'string' && call.ask?.earlier.includes(argsDigest) === true;
}

/** Why an answer may be meant for another question of the call. */
export function askDigestProblems(
  { ask }: Suspension,
  argsDigest: unknown,
): readonly FieldProblem[] {
  if (argsDigest !== undefined || ask === undefined || ask < 2) return [];
  const message = `must be given: it is question ${ask} of this call, and without the digest of the pending one the answer may be meant for another`;
  return [{ path: '/argsDigest', message }];
}

/** What of a digest tells repeats of one answer from answers to the next question, where no request id does. */
export function askPart(argsDigest: unknown): readonly string[] {
  return typeof argsDigest === 'string' && argsDigest.startsWith(DIGEST) ? [argsDigest] : [];
}

/** A tool that wants to hear of it is entered again when somebody declines. */
export function entersOnDecline(call: CallState, { type }: Resolution): boolean {
  return type === 'decline' && call.ask?.question.onDecline === 'enter';
}

/** What the next run is told of the ones before. */
export function entryOf(call: CallState): Pick<RunToolInput, 'run' | 'asked'> {
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
