/**
 * Questions that the code of a server tool asks in the middle of its work. A run that asks has ended, cleanly: nothing was
 * lost. The call waits as an elicitation, and its tool is entered again, in its next run, with the answer and its state. Pure.
 *
 * Q1  A call asks one question at a time, and no more than `MAX_ASKS_PER_CALL`.
 * Q2  An answer is taken for the question that it was meant for: from the second on it must name it by its digest.
 * Q3  The tool is never entered with an answer that its form does not admit.
 */

import type { AnswerRefused, RunToolInput } from '../protocol/activities.js';
import { isRelaxed } from '../protocol/answer-schema.js';
import type { Audience } from '../protocol/audience.js';
import type {
  AnswerChecked,
  EventBody,
  ResolutionReverted,
  ToolAskedEvent,
} from '../protocol/events.js';
import { canonicalJson, fingerprint, isRecord } from '../protocol/json.js';
import { MAX_ASKS_PER_CALL, MAX_REASON_CHARS } from '../protocol/limits.js';
import type { Question } from '../protocol/questions.js';
import type { FieldProblem, Resolution } from '../protocol/resolutions.js';
import type { Suspension, SuspensionKind } from '../protocol/suspensions.js';
import { TEXTS } from '../protocol/texts.js';
import { formChangedEvents } from './definitions/offers.js';
import type { Effect } from './effects.js';
import { errorResult, resultEvent } from './event-bodies.js';
import { type Stamped, withCall } from './fold.js';
import { questionProblem } from './questions.js';
import type { AskState, CallState, ConversationState } from './state.js';

/** Before the place of a question and the fingerprint of what it is. */
const DIGEST = 'ask:';
/** Of one answer that the code of a tool refuses. */
const MAX_PROBLEMS = 20;

/** Which run of the tool is due or under way, from 1; attempts of one activity are one run. */
export function runOf(call: CallState): number {
  return (call.runsEnded ?? 0) + 1;
}

/** A run has asked: what is written of it. What cannot be asked is the call's result. */
export function askedEvents(call: CallState, question: Question): readonly EventBody[] {
  const { plan, turnId } = call;
  const { toolCallId, name } = plan;
  const failed = (message: string): readonly EventBody[] => [
    resultEvent(call, errorResult('errored', { code: 'tool_error', message })),
  ];
  const problem = questionProblem(question);
  if (problem !== undefined) return failed(TEXTS.askFaulty(name, problem));
  const ask = (call.ask?.ordinal ?? 0) + 1;
  if (ask > MAX_ASKS_PER_CALL) return failed(TEXTS.tooManyAsks(name, MAX_ASKS_PER_CALL));
  const { form, state } = question;
  const content = canonicalJson([toolCallId, form, state]);
  const argsDigest = `${DIGEST}${ask}:${fingerprint(content)}`;
  const recheck = isRelaxed(form) ? { recheck: true as const } : {};
  const asked = { turnId, toolCallId, run: runOf(call), ask, argsDigest, question, ...recheck };
  return [{ type: 'tool_asked', ...asked }];
}

export function toolAsked(
  state: ConversationState,
  event: Stamped<ToolAskedEvent>,
): ConversationState {
  const { toolCallId, run, ask: ordinal, argsDigest, question, recheck } = event;
  return withCall(state, toolCallId, (call) => {
    const { answer: _used, declined: _done, warned: _before, reopenUntil: _old, ...rest } = call;
    const earlier = call.ask === undefined ? [] : [...call.ask.earlier, call.ask.argsDigest];
    const ask: AskState = { ordinal, argsDigest, question, earlier, ...(recheck && { recheck }) };
    return { ...rest, runsEnded: run, ask };
  });
}

type AskEffect = Extract<Effect, { type: 'open_suspension' | 'check_answer' }>;

/** What a call that has asked needs before its tool may be entered again; undefined when nothing. */
export function decideAsk({ ask, answer, declined, plan }: CallState): AskEffect | undefined {
  if (ask === undefined || declined !== undefined) return undefined;
  const { toolCallId } = plan;
  if (answer === undefined) return { type: 'open_suspension', toolCallId, kind: 'elicitation' };
  if (answer.checked === true || ask.recheck !== true) return undefined;
  return { type: 'check_answer', toolCallId, requestId: answer.requestId };
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

/** A worker has checked the answer by all of its form. */
export function askCheckedEvents(call: CallState): readonly EventBody[] {
  const { turnId, plan, answer } = call;
  if (answer === undefined) return [];
  const { requestId } = answer;
  return [{ type: 'answer_checked', turnId, toolCallId: plan.toolCallId, requestId }];
}

export function answerChecked(state: ConversationState, event: AnswerChecked): ConversationState {
  return withCall(state, event.toolCallId, (call) =>
    call.answer === undefined ? call : { ...call, answer: { ...call.answer, checked: true } },
  );
}

/** The tool's own code has refused the answer: the question is open again, under its old deadline. */
export function answerRefusedEvents(
  call: CallState,
  { refused, ...form }: AnswerRefused,
): readonly EventBody[] {
  const { turnId, plan, answer } = call;
  const { toolCallId, name } = plan;
  if (answer === undefined || !areProblems(refused)) {
    const message = TEXTS.answerNotAsked(name);
    return [resultEvent(call, errorResult('errored', { code: 'tool_error', message }))];
  }
  const { requestId } = answer;
  const problems = refused.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({
    path: `/resolution/value${path}`.slice(0, MAX_REASON_CHARS),
    message: message.slice(0, MAX_REASON_CHARS),
  }));
  const reverted: ResolutionReverted = {
    type: 'resolution_reverted',
    ...{ turnId, toolCallId, requestId, problems, run: runOf(call) },
  };
  return [reverted, ...formChangedEvents(call, form)];
}

/** Workers in any language give them. */
function areProblems(refused: unknown): refused is readonly FieldProblem[] {
  return (
    Array.isArray(refused) &&
    refused.every(
      (it: unknown) =>
        isRecord(it) && typeof it['path'] === 'string' && typeof it['message'] === 'string',
    )
  );
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
