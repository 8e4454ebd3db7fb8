/** What a definition says of the end of waits: the default answer, the warning before. Judged at definition. Runs anywhere. */
import { Validator } from '@cfworker/json-schema';
import { z } from 'zod';
import { isBoundedJson, isRecord, type Json, utf8Bytes } from '../protocol/json.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../protocol/limits.js';
import { type CallTimeouts, type Executor, WAITS_OUTSIDE } from '../protocol/tools.js';
import { durationMs, durationProblem } from './durations.js';
import type { Untyped } from './legal.js';
import { type ProblemList, shown } from './problems.js';
import { isZodSchema, type Schema } from './schema.js';

/** Given as the result when nobody answers in time. */
export interface ExpireDefault {
  readonly value: Json;
}

/**
 * The default answer, judged as an answer is: by the whole output schema. What comes out of the schema (defaults, transforms)
 * is the result.
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

/** @throws what a schema with asynchronous checks throws: nothing here can wait for them. */
function parsedBy(output: Schema, value: Json, problems: ProblemList): unknown {
  if (!isZodSchema(output)) {
    const { valid, errors } = new Validator(output.jsonSchema, '2020-12', false).validate(value);
    const leaf = errors.at(-1);
    if (!valid) addProblem(problems, leaf?.instanceLocation.split('/').slice(1) ?? [], leaf?.error);
    return value;
  }
  const parsed = z.safeParse(output, value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) addProblem(problems, path, message);
  return value;
}

function addProblem(
  problems: ProblemList,
  path: readonly PropertyKey[],
  message: string | undefined,
): void {
  problems.add(
    ['onExpire.default', ...path.map(String)].join('.'),
    `breaks the output schema: ${message ?? 'it is refused'}`,
  );
}

/** A warning must come while the call waits. */
export function checkWarnBefore(
  spec: Untyped,
  of: { readonly executor: Executor; readonly gated: boolean; readonly timeouts: CallTimeouts },
  problems: ProblemList,
): void {
  const { warnBefore } = spec;
  if (warnBefore === undefined) return;
  const fault = durationProblem(warnBefore, { minMs: 1, maxMs: Number.MAX_SAFE_INTEGER });
  problems.addIf('warnBefore', fault);
  if (fault !== undefined) return;
  const { executor, gated, timeouts } = of;
  const waits = [
    ...(gated ? [timeouts.approvalMs] : []),
    ...(WAITS_OUTSIDE[executor] ? [timeouts.answerMs] : []),
  ];
  if (waits.length === 0) problems.add('warnBefore', 'the tool waits for nobody');
  else if ((durationMs(warnBefore) ?? 0) >= Math.max(...waits))
    problems.add(
      'warnBefore',
      `must be shorter than the longest wait of the tool, got ${shown(warnBefore)}`,
    );
}
