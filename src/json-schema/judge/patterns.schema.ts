/**
 * Matches regular expressions of untrusted authors in time linear in the text, by RE2. Also checks the formats of JSON
 * Schema, where the texts are untrusted and the expressions are the engine's. Not for the workflow sandbox.
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from 're2js';
import { z } from 'zod';
import {
  MAX_PATTERN_CHARS,
  MAX_PATTERN_REPEATS,
  MAX_PATTERNS_SIZE,
} from '../../protocol/limits/service-limits.js';
import { isRecord, type Json, type JsonSchema } from '../../protocol/values/json.js';
import { DATA_KEYWORDS } from './cost.js';
import { FORMATS } from './formats.schema.js';
import { inRe2 } from './re2-syntax.js';
import { cut, type LinearPattern, type TextRules, UnusableSchema } from './run.js';

/** The rules for texts that workers use. */
export const LINEAR_TEXTS: TextRules = {
  pattern: linearPattern,
  // An own property only: a schema may name a format "constructor".
  format: (name) => (Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined),
};

/** Few schemas are in use at a time; a compiled pattern takes some kilobytes. */
const MAX_KNOWN = 200;
const known = new Map<string, LinearPattern | string>();

/**
 * @throws {UnusableSchema} for a pattern that cannot be matched in linear time; the message has the pattern and the
 * reason
 */
export function linearPattern(source: string): LinearPattern {
  const judged = judgedPattern(source);
  if (typeof judged !== 'string') return judged;
  throw new UnusableSchema(`the pattern ${cut(source)} ${judged}`);
}

function judgedPattern(source: string): LinearPattern | string {
  let judged = known.get(source);
  if (judged === undefined) {
    judged = compiled(source);
    known.set(source, judged);
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KNOWN) break;
      known.delete(oldest);
    }
  }
  return judged;
}

/** The compiled pattern, or the reason against it as the end of a sentence. */
function compiled(source: string): LinearPattern | string {
  if (source.length > MAX_PATTERN_CHARS)
    return `has ${source.length} characters; at most ${MAX_PATTERN_CHARS}`;
  const repeats = repeatsIn(source);
  if (repeats > MAX_PATTERN_REPEATS)
    return `repeats ${repeats} times in all; at most ${MAX_PATTERN_REPEATS}`;
  if (LIBRARY_PATTERNS.has(source)) {
    const native = new RegExp(source, 'u');
    return { test: (text) => native.test(text), size: source.length };
  }
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(inRe2(source)));
    const size = pattern.programSize();
    return size > MAX_PATTERNS_SIZE ? TOO_LARGE : { test: (text) => pattern.test(text), size };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `cannot be matched in linear time: ${cut(why)}; look-around and back-references are not supported (RE2 syntax)`;
  }
}

const TOO_LARGE = 'is too large once its repetitions are written out';

/** Sum of the upper bounds of all `{n,m}`: RE2 expands repetitions before it knows how large the program is. */
function repeatsIn(source: string): number {
  let sum = 0;
  for (const [, least = '0', most] of source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g))
    sum += Math.max(Number(least), Number(most ?? 0));
  return sum;
}

/**
 * Patterns that zod writes into JSON Schemas for its own formats, and that RE2 cannot express. All are anchored, and
 * measured to be linear (`patterns.test.ts`). Messages may ask for answers by such schemas.
 */
const LIBRARY_PATTERNS: ReadonlySet<string> = new Set(
  [
    ...[z.regexes.hostname, z.regexes.domain, z.regexes.emoji()],
    ...[z.regexes.duration, z.regexes.extendedDuration],
  ].map(({ source }) => source),
);

/** The first problem of a form's patterns, in the wording of `questionProblem`. */
export function formPatternProblem(form: JsonSchema): string | undefined {
  const [fault] = patternProblems(form);
  return fault === undefined ? undefined : `form${fault.path}: ${fault.rule}`;
}

/**
 * A copy without the patterns that workers cannot match, for schemas that zod made; the copy admits values that only
 * those patterns refuse.
 */
export function withoutSlowPatterns(schema: JsonSchema): JsonSchema {
  return copied(schema) as JsonSchema;
}

function copied(node: Json | undefined): Json | undefined {
  if (Array.isArray(node)) return (node as readonly Json[]).map((item) => copied(item) ?? null);
  if (!isRecord(node)) return node;
  const entries = Object.entries(node).filter(
    ([key, value]) => key !== 'pattern' || typeof value !== 'string' || isLinear(value),
  );
  return Object.fromEntries(
    entries.map(([key, value]) => [key, DATA_KEYWORDS.includes(key) ? value : copied(value)]),
  );
}

/** Whether workers can match a pattern. */
export function isLinear(source: string): boolean {
  return typeof judgedPattern(source) !== 'string';
}

/**
 * Problems of the patterns of a schema, each with its place, such as `/properties/code/pattern`; empty when workers can
 * match all of them. The schema must be JSON of bounded depth. Never throws.
 */
export function patternProblems(
  schema: JsonSchema,
): readonly { readonly path: string; readonly rule: string }[] {
  const problems: { path: string; rule: string }[] = [];
  let size = 0;
  const judge = (source: string, path: string): void => {
    // Patterns after the limit is reached are not compiled.
    const judged = size > MAX_PATTERNS_SIZE ? TOO_LARGE : judgedPattern(source);
    if (typeof judged === 'string') problems.push({ path, rule: `the pattern ${judged}` });
    else {
      size += judged.size;
      if (size > MAX_PATTERNS_SIZE)
        problems.push({ path, rule: 'the patterns up to here are too large together' });
    }
  };
  const visit = (node: unknown, path: string): void => {
    if (Array.isArray(node))
      for (const [index, item] of node.entries()) visit(item, `${path}/${index}`);
    if (!isRecord(node)) return;
    const { pattern, patternProperties } = node;
    if (typeof pattern === 'string') judge(pattern, `${path}/pattern`);
    if (isRecord(patternProperties))
      for (const source of Object.keys(patternProperties))
        judge(source, `${path}/patternProperties/${cut(source)}`);
    for (const [key, value] of Object.entries(node))
      if (!DATA_KEYWORDS.includes(key)) visit(value, `${path}/${key}`);
  };
  visit(schema, '');
  return problems;
}
