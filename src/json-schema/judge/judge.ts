/**
 * Checks a value against a JSON Schema (draft 2020-12, and tuples and dependencies of older ones) in bounded time for
 * every schema and value: each step is counted as it is made, patterns are matched in linear time or not at all, and no
 * code is generated. References stay within the document. Pure; runs anywhere, also in the workflow.
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */

import { MAX_SCHEMA_STEPS } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';
import { type CheckInside, checkArray, checkObject, checkUnevaluated } from './containers.js';
import {
  addFault,
  type Report,
  Run,
  refuse,
  type TextRules,
  TOO_MUCH,
  UnusableSchema,
} from './run.js';
import { checkKind, checkNumber, checkText, type Question } from './scalars.js';

export const TOO_MUCH_WORK = `would take more than ${MAX_SCHEMA_STEPS} steps to check against its schema: it must be smaller, or nested less deeply`;

/**
 * Problems of a value, at most 20, each with a JSON Pointer into it; empty when the schema admits the value. One
 * problem without a path when the check would take too many steps, or the schema cannot be used. Schema and value must
 * be JSON. Never throws.
 */
export function schemaProblems(
  schema: unknown,
  value: unknown,
  texts?: TextRules,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  try {
    const run = new Run(schema, texts);
    const isValid = check(schema, { run, value, place: undefined, report: run.report(problems) });
    return isValid ? [] : problems;
  } catch (error) {
    // A stack that overflows within the allowed depth counts as too deep.
    if (error === TOO_MUCH || error instanceof RangeError)
      return [{ path: '', message: TOO_MUCH_WORK }];
    const why = error instanceof Error ? error.message : 'it is faulty';
    return [{ path: '', message: `cannot be checked by its schema: ${why}` }];
  }
}

type Inner = Omit<Question, 'schema'>;

function check(schema: unknown, inner: Inner): boolean {
  const { run, place, report } = inner;
  run.spend(1);
  if (schema === true) return true;
  if (schema === false) return refuse(report, place, 'is not allowed here');
  if (!isRecord(schema)) throw new UnusableSchema('a schema must be an object, true or false');
  const question: Question = { ...inner, schema };
  const inside: CheckInside = (within, value) => run.nested(() => check(within, { run, ...value }));
  // Runs all checks, so that the caller gets all problems of a value at once.
  const checks = [
    checkKind(question),
    checkNumber(question),
    checkText(question),
    checkInPlace(question, inside),
    checkObject(question, inside),
    checkArray(question, inside),
  ];
  return checks.every(Boolean) && checkUnevaluated(question, inside);
}

/** Checks schemas for the same value: references, combinations, conditions. */
function checkInPlace(question: Question, inside: CheckInside): boolean {
  const { run, schema, value, place, report } = question;
  const { $ref, allOf, anyOf, oneOf, not } = schema;
  const applies = (node: unknown): boolean => {
    const inner = run.report(report.faults);
    const isValid = inside(node, { value, place, report: inner });
    if (isValid) run.takeSeen(inner, report);
    return isValid;
  };
  let isValid = true;
  if (typeof $ref === 'string' && !applies(run.target($ref))) isValid = false;
  if (Array.isArray(allOf)) for (const node of allOf) if (!applies(node)) isValid = false;
  if (Array.isArray(anyOf) && !checkAny(question, anyOf, inside)) isValid = false;
  if (Array.isArray(oneOf) && !checkOne(question, oneOf, inside)) isValid = false;
  if (not !== undefined && inside(not, { value, place, report: run.report() }))
    isValid = refuse(report, place, 'must not be what the schema excludes');
  if (!checkCondition(question, applies, inside)) isValid = false;
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    const schemas = schema[keyword];
    if (!isRecord(schemas) || !isRecord(value)) continue;
    run.spendChars(4 * Object.keys(schemas).length);
    for (const [key, node] of Object.entries(schemas))
      if (Object.hasOwn(value, key) && !Array.isArray(node) && !applies(node)) isValid = false;
  }
  return isValid;
}

/** Tries every branch: each that admits the value may have evaluated other parts of it. */
function checkAny(question: Question, branches: readonly unknown[], inside: CheckInside): boolean {
  const { matches, tried } = tryAll(question, branches, inside);
  if (matches === 0) tellClosest(question.report, tried);
  return matches > 0;
}

function checkOne(question: Question, branches: readonly unknown[], inside: CheckInside): boolean {
  const { report, place } = question;
  const { matches, tried } = tryAll(question, branches, inside);
  if (matches === 1) return true;
  if (matches > 1)
    return refuse(report, place, `must match one of ${branches.length} schemas, not ${matches}`);
  tellClosest(report, tried);
  return false;
}

interface Tried {
  readonly matches: number;
  /** Reports of the branches that refuse the value. */
  readonly tried: readonly Report[];
}

function tryAll(
  { run, value, place, report }: Question,
  branches: readonly unknown[],
  inside: CheckInside,
): Tried {
  const tried: Report[] = [];
  for (const branch of branches) {
    const inner = run.report(report.faults === undefined ? undefined : []);
    if (inside(branch, { value, place, report: inner })) run.takeSeen(inner, report);
    else tried.push(inner);
  }
  return { matches: branches.length - tried.length, tried };
}

/** Reports the faults of the branch that failed deepest inside: it matched more of the value than the others. */
function tellClosest(report: Report, tried: readonly Report[]): void {
  const depthOf = ({ faults = [] }: Report): number =>
    Math.max(0, ...faults.map(({ path }) => path.split('/').length));
  const [first, ...others] = tried;
  const closest = others.reduce(
    (best, branch) => (best !== undefined && depthOf(branch) > depthOf(best) ? branch : best),
    first,
  );
  for (const fault of closest?.faults ?? []) addFault(report, fault);
}

function checkCondition(
  { run, schema, value, place, report }: Question,
  applies: (node: unknown) => boolean,
  inside: CheckInside,
): boolean {
  const { if: condition, then, else: otherwise } = schema;
  if (condition === undefined) return true;
  const inner = run.report();
  if (!inside(condition, { value, place, report: inner }))
    return otherwise === undefined || applies(otherwise);
  run.takeSeen(inner, report);
  return then === undefined || applies(then);
}
