/** Fields of an input that break a rule, and names that an input does not have. Runs anywhere. */

import { isRecord } from './json.js';

/** One field of an input and the rule it breaks. `path` is a JSON Pointer into the value. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** The fields of a type as a value, for a check at run time. The compiler refuses a missing one, and one too many. */
export type FieldsOf<Options> = { readonly [Field in keyof Options]-?: true };

type Given = Readonly<Record<string, unknown>>;

/** The first field that is set and not known, and the rule it breaks; undefined without one. */
export function unknownField(
  given: object,
  fields: Readonly<Record<string, true>>,
): { readonly field: string; readonly rule: string } | undefined {
  const field = Object.keys(given).find(
    (name) => (given as Given)[name] !== undefined && !Object.hasOwn(fields, name),
  );
  return field === undefined
    ? undefined
    : { field, rule: unknownFieldRule(field, Object.keys(fields)) };
}

/**
 * @throws {TypeError} naming the first option of a call that is not known, and the one that was probably meant; when the
 *   options are no object
 */
export function requireKnown(
  call: string,
  given: unknown,
  fields: Readonly<Record<string, true>>,
): void {
  if (!isRecord(given)) throw new TypeError(`${call}: the options must be an object`);
  const unknown = unknownField(given, fields);
  if (unknown !== undefined) throw new TypeError(`${call}: ${unknown.field}: ${unknown.rule}`);
}

/** The rule that a name breaks, with the known name that was probably meant. */
export function unknownFieldRule(name: string, known: readonly string[]): string {
  const meant = known
    .map((each) => ({ each, edits: edits(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, edits }) => edits <= Math.min(2, Math.floor(each.length / 3)))
    .sort((one, other) => one.edits - other.edits)[0]?.each;
  return meant === undefined
    ? `unknown field; known are ${known.join(', ')}`
    : `unknown field; did you mean ${meant}? Known are ${known.join(', ')}`;
}

/** Letters to insert, remove, replace or swap until one word is the other. Words are cut at 50 letters. */
function edits(one: string, other: string): number {
  const [a, b] = [one.slice(0, 50), other.slice(0, 50)];
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const at = (from: readonly number[], index: number): number => from[index] ?? Infinity;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(
        Math.min(
          ...[at(row, j) + 1, at(next, j - 1) + 1],
          at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwap ? at(before, j - 2) + 1 : Infinity,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
