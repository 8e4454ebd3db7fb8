/** Events of questions that the code of a tool asks, and of the answers to them. Pure. */
import { isRelaxed } from '../../json-schema/relaxed.js';
import type { SuspensionChanged } from '../../protocol/calls/definitions.js';
import type { Question } from '../../protocol/calls/questions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ASKS_PER_CALL, MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import type { EventBody, ResolutionReverted } from '../../protocol/log/events.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import type { AnswerRefused } from '../../protocol/workflow/activities.js';
import { DIGEST, runOf } from '../calls/ask.js';
import { errorResult } from '../calls/results.js';
import { questionProblem } from '../input/question.js';
import type { CallState } from '../state/calls.js';
import { resultEvent } from './results.js';

/**
 * Changes the open question to the form that refused its answer. None where that form is the one that was asked with.
 */
function formChangedEvents(
  { plan, turnId, ask }: CallState,
  { form, byCode }: Pick<AnswerRefused, 'form' | 'byCode'>,
): readonly SuspensionChanged[] {
  if (ask === undefined || form === undefined) return [];
  const { question, ordinal } = ask;
  // A faulty form is ignored: the earlier one stays. Only a valid one is shallow enough to be compared.
  if (questionProblem({ form }) !== undefined) return [];
  if (canonicalJson(form) === canonicalJson(question.form)) return [];
  const { toolCallId } = plan;
  const content = canonicalJson([toolCallId, form, question.state]);
  return [
    {
      type: 'suspension_changed',
      ...{ turnId, toolCallId, form },
      argsDigest: `${DIGEST}${ordinal}:${fingerprint(content)}`,
      ...(isRelaxed(form) ? { recheck: true as const } : {}),
      ...(byCode === true ? { byCode } : {}),
    },
  ];
}

/** Limit for one answer that the code of a tool refuses. */
const MAX_PROBLEMS = 20;

/** Records the question of a run. A faulty question becomes an error result of the call. */
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

/** Reverts an answer that the tool's own code has refused: the question is open again, under its old deadline. */
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

/** Checks the form of the problems: workers may be written in any language. */
function areProblems(refused: unknown): refused is readonly FieldProblem[] {
  return (
    Array.isArray(refused) &&
    refused.every(
      (it: unknown) =>
        isRecord(it) && typeof it['path'] === 'string' && typeof it['message'] === 'string',
    )
  );
}
