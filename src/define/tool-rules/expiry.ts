/**
 * Rules for the ends of waits: the default answer, the warning before, the time to claim. Checked at definition. Runs
 * anywhere.
 */
import { z } from 'zod';
import { schemaProblems } from '../../json-schema/judge/judge.js';
import { LINEAR_TEXTS } from '../../json-schema/judge/patterns.schema.js';
import { waitsOutside } from '../../protocol/calls/executors.js';
import type { CallTimeouts } from '../../protocol/calls/plan.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { durationProblem } from '../../protocol/values/durations.js';
import type { Json } from '../../protocol/values/json.js';
import { isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { ProblemList, Untyped } from '../checks/problems.js';
import { shown } from '../checks/problems.js';
import type { Schema } from '../schemas/schema.js';
import { isZodSchema } from '../schemas/schema.js';
import type { AnyTool, ExpireDefault } from '../tool/types.js';

/**
 * The default answer, checked as an answer is, by the whole output schema. The schema's output (after defaults and
 * transforms) is the result.
 */
export function checkExpireDefault(
  onExpire: unknown,
  output: Schema | undefined,
  problems: ProblemList,
): ExpireDefault | undefined {
  if (!isRecord(onExpire) || !('default' in onExpire)) return undefined;
  const field = 'onExpire.default';
  const given = onExpire['default'];
  if (!isBoundedJson(given, MAX_ANSWER_DEPTH)) {
    problems.add(field, `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`);
    return undefined;
  }
  try {
    const parsed = output === undefined ? given : parsedBy(output, given, problems);
    if (!isBoundedJson(parsed, MAX_ANSWER_DEPTH))
      problems.add(field, 'must be JSON after the output schema has parsed it, too');
    else if (utf8Bytes(JSON.stringify(parsed)) > MAX_ANSWER_BYTES)
      problems.add(field, `must be at most ${MAX_ANSWER_BYTES} bytes`);
    else return { value: parsed };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.add(field, `cannot be checked against the output schema: ${reason}`);
  }
  return undefined;
}

/**
 * Parses a value by the output schema. @throws the error of a schema with asynchronous checks, which cannot be awaited
 * here
 */
function parsedBy(output: Schema, value: Json, problems: ProblemList): unknown {
  if (!isZodSchema(output)) {
    for (const { path, message } of schemaProblems(output.jsonSchema, value, LINEAR_TEXTS))
      addProblem(problems, path.split('/').slice(1), message);
    return value;
  }
  const parsed = z.safeParse(output, value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) addProblem(problems, path, message);
  return value;
}

function addProblem(problems: ProblemList, path: readonly PropertyKey[], message: string): void {
  problems.add(
    ['onExpire.default', ...path.map(String)].join('.'),
    `breaks the output schema: ${message}`,
  );
}

/** Adds a fault for a warning that could never come while the call waits. */
export function checkWarnBefore(
  { warnBefore }: Untyped,
  tool: Warned,
  problems: ProblemList,
): void {
  if (warnBefore === undefined) return;
  const fault = durationProblem(warnBefore, { minMs: 1, maxMs: Number.MAX_SAFE_INTEGER });
  problems.addIf('warnBefore', fault ?? warnBeforeProblem(tool, tool.timeouts, warnBefore));
}

type Warned = Pick<AnyTool, 'executor' | 'approval' | 'timeouts' | 'warnBeforeMs'>;

/** The reason why a warning would never be given, with these time-outs. `given`: the value as its author wrote it. */
export function warnBeforeProblem(
  { executor, approval, warnBeforeMs }: Omit<Warned, 'timeouts'>,
  { approvalMs, answerMs }: CallTimeouts,
  given: unknown = warnBeforeMs,
): string | undefined {
  if (warnBeforeMs === undefined) return undefined;
  const waits = [
    ...(approval.needed ? [approvalMs] : []),
    ...(waitsOutside(executor) ? [answerMs] : []),
  ];
  if (waits.length === 0) return 'the tool never waits';
  return warnBeforeMs < Math.max(...waits)
    ? undefined
    : `must be shorter than the longest wait of the tool, got ${shown(given)}`;
}

/** The fault of a time to claim that exceeds the wait it is a part of. `given`: the value as its author wrote it. */
export function claimProblem(
  { claimMs, answerMs }: CallTimeouts,
  given: unknown = claimMs,
): string | undefined {
  return claimMs === undefined || claimMs <= answerMs
    ? undefined
    : `must be at most timeouts.answer (${answerMs} ms), got ${shown(given)}`;
}
