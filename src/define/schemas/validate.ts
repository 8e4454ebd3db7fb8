/** Validates a value by a schema of zod or JSON Schema; problems name JSON Pointer paths. Runs anywhere. */
import { z } from 'zod';
import { schemaProblems } from '../../json-schema/judge/judge.js';
import { LINEAR_TEXTS } from '../../json-schema/judge/patterns.schema.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isZodSchema, type RawSchema, type Schema } from './schema.js';

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** More would fill the model's context with one mistake made many times. */
const MAX_PROBLEMS = 20;
const MAX_PROBLEM_CHARS = 300;

/**
 * Validates and parses: with zod, the returned value has defaults and transforms applied; with JSON Schema it is the
 * value itself. A schema that throws counts as a rejection. Never throws.
 */
export async function validate(schema: Schema, value: unknown): Promise<Validated> {
  try {
    if (!isZodSchema(schema)) return validateJson(schema, value);
    const parsed = await z.safeParseAsync(schema, value);
    if (parsed.success) return { ok: true, value: parsed.data };
    return refused(parsed.error.issues.flatMap((issue) => problemsOf(issue, [])));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused([{ path: '', message: `the check itself failed: ${reason}` }]);
  }
}

/** The same at once, for schemas whose checks are all synchronous; others count as rejections. Never throws. */
export function validateNow(schema: Schema, value: unknown): Validated {
  try {
    if (!isZodSchema(schema)) return validateJson(schema, value);
    const parsed = z.safeParse(schema, value);
    if (parsed.success) return { ok: true, value: parsed.data };
    return refused(parsed.error.issues.flatMap((issue) => problemsOf(issue, [])));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused([{ path: '', message: `the check itself failed: ${reason}` }]);
  }
}

/** `/cents: Too small; /paymentId: Required`: one line for the model and for people. */
export function problemText(problems: readonly FieldProblem[]): string {
  return problems
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

function refused(problems: readonly FieldProblem[]): Validated {
  const bounded = problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({
    path: path.slice(0, MAX_PROBLEM_CHARS),
    message: message.slice(0, MAX_PROBLEM_CHARS),
  }));
  return { ok: false, problems: bounded };
}

type Path = readonly PropertyKey[];

function problemsOf(issue: z.core.$ZodIssue, prefix: Path): readonly FieldProblem[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    // "Invalid input" is too vague: the problems of the closest branch are reported instead.
    const closest = issue.errors.reduce((best, branch) =>
      depthOf(branch) > depthOf(best) ? branch : best,
    );
    if (closest.length > 0) return closest.flatMap((inner) => problemsOf(inner, path));
  }
  return [{ path: pointerOf(path), message: issue.message }];
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  // A branch that fails deeper inside matched more of the value.
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function pointerOf(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Validates by JSON Schema alone, in bounded time. Never throws. */
export function validateJson(schema: RawSchema, value: unknown): Validated {
  const problems = schemaProblems(schema.jsonSchema, value, LINEAR_TEXTS);
  return problems.length === 0 ? { ok: true, value } : refused(problems);
}
